package nvidia

import (
	"slices"

	"optcheck/ir"
	"optcheck/prove"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
)

// Possible tells what threads of a kernel of PTX may come to, and what is one number there: see prove.Possible. Instructions are named by their
// numbers (ptx.Inst.N).
type Possible struct {
	p    *ir.Program
	may  *prove.Possible
	inst map[int]int32
}

// NewPossible looks at a kernel. Of one that is not understood whole everything is possible.
func NewPossible(m *ptx.Module, kernel string) *Possible {
	x := &Possible{inst: map[int]int32{}}
	p, err := ptxlower.Kernel(m, kernel)
	if err != nil || slices.ContainsFunc(p.Insts, func(in ir.Inst) bool { return in.Opaque != "" && in.Results == nil }) {
		return x
	}
	x.p, x.may = p, prove.NewPossible(p)
	for i := range p.Insts {
		if p.Insts[i].Form != "entry" {
			x.inst[p.Insts[i].Source] = int32(i)
		}
	}
	return x
}

// Never reports whether no thread performs an instruction, as a solver says.
func (x *Possible) Never(n int) bool {
	i, ok := x.inst[n]
	if !ok {
		return false
	}
	in := &x.p.Insts[i]
	return x.may.Never(i, ir.None, true) || in.Guard >= 0 && x.may.Never(i, in.Guard, !in.Not)
}

// Constant reports whether what an instruction leaves is one number wherever its function is called.
func (x *Possible) Constant(n int) bool {
	i, ok := x.inst[n]
	return ok && x.may.Constant(i)
}
