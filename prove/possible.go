package prove

import (
	"fmt"
	"slices"

	"optcheck/internal/flowgraph"
	"optcheck/ir"
)

// Possible tells what a thread of a program may come to, whatever the input is, what memory holds, and what other threads do: registers are terms
// of what they were computed from, and where paths meet, of nothing that is known. The conditions of the jumps that lead to an instruction hold
// there.
type Possible struct {
	p      *ir.Program
	x      *terms
	s      *side
	ask    *sweeper
	before [][]int32
	up     []int32            // immediate dominators
	joins  map[ir.Reg][]bool  // where several contents of a register meet
	after  map[int32]contents // what instructions write
	paths  map[int32]term     // under which an instruction is come to
	writes map[ir.Reg][]int32 // the instructions that write a register
	front  map[int32][]int32  // dominance frontiers
	failed bool               // what was asked for is too large, or not understood
}

// contents are the registers that an instruction writes, and what they hold then.
type contents map[ir.Reg]term

// NewPossible looks at the kernel of a program. Of one with calls everything is possible.
func NewPossible(p *ir.Program) *Possible {
	q := &Possible{p: p, x: newTerms(mostNodes), after: map[int32]contents{}, paths: map[int32]term{}, joins: map[ir.Reg][]bool{}, writes: map[ir.Reg][]int32{},
		front: map[int32][]int32{}}
	n := int32(len(p.Insts))
	q.before = make([][]int32, n)
	for i := range n {
		for _, to := range p.After(i) {
			if to >= 0 && to < n {
				q.before[to] = append(q.before[to], i)
			}
		}
		if f, ok := p.Insts[i].Do.(*ir.Flow); ok && (f.Kind == ir.Call || f.Kind == ir.Indirect && f.Targets == nil) {
			q.failed = true
		}
	}
	q.failed = q.failed || n == 0 || n > mostSteps
	if q.failed {
		return q
	}
	q.failed = !guarded(func() {
		q.s = newSide(q.x, &plan{}, p, p, nil)
		q.ask = newSweeper(q.x)
		q.ask.b.memory = func(term) (term, bool) { return 0, false }
	})
	q.up = flowgraph.Dominators(int(n), []int32{0}, p.After, func(i int32) []int32 { return q.before[i] })
	q.frontiers()
	return q
}

// guarded calls a function, and reports whether it has found nothing too large or not understood.
func guarded(do func()) (ok bool) {
	defer func() {
		switch e := recover().(type) {
		case nil:
			ok = true
		case limit, unsupported, disagreement:
		default:
			panic(e)
		}
	}()
	do()
	return false
}

// Never reports whether no thread comes to an instruction with a register whose truth is the one given: 1, or 0. Register None is true.
func (q *Possible) Never(at int32, r ir.Reg, is bool) (never bool) {
	if q.failed {
		return false
	}
	guarded(func() {
		here := q.path(at)
		what := q.x.num(1, 1)
		if r != ir.None {
			what = q.x.resize(q.value(at, r), 1)
		}
		if !is {
			what = q.x.not(what)
		}
		never = q.ask.holds(claim{guard: here, a: what, b: q.x.num(1, 0)})
	})
	return never
}

// frontiers finds the dominance frontiers, and which instructions write which registers.
func (q *Possible) frontiers() {
	for i := range int32(len(q.p.Insts)) {
		in := &q.p.Insts[i]
		regs := in.Written()
		for _, o := range slices.Concat(in.Pre, in.Post) {
			regs = append(regs, o.Dst)
		}
		for _, r := range regs {
			if list := q.writes[r]; len(list) == 0 || list[len(list)-1] != i {
				q.writes[r] = append(list, i)
			}
		}
		if len(q.before[i]) < 2 {
			continue
		}
		for _, from := range q.before[i] {
			for at := from; at >= 0 && at != q.up[i] && (q.up[at] >= 0 || at == 0); at = q.up[at] {
				if !slices.Contains(q.front[at], i) {
					q.front[at] = append(q.front[at], i)
				}
			}
		}
	}
}

// joinsOf are the places where several contents of a register may meet.
func (q *Possible) joinsOf(r ir.Reg) []bool {
	if out, ok := q.joins[r]; ok {
		return out
	}
	out := make([]bool, len(q.p.Insts))
	work := slices.Clone(q.writes[r])
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range q.front[at] {
			if !out[to] {
				out[to] = true
				work = append(work, to)
			}
		}
	}
	q.joins[r] = out
	return out
}

