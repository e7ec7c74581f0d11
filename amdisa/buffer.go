package amdisa

import (
	"strings"

	"optcheck/isa"
)

// buffer decodes buffer_ and tbuffer_ instructions.
func (d *decoder) buffer(in *inst, name string) {
	switch name {
	case "wbinvl1", "wbinvl1_vol", "wbinvl1_sc", "gl0_inv", "gl1_inv", "inv", "wbl2", "invl2":
		d.cacheOp(in, "buffer", name)
		return
	}
	in.Guard.Reg = isa.RegExec
	in.Mem.Space = isa.SpaceGlobal
	dst, at := 0, 1
	switch {
	case strings.HasPrefix(name, "atomic_"):
		op, width, known := atomic(name[len("atomic_"):])
		if !known {
			d.unknown(in, "unknown opcode")
			return
		}
		in.Mem.Atom, in.Mem.Width = op, width
		in.Role = isa.RoleReduction
		if d.returns(in) {
			in.Role = isa.RoleAtomic
		}
	case strings.HasPrefix(name, "load_") && (in.Mem.Bits.Has(isa.BitLDS) || strings.HasPrefix(name, "load_lds_")):
		width, _, known := accessWidth(name[5:])
		if !known {
			d.unknown(in, "unknown opcode")
			return
		}
		in.Role, in.Mem.Width = isa.RoleCopy, width
		d.addUse(isa.RegM0)
		at = 0
	case strings.HasPrefix(name, "load_"):
		width, d16, known := accessWidth(name[5:])
		if !known {
			d.unknown(in, "unknown opcode")
			return
		}
		in.Role, in.Mem.Width, dst = isa.RoleLoad, width, 1
		d.keepHalf(d16)
		if d.hasMod("tfe") {
			d.unknown(in, "status word of a buffer load")
			return
		}
	case strings.HasPrefix(name, "store_"):
		width, _, known := accessWidth(name[6:])
		if !known || strings.HasPrefix(name, "store_lds") {
			d.unknown(in, "unknown opcode")
			return
		}
		in.Role, in.Mem.Width = isa.RoleStore, width
	default:
		d.unknown(in, "unknown opcode")
		return
	}
	if !d.bufferAddress(in, at) {
		d.unknown(in, "address not understood")
		return
	}
	if in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction || in.Role == isa.RoleStore {
		// The value is printed first; after the address it is the second operand.
		v := d.args[0]
		if in.Role != isa.RoleAtomic {
			d.take(0)
			d.args = append(d.args, v)
			at = 0
		} else {
			d.args = append(d.args, v)
			dst = 1
			if in.Mem.Atom == "CAS" || in.Mem.Atom == "FCAS" {
				d.args[0] = part(v, 0, max(1, v.Words/2)) // the old value returns in the lower half
			}
		}
		if strings.HasSuffix(in.Mem.Atom, "CAS") && !d.splitCAS(at+1) {
			d.unknown(in, "operands of compare-and-swap")
			return
		}
	}
	d.scope(in)
	d.vectorCounts(in, false)
	d.accessRegs(in, dst)
}

// bufferAddress combines vaddr, srsrc and soffset into one address operand at index at.
func (d *decoder) bufferAddress(in *inst, at int) bool {
	n := len(d.args)
	if n < at+2 || n > at+3 {
		return false
	}
	if n == at+2 { // older dumps omit an unused vaddr
		d.insertArg(at, isa.Operand{Kind: isa.OpdReg, Zero: true, Text: "off"})
	}
	va, rs, so := d.args[at], d.args[at+1], d.args[at+2]
	if rs.Kind != isa.OpdReg || rs.Zero || va.Kind != isa.OpdReg {
		return false
	}
	o := isa.Operand{Off: in.off, Words: 1, Desc: rs.Reg}
	offen, idxen, addr64 := d.hasMod("offen"), d.hasMod("idxen"), d.hasMod("addr64")
	switch {
	case addr64:
		o.Part, o.Words = "addr64", 2
	case offen && idxen:
		o.Part, o.Words = "bothen", 2
	case offen:
		o.Part = "offen"
	case idxen:
		o.Part = "idxen"
	}
	if o.Part != "" {
		if va.Zero {
			return false
		}
		o.Reg = va.Reg
	}
	switch so.Kind {
	case isa.OpdReg:
		if !so.Zero {
			o.Base2 = so.Reg
		}
	case isa.OpdImm:
		o.Off += so.Imm
	default:
		return false
	}
	d.memOperand(at, at+3, o)
	return true
}
