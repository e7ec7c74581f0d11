package amdisa

import (
	"strings"

	"optcheck/isa"
)

// lds decodes ds_ instructions: local and global data share, and the cross-lane operations that
// use the LDS hardware without its memory.
func (d *decoder) lds(in *inst, name string) {
	in.Guard.Reg = isa.RegExec
	in.Counts = counts(d.ldsCounter())
	switch {
	case strings.HasPrefix(name, "bpermute"), strings.HasPrefix(name, "permute"), strings.HasPrefix(name, "swizzle"):
		in.Role = isa.RoleALU
		if len(d.args) == 0 {
			d.unknown(in, "number of operands")
			return
		}
		d.def(&d.args[0])
		for i := 1; i < len(d.args); i++ {
			d.use(&d.args[i])
		}
		return
	case strings.HasPrefix(name, "gws_"):
		in.Role, in.Mem.Space, in.Mem.Scope = isa.RoleBarrier, isa.SpaceRegion, isa.ScopeGPU
		d.addUse(isa.RegM0)
		for i := range d.args {
			d.use(&d.args[i])
		}
		return
	case name == "param_load", name == "direct_load":
		in.Role = isa.RoleConst
		in.Counts = counts(isa.CountExp)
		d.addUse(isa.RegM0)
		if len(d.args) > 0 {
			d.def(&d.args[0])
		}
		return
	}
	in.Mem.Space = isa.SpaceShared
	if d.hasMod("gds") {
		in.Mem.Space = isa.SpaceRegion
		in.Counts = counts(d.ldsCounter(), isa.CountExp)
	}
	if d.t.gen < 9 || in.Mem.Space == isa.SpaceRegion {
		d.addUse(isa.RegM0) // its bound
	}
	switch {
	case strings.HasPrefix(name, "read"), strings.HasPrefix(name, "load"):
		d.ldsLoad(in, name)
	case strings.HasPrefix(name, "write_"), strings.HasPrefix(name, "write2"), strings.HasPrefix(name, "store_"):
		d.ldsStore(in, name)
	case name == "append", name == "consume":
		in.Role, in.Mem.Width, in.Mem.Atom = isa.RoleAtomic, 4, atomNames[name]
		d.addUse(isa.RegM0)
		d.args = append(d.args, isa.Operand{Kind: isa.OpdMem, Off: in.off, Text: "m0"})
		d.accessRegs(in, 1)
	default:
		d.ldsAtomic(in, name)
	}
}

// pair recognises the forms with two addresses. It returns their element size and the unit of
// their offsets.
func pair(name string) (elem, unit int, ok bool) {
	i := strings.IndexByte(name, '_')
	if i < 0 {
		return 0, 0, false
	}
	verb, typ := name[:i], name[i+1:]
	stride := int64(1)
	switch {
	case strings.HasSuffix(verb, "2st64"):
		stride = 64
	case strings.HasSuffix(verb, "2"):
	case strings.HasPrefix(typ, "2addr_stride64_"):
		stride, typ = 64, typ[len("2addr_stride64_"):]
	case strings.HasPrefix(typ, "2addr_"):
		typ = typ[len("2addr_"):]
	default:
		return 0, 0, false
	}
	typ = strings.TrimPrefix(typ, "rtn_")
	switch typ {
	case "b32":
		elem = 4
	case "b64":
		elem = 8
	default:
		return 0, 0, false
	}
	return elem, elem * int(stride), true
}

// ldsAddress turns operand i into the address.
func (d *decoder) ldsAddress(in *inst, i int, off int64) bool {
	if i >= len(d.args) || d.args[i].Kind != isa.OpdReg || d.args[i].Zero {
		return false
	}
	o := isa.Operand{Reg: d.args[i].Reg, Words: 1, Off: off}
	d.memOperand(i, i+1, o)
	return true
}

