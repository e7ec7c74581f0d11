package realcode

import (
	"slices"

	"optcheck/internal/flowgraph"
	"optcheck/ptx"
)

// live are the registers that something with an effect reads, and those that they are made of: by the text, whatever the path.
type live struct {
	*source
	regs map[register]bool
	// together are the operations that lanes of a warp perform together, above the dominators of the steps of functions that have some.
	together []*Op
	above    map[*ptx.Func][]int32
	grown    bool
}

// register is one of a function.
type register struct {
	f *ptx.Func
	n int
}

// findDead tells of each operation whether nobody needs what it returns, and which of its registers. What the text does not say only
// runs show.
func (s *source) findDead() {
	l := &live{source: s, regs: map[register]bool{}, above: map[*ptx.Func][]int32{}}
	l.together = slices.DeleteFunc(slices.Clone(s.ops), func(op *Op) bool { return op.Effect.Kind != ptx.Convergent })
	for f := range s.entries {
		for n := range f.Regs {
			if returned(f, n) {
				l.regs[register{f, n}] = true
			}
		}
	}
	for l.grown = true; l.grown; {
		l.grown = false
		for f := range s.entries {
			for i, st := range slices.Backward(f.Body) { // from uses to what they are made of: few rounds
				if st.Inst != nil {
					l.look(f, int32(i), st.Inst)
				}
			}
		}
	}
	for _, op := range s.ops {
		op.needs = slices.DeleteFunc(slices.Clone(defined(op.Inst)), func(r int) bool { return !l.regs[register{op.Func, r}] })
		op.Dead = len(op.needs) == 0
	}
}

// returned reports whether a register is what a function returns.
func returned(f *ptx.Func, r int) bool {
	return slices.ContainsFunc(f.Returns, func(v ptx.Var) bool { return v.Space == "reg" && v.Name == f.Regs[r].Name })
}

// look needs what an instruction reads, if it has an effect or somebody needs what it sets.
func (l *live) look(f *ptx.Func, at int32, in *ptx.Inst) {
	sets, e := defined(in), in.Effect()
	taken := slices.ContainsFunc(sets, func(r int) bool { return l.regs[register{f, r}] })
	need := func(list ...int) {
		for _, r := range list {
			if at := (register{f, r}); !l.regs[at] {
				l.regs[at], l.grown = true, true
			}
		}
	}
	switch open := func(r int) bool { return !l.regs[register{f, r}] }; {
	case !slices.ContainsFunc(used(in), open): // all of them are needed already
	case e.Kind == ptx.Convergent && !taken && l.alone(f, at, in):
		if a := in.Args[len(in.Args)-1]; a.Kind == ptx.Reg { // who takes part
			need(a.Reg)
		}
	case taken && len(sets) == 1 && e.Kind == ptx.None && l.possible().Constant(in.N): // whatever it is made of
		need(slices.DeleteFunc([]int{in.Guard}, func(r int) bool { return r < 0 })...)
	case taken, e.Kind != ptx.None && e.Kind != ptx.Load, len(sets) == 0, e.Sem == "volatile", e.Sem == "mmio",
		in.Has("cc"): // a carry is no register
		need(used(in)...)
	}
	if e.Kind == ptx.Matrix { // a sum goes on from what was there
		need(sets...)
	}
}

// alone reports whether no lane performs an operation of a warp together with another instruction: of each other one that may be meant,
// one comes before the other on every path.
func (l *live) alone(f *ptx.Func, at int32, in *ptx.Inst) bool {
	if !f.Entry || in.Guard >= 0 || len(l.together) > mostTogether {
		return false
	}
	before := func(a, b int32) bool { return flowgraph.Dominates(l.dominators(f), a, b) }
	return !slices.ContainsFunc(l.together, func(o *Op) bool {
		return o.Inst.Name == in.Name && (o.Func != f || o.Inst.Guard >= 0 || !before(at, o.at) && !before(o.at, at))
	})
}

// mostTogether is how many operations of warps a program may have for alone to compare them with each other.
const mostTogether = 512

// dominators are those of the steps of a function.
func (l *live) dominators(f *ptx.Func) []int32 {
	if l.above[f] == nil {
		n := int32(len(f.Body)) // of the steps, those of a kernel come first
		before := make([][]int32, n)
		next := func(i int32) []int32 {
			return slices.DeleteFunc(following(l.steps, i), func(to int32) bool { return to >= n })
		}
		for i := range n {
			for _, to := range next(i) {
				before[to] = append(before[to], i)
			}
		}
		l.above[f] = flowgraph.Dominators(int(n), []int32{0}, next, func(i int32) []int32 { return before[i] })
	}
	return l.above[f]
}