// value is what a register holds where an instruction begins.
func (q *Possible) value(at int32, r ir.Reg) term {
	if t, ok := q.s.fixed[r]; ok {
		return t
	}
	if r == ir.None {
		return q.x.num(64, 0)
	}
	joins := q.joinsOf(r)
	for {
		if joins[at] {
			return q.x.named(64, fmt.Sprintf("at %d: %d", at, r), true)
		}
		if at = q.up[at]; at < 0 {
			return q.x.named(64, fmt.Sprintf("first: %d", r), true)
		}
		if t, ok := q.results(at)[r]; ok {
			return t
		}
	}
}

// results are what an instruction writes.
func (q *Possible) results(at int32) contents {
	if c, ok := q.after[at]; ok {
		return c
	}
	defer q.x.deeper()()
	x, in, c := q.x, &q.p.Insts[at], contents{}
	get := func(r ir.Reg) term {
		if t, ok := c[r]; ok {
			return t
		}
		return q.value(at, r)
	}
	ops := func(list []ir.Op) {
		for i := range list {
			o := &list[i]
			var args [4]term
			for k, r := range o.Src {
				args[k] = get(r)
			}
			if t := x.op(o, &args); o.Dst >= 0 {
				c[o.Dst] = t
			}
		}
	}
	ops(in.Pre)
	for _, r := range in.Written() {
		if in.Do != nil {
			c[r] = q.effect(at, in, r)
		}
	}
	ops(in.Post)
	if in.Guard >= 0 {
		g := q.guard(at)
		for r, t := range c {
			c[r] = q.s.choice(g, t, q.value(at, r))
		}
	}
	q.after[at] = c
	return c
}

// effect is what the effect of an instruction leaves in a register: of memory and of other lanes nothing is known but how wide it is.
func (q *Possible) effect(at int32, in *ir.Inst, r ir.Reg) term {
	w := 64
	switch do := in.Do.(type) {
	case *ir.Special:
		return q.s.register(do.Reg)
	case *ir.Access:
		if do.Kind == ir.Load && len(do.Fragments) == 0 && do.Bytes < 8 && !do.Type.Signed() {
			w = 8 * do.Bytes
		}
	}
	return q.x.named(w, fmt.Sprintf("result %d: %d", at, r), true)
}

// guard is the condition under which an instruction is performed that is come to.
func (q *Possible) guard(at int32) term {
	in := &q.p.Insts[at]
	if in.Guard < 0 {
		return q.x.num(1, 1)
	}
	t := q.x.resize(q.value(at, in.Guard), 1)
	if in.Not {
		t = q.x.not(t)
	}
	return t
}

// path is the condition under which a thread comes to an instruction, as far as the jumps say that it has passed last: the last one that leads to it alone,
// and those before that.
func (q *Possible) path(at int32) term {
	var chain []int32
	t := q.x.num(1, 1)
	for ; at >= 0; at = q.up[at] {
		if known, ok := q.paths[at]; ok {
			t = known
			break
		}
		chain = append(chain, at)
	}
	for _, at := range slices.Backward(chain) {
		if from := q.up[at]; from >= 0 {
			if c, ok := q.edge(from, at); ok {
				t = q.x.and(t, c)
			}
		}
		q.paths[at] = t
	}
	return t
}

// edge is the condition of a jump to an instruction that is come to from there alone, but for what it dominates.
func (q *Possible) edge(from, at int32) (term, bool) {
	f, ok := q.p.Insts[from].Do.(*ir.Flow)
	if !ok || f.Kind != ir.Jump && f.Kind != ir.Exit && f.Kind != ir.Trap && f.Kind != ir.Return || f.Cond != ir.None || q.p.Insts[from].Guard < 0 {
		return 0, false
	}
	for _, b := range q.before[at] {
		if b != from && !q.dominates(at, b) {
			return 0, false
		}
	}
	taken, passed := f.Kind == ir.Jump && f.Target == at, at == from+1
	switch {
	case taken == passed:
		return 0, false
	case taken:
		return q.guard(from), true
	}
	return q.x.not(q.guard(from)), true
}

func (q *Possible) dominates(a, b int32) bool {
	for ; b >= 0; b = q.up[b] {
		if b == a {
			return true
		}
	}
	return false
}