func (d *decoder) ldsLoad(in *inst, name string) {
	in.Role = isa.RoleLoad
	if elem, unit, ok := pair(name); ok {
		in.Mem.Width = 2 * elem
		if len(d.args) != 2 || !d.ldsAddress(in, 1, in.off0*int64(unit)) {
			d.unknown(in, "number of operands")
			return
		}
		second := d.args[1]
		second.Off = in.off1 * int64(unit)
		d.args = append(d.args, second)
		d.accessRegs(in, 1)
		return
	}
	_, typ, _ := strings.Cut(name, "_")
	width, d16, ok := accessWidth(typ)
	if !ok {
		d.unknown(in, "unknown opcode")
		return
	}
	in.Mem.Width = width
	d.keepHalf(d16)
	if strings.HasPrefix(typ, "addtid") {
		d.addUse(isa.RegM0)
		d.args = append(d.args, isa.Operand{Kind: isa.OpdMem, Off: in.off, Text: "tid"})
	} else if len(d.args) != 2 || !d.ldsAddress(in, 1, in.off) {
		d.unknown(in, "number of operands")
		return
	}
	d.accessRegs(in, 1)
}

func (d *decoder) ldsStore(in *inst, name string) {
	in.Role = isa.RoleStore
	if elem, unit, ok := pair(name); ok {
		in.Mem.Width = 2 * elem
		if len(d.args) != 3 || !d.ldsAddress(in, 0, in.off0*int64(unit)) {
			d.unknown(in, "number of operands")
			return
		}
		second := d.args[0]
		second.Off = in.off1 * int64(unit)
		d.insertArg(2, second)
		d.accessRegs(in, 0)
		return
	}
	_, typ, _ := strings.Cut(name, "_")
	width, _, ok := accessWidth(typ)
	if !ok {
		d.unknown(in, "unknown opcode")
		return
	}
	in.Mem.Width = width
	if strings.HasPrefix(typ, "addtid") {
		d.addUse(isa.RegM0)
		d.insertArg(0, isa.Operand{Kind: isa.OpdMem, Off: in.off, Text: "tid"})
	} else if len(d.args) != 2 || !d.ldsAddress(in, 0, in.off) {
		d.unknown(in, "number of operands")
		return
	}
	d.accessRegs(in, 0)
}

// ldsAtomic decodes ds_add_u32, ds_add_rtn_u32, ds_cmpst_rtn_b32 and the like. ds_cmpst prints
// the compared value before the new one, ds_cmpstore (gfx11) after it.
func (d *decoder) ldsAtomic(in *inst, name string) {
	if elem, unit, ok := pair(name); ok && (strings.HasPrefix(name, "wrxchg2") || strings.HasPrefix(name, "storexchg_2addr")) {
		in.Role, in.Mem.Width, in.Mem.Atom = isa.RoleAtomic, 2*elem, "EXCH"
		if len(d.args) != 4 || !d.ldsAddress(in, 1, in.off0*int64(unit)) {
			d.unknown(in, "number of operands")
			return
		}
		second := d.args[1]
		second.Off = in.off1 * int64(unit)
		d.insertArg(3, second)
		d.accessRegs(in, 1)
		return
	}
	in.Role = isa.RoleReduction
	dst := 0
	plain := strings.Replace(name, "_rtn", "", 1)
	if plain != name {
		in.Role, dst = isa.RoleAtomic, 1
	}
	op, width, ok := atomic(plain)
	if !ok {
		d.unknown(in, "unknown opcode")
		return
	}
	in.Mem.Atom, in.Mem.Width = op, width
	if !d.ldsAddress(in, dst, in.off) {
		d.unknown(in, "number of operands")
		return
	}
	values := 1
	switch op {
	case "CAS", "FCAS", "MSKOR", "WRAP":
		values = 2
	}
	if len(d.args) != dst+1+values {
		d.unknown(in, "number of operands")
		return
	}
	if strings.HasPrefix(plain, "cmpstore") {
		d.args[dst+1], d.args[dst+2] = d.args[dst+2], d.args[dst+1]
	}
	d.accessRegs(in, dst)
}
