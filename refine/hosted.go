package refine

import (
	"optcheck/emu"
	"optcheck/ir"
)

// mostHosted is the most of a variable that is chosen.
const mostHosted = 1 << 12

// hosted are the variables of constant memory that a program reads and to which its file gives no content: a host writes it. What they hold is in
// an input behind the parameters, at their offsets.
func hosted(p *ir.Program) (out []ir.Var) {
	read := map[string]bool{}
	for i := range p.Consts {
		read[p.Consts[i].Symbol] = true
	}
	at := size(p.Params)
	for _, v := range p.Vars {
		v.Offset, v.Size = at, min(v.Size, mostHosted)
		if end := at + (v.Size+7)&^7; v.Space == ir.ConstBank && read[v.Name] && len(v.Init)+len(v.Inits) == 0 && v.Size > 0 && end <= mostParams {
			out, at = append(out, v), end
		}
	}
	return out
}

// given is what an input says of a variable; nil if it says nothing.
func (in *Input) given(v *ir.Var) []byte {
	if end := v.Offset + v.Size; end <= int64(len(in.Params)) {
		return in.Params[v.Offset:end]
	}
	return nil
}

// hostedKinds says what the program reads of such variables, by their offsets: where an address is computed, any part of the variable.
func hostedKinds(p *ir.Program, kind map[int32]emu.Kind, out map[int64]paramUse) {
	vars := hosted(p)
	if len(vars) == 0 {
		return
	}
	at, of := map[ir.Reg]int64{}, map[ir.Reg]*ir.Var{} // where registers point to, as far as that is known, and to what
	for _, c := range p.Consts {
		for i := range vars {
			if c.Symbol == vars[i].Name {
				at[c.Reg], of[c.Reg] = vars[i].Offset+int64(c.Value), &vars[i]
			}
		}
	}
	for again := true; again; {
		again = false
		for i := range p.Insts {
			operations(p, int32(i), func(_ site, o *ir.Op) {
				for _, r := range o.Src {
					if v := of[r]; v != nil && of[o.Dst] == nil && o.Dst >= 0 && o.Type.Bits() == 64 {
						of[o.Dst], again = v, true
					}
				}
			})
		}
	}
	for _, computed := range []bool{false, true} {
		for i := range p.Insts {
			a, ok := p.Insts[i].Do.(*ir.Access)
			if !ok || a.Kind != ir.Load || of[a.Addr] == nil {
				continue
			}
			k, ok := kind[int32(i)]
			if !ok {
				k = emu.KindOf(a)
			}
			v, from := of[a.Addr], at[a.Addr]
			first, last := from+a.Offset, from+a.Offset+int64(a.Bytes*a.Elems)
			if from == 0 {
				first, last = v.Offset, v.Offset+v.Size
			}
			for w := first; (from == 0) == computed && w < min(last, v.Offset+v.Size); w += int64(a.Bytes) {
				if _, ok := out[w]; !ok {
					out[w] = paramUse{k, a.Bytes}
				}
			}
		}
	}
}

// constants are what such variables hold in a launch of an input.
func (c *comparison) constants(in *Input) map[string][]byte {
	out := map[string][]byte{}
	for _, v := range c.hosted {
		if data := in.given(&v); data != nil {
			out[v.Name] = data
		}
	}
	return out
}

// constantAt is what a place of such a variable depends on: its address, or, in machine code, its offset in a bank of constants.
func (h *shadow) constantAt(at int64, bytes int) words {
	for _, v := range h.hosted {
		begin := int64(h.in.Vars[v.Name])
		if h.machine {
			begin = h.inBank(v.Name)
		}
		if begin >= 0 && at >= begin && at+int64(bytes) <= begin+v.Size {
			return h.params(v.Offset+at-begin, bytes)
		}
	}
	return ofMemory
}

// inBank is where a variable begins in its bank of constants; -1 if it is in none.
func (h *shadow) inBank(name string) int64 {
	for i := range h.p.Vars {
		if v := &h.p.Vars[i]; v.Name == name && v.Space == ir.ConstBank {
			return v.Offset
		}
	}
	return -1
}
