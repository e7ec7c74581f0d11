package amdisa

import (
	"strings"

	"optcheck/isa"
)

// scalarMemory decodes SMEM instructions: loads, stores and atomics of the
// scalar unit and the cache operations on its caches.
func (d *decoder) scalarMemory(in *inst, name string) bool {
	in.Mem.Scalar = true
	if d.scalarControl(in, name) {
		return true
	}
	rest, desc := strings.CutPrefix(name, "buffer_")
	rest, scratch := strings.CutPrefix(rest, "scratch_")
	in.Mem.Space = isa.SpaceGlobal
	if scratch {
		in.Mem.Space = isa.SpaceLocal
	}
	dst := d.scalarKind(in, rest)
	if in.Role == isa.RoleUnknown {
		in.Mem = isa.Mem{}
		return false
	}
	if len(d.args) == 2 { // clrxdisasm omits an offset of 0
		d.args = append(d.args, isa.Operand{Kind: isa.OpdImm, Text: "0"})
	}
	if len(d.args) < 3 || !d.scalarAddress(in, desc) {
		d.unknown(in, "address not understood")
		return true
	}
	if in.Role != isa.RoleLoad {
		v := d.take(0)
		if dst == 1 {
			d.insertArg(0, v)
		}
		d.args = append(d.args, v)
		if in.Mem.Atom == "CAS" && !d.splitCAS(len(d.args)-1) {
			d.unknown(in, "operands of compare-and-swap")
			return true
		}
	}
	d.scope(in)
	in.Counts = counts(d.scalarCounter())
	d.accessRegs(in, dst)
	return true
}

// scalarControl decodes instructions of the scalar unit that are not accesses: cache
// operations, prefetches and clocks.
func (d *decoder) scalarControl(in *inst, name string) bool {
	switch name {
	case "dcache_inv", "dcache_inv_vol", "dcache_wb", "dcache_wb_vol", "dcache_wb_inv", "gl1_inv", "dcache_discard", "dcache_discard_x2":
		in.Role = isa.RoleCache
		in.Mem.Scope = isa.ScopeGPU
		in.Mem.Invalidate = strings.Contains(name, "inv") || strings.Contains(name, "discard")
		in.Mem.WriteBack = strings.Contains(name, "wb")
		in.Mem.Scalar = name != "gl1_inv"
		in.Counts = counts(d.scalarCounter())
		for i := range d.args {
			d.use(&d.args[i])
		}
		return true
	case "icache_inv":
		in.Role = isa.RoleCache
		in.Mem.Space, in.Mem.Invalidate, in.Mem.Scope = isa.SpaceConst, true, isa.ScopeGPU
		return true
	case "prefetch_inst", "prefetch_inst_pc_rel", "prefetch_data", "prefetch_data_pc_rel", "buffer_prefetch_data":
		in.Role = isa.RoleCache
		for i := range d.args {
			d.use(&d.args[i])
		}
		return true
	case "memtime", "memrealtime":
		in.Role, in.Mem = isa.RoleConst, isa.Mem{}
		in.Counts = counts(d.scalarCounter())
		if len(d.args) > 0 {
			d.def(&d.args[0])
		}
		return true
	}
	return false
}

// scalarKind sets role, width and atomic of a scalar access, and returns the number of operands
// it defines. For unknown instructions it leaves the role unknown.
func (d *decoder) scalarKind(in *inst, rest string) (dst int) {
	switch {
	case strings.HasPrefix(rest, "load_"):
		width, _, known := accessWidth(rest[5:])
		if !known {
			break
		}
		in.Role, in.Mem.Width, dst = isa.RoleLoad, width, 1
	case strings.HasPrefix(rest, "store_"):
		width, _, known := accessWidth(rest[6:])
		if !known {
			break
		}
		in.Role, in.Mem.Width = isa.RoleStore, width
	case strings.HasPrefix(rest, "atomic_"):
		op, width, known := atomic(rest[7:])
		if !known {
			break
		}
		in.Role, in.Mem.Width, in.Mem.Atom = isa.RoleReduction, width, op
		if d.returns(in) {
			in.Role, dst = isa.RoleAtomic, 1
		}
	}
	return dst
}

// scalarAddress combines sbase and soffset into one address operand after the first operand. On
// gfx6 and gfx7 immediate offsets count words.
func (d *decoder) scalarAddress(in *inst, desc bool) bool {
	base := d.args[1]
	if base.Kind != isa.OpdReg || base.Zero || len(d.args) > 4 {
		return false
	}
	o := isa.Operand{Off: in.off, Words: 2, Reg: base.Reg}
	if desc {
		o.Reg, o.Desc, o.Words = isa.Reg{}, base.Reg, 1
	}
	for i := 2; i < len(d.args); i++ {
		switch so := d.args[i]; so.Kind {
		case isa.OpdReg:
			if !so.Zero {
				o.Base2 = so.Reg
			}
		case isa.OpdImm:
			if d.t.gen == 6 || d.t.gen == 7 {
				o.Off += 4 * so.Imm
			} else {
				o.Off += so.Imm
			}
		default:
			return false
		}
	}
	d.memOperand(1, len(d.args), o)
	return true
}
