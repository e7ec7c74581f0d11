package refine

import (
	"optcheck/emu"
	"optcheck/ir"
)

// kinds finds what loads and parameters are used for: what becomes an address should be one, and what becomes a part of
// an address should be small. Keys are instructions of loads.
func kinds(p *ir.Program) map[int32]emu.Kind {
	pointers, indices := flows(p)
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
			case pointers[r] && a.Bytes == 8:
				out[int32(i)] = emu.Pointer
			case (pointers[r] || indices[r]) && out[int32(i)] == emu.Integer:
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

// flows finds the registers whose value becomes an address (by copies, sums and choices), and those that become a part of
// one by any computation.
func flows(p *ir.Program) (pointers, indices map[ir.Reg]bool) {
	pointers, indices = map[ir.Reg]bool{}, map[ir.Reg]bool{}
	fixed := map[ir.Reg]bool{}
	for _, c := range p.Consts {
		fixed[c.Reg] = true
	}
	for i := range p.Insts {
		switch do := p.Insts[i].Do.(type) {
		case *ir.Access:
			if do.Space == ir.Global || do.Space == ir.Generic {
				pointers[do.Addr] = true
			} else {
				indices[do.Addr] = true
			}
		case *ir.Copy:
			pointers[do.From], indices[do.To] = true, true
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
						if pointers[o.Dst] && carries(o, n) {
							again = add(pointers, s) || again
						} else if pointers[o.Dst] || indices[o.Dst] {
							again = add(indices, s) || again
						}
					}
				}
			}
		}
	}
	return pointers, indices
}

// carries reports whether source n of an operation reaches the result as an address does.
func carries(o *ir.Op, n int) bool {
	switch o.Code {
	case ir.Mov, ir.Add, ir.Or:
		return o.Type.Bits() == 64
	case ir.Sub:
		return o.Type.Bits() == 64 && n == 0
	case ir.Sel:
		return n > 0 && o.Type.Bits() == 64
	case ir.Ext:
		return o.Type.Bits() == 64
	}
	return false
}
