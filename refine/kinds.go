package refine

import (
	"optcheck/emu"
	"optcheck/ir"
)

// kinds finds what loads and parameters are used for: what becomes an address should be one, and what becomes a part of
// an address should be small. Keys are instructions of loads.
func kinds(p *ir.Program) map[int32]emu.Kind {
	to := flows(p)
	out := map[int32]emu.Kind{}
	for i := range p.Insts {
		a, ok := p.Insts[i].Do.(*ir.Access)
		if !ok || a.Kind == ir.Store || a.Type.Float() {
			continue
		}
		if a.Kind == ir.Atomic || a.Sem != ir.Weak {
			out[int32(i)] = emu.Flag
		}
		for _, r := range loaded(&p.Insts[i], a) {
			switch {
			case to.pointers[r] && a.Bytes == 8:
				out[int32(i)] = emu.Pointer
			case to.shared[r]:
				out[int32(i)] = emu.Shared
			case (to.pointers[r] || to.indices[r]) && out[int32(i)] == emu.Integer:
				out[int32(i)] = emu.Index
			}
		}
	}
	return out
}

// loaded are the registers that hold what an access has read, as it is or extended.
func loaded(in *ir.Inst, a *ir.Access) []ir.Reg {
	regs := append([]ir.Reg(nil), a.Data...)
	if a.Kind == ir.Atomic {
		regs = append([]ir.Reg(nil), a.Dst...)
	}
	for i := range in.Post {
		regs = append(regs, in.Post[i].Dst)
	}
	return regs
}

// addresses are the registers whose value becomes an address of global or of shared memory (by copies, sums and choices),
// and those that become a part of one by any computation.
type addresses struct{ pointers, shared, indices map[ir.Reg]bool }

// flows finds what becomes an address.
func flows(p *ir.Program) addresses {
	to := addresses{map[ir.Reg]bool{}, map[ir.Reg]bool{}, map[ir.Reg]bool{}}
	fixed := map[ir.Reg]bool{}
	for _, c := range p.Consts {
		fixed[c.Reg] = true
	}
	for i := range p.Insts {
		switch do := p.Insts[i].Do.(type) {
		case *ir.Access:
			switch do.Space {
			case ir.Global, ir.Generic:
				to.pointers[do.Addr] = true
			case ir.Shared:
				to.shared[do.Addr] = true
			default:
				to.indices[do.Addr] = true
			}
		case *ir.Copy:
			to.pointers[do.From], to.shared[do.To] = true, true
		}
	}
	add := func(set map[ir.Reg]bool, r ir.Reg) bool {
		if r < 0 || fixed[r] || set[r] {
			return false
		}
		set[r] = true
		return true
	}
	for again := true; again; {
		again = false
		for i := range p.Insts {
			for _, list := range [][]ir.Op{p.Insts[i].Pre, p.Insts[i].Post} {
				for k := range list {
					o := &list[k]
					if o.Type.Float() {
						continue
					}
					for n, s := range o.Src {
						switch {
						case to.pointers[o.Dst] && o.Type.Bits() == 64 && Carries(o, n):
							again = add(to.pointers, s) || again
						case to.shared[o.Dst] && o.Type.Bits() >= 32 && Carries(o, n):
							again = add(to.shared, s) || again
						case to.pointers[o.Dst] || to.shared[o.Dst] || to.indices[o.Dst]:
							again = add(to.indices, s) || again
						}
					}
				}
			}
		}
	}
	return to
}

// Carries reports whether source n of an operation reaches the result as an address does.
func Carries(o *ir.Op, n int) bool {
	switch o.Code {
	case ir.Mov, ir.Add, ir.Or, ir.Ext:
		return true
	case ir.Sub:
		return n == 0
	case ir.Sel:
		return n > 0
	}
	return false
}
