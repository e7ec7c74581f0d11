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
	misses int                // questions of which that turned out
	met    map[term]int32     // content that comes from where paths meet: from where
	last   *arrival           // nil: nothing more is known of where paths meet

	arrivals map[[2]int32]*Possible // see along
}

// arrival is a place where paths meet, and the instruction from which it was come to last. What lies behind it is performed anew: of is what is known
// up to there.
type arrival struct {
	of       *Possible
	at, from int32
}

// contents are the registers that an instruction writes, and what they hold then.
type contents map[ir.Reg]term

// NewPossible looks at the kernel of a program. Of one with calls everything is possible.
func NewPossible(p *ir.Program) *Possible {
	q := &Possible{p: p, x: newTerms(mostNodes), after: map[int32]contents{}, paths: map[int32]term{}, joins: map[ir.Reg][]bool{}, writes: map[ir.Reg][]int32{},
		front: map[int32][]int32{}, met: map[term]int32{}, arrivals: map[[2]int32]*Possible{}}
	n := int32(len(p.Insts))
	next, ok := following(p)
	if q.failed = !ok || n == 0 || n > mostSteps; q.failed {
		return q
	}
	q.before = make([][]int32, n)
	for i := range n {
		for _, to := range next(i) {
			if to >= 0 && to < n {
				q.before[to] = append(q.before[to], i)
			}
		}
	}
	q.failed = !guarded(func() {
		q.s = newSide(q.x, &plan{}, p, p, nil)
		q.ask = newSweeper(q.x)
		q.ask.b.memory = func(term) (term, bool) { return 0, false }
	})
	q.up = flowgraph.Dominators(int(n), []int32{0}, next, func(i int32) []int32 { return q.before[i] })
	q.frontiers()
	return q
}

// following is where control may go from an instruction; false if that is not known of one. In machine code lanes that wait for each other go on
// where a convergence barrier says that was set before.
func following(p *ir.Program) (next func(int32) []int32, known bool) {
	targets := map[ir.Reg][]int32{}
	for i := range p.Insts {
		f, ok := p.Insts[i].Do.(*ir.Flow)
		if ok && f.Kind == ir.BarrierSet {
			targets[f.Bar] = append(targets[f.Bar], f.Target)
			targets[ir.None] = append(targets[ir.None], f.Target)
		}
		if ok && (f.Kind == ir.Call || f.Kind == ir.CallAt || f.Kind == ir.Indirect && f.Targets == nil || f.Kind == ir.WarpCollective || f.Kind == ir.CollectiveEnd) {
			return nil, false
		}
	}
	for i := range p.Insts { // what was set may have been moved
		in := &p.Insts[i]
		for _, r := range in.Written() {
			if f, ok := in.Do.(*ir.Flow); targets[r] != nil && (!ok || f.Kind != ir.BarrierSet) {
				targets[r] = targets[ir.None]
			}
		}
		for _, o := range slices.Concat(in.Pre, in.Post) {
			if targets[o.Dst] != nil {
				targets[o.Dst] = targets[ir.None]
			}
		}
	}
	return func(i int32) []int32 {
		if f, ok := p.Insts[i].Do.(*ir.Flow); ok && f.Kind == ir.BarrierWait {
			if list := targets[f.Bar]; list != nil {
				return slices.Concat(p.After(i), list)
			}
			return slices.Concat(p.After(i), targets[ir.None])
		}
		return p.After(i)
	}, true
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
	if q.failed || q.misses > mostMisses {
		return false
	}
	var meets []int32
	known := guarded(func() {
		here, what := q.claimed(at, r, is)
		if never = q.impossible(here, what); !never {
			meets = q.meets(what)
		}
	})
	if !known {
		q.misses++
	}
	for i := 0; i < len(meets) && !never; i++ {
		never = true
		for _, from := range q.before[meets[i]] {
			never = never && guarded(func() {
				here, what := q.along(meets[i], from).claimed(at, r, is)
				never = q.impossible(here, what)
			}) && never
		}
	}
	return never
}

// claimed are the conditions under which an instruction is come to, and that a register has a truth there.
func (q *Possible) claimed(at int32, r ir.Reg, is bool) (here, what term) {
	here, what = q.path(at), q.x.num(1, 1)
	if r != ir.None {
		what = q.x.resize(q.value(at, r), 1)
	}
	if !is {
		what = q.x.not(what)
	}
	return here, what
}

// impossible reports whether two conditions never hold together.
func (q *Possible) impossible(here, what term) bool {
	c := claim{guard: here, a: what, b: q.x.num(1, 0)}
	return q.ask.agree(c) && q.ask.equal(c.guard, c.a, c.b, mostConflicts)
}

// Bounds of what is told apart: places where paths meet, and the paths that meet in one.
const (
	mostMeets = 3
	mostPaths = 8
	// mostConflicts is how long the solver looks for one answer.
	mostConflicts = 4000
	// mostMisses is how many questions may turn out to be too large before none is asked any more.
	mostMisses = 8
)

// meets are the places where paths meet that bring what a term is made of.
func (q *Possible) meets(of term) (meets []int32) {
	seen, list := map[term]bool{}, []term{of}
	for len(list) > 0 && len(meets) < mostMeets {
		t := list[0]
		if list = list[1:]; seen[t] {
			continue
		}
		seen[t] = true
		if at, ok := q.met[t]; ok && at > 0 && len(q.before[at]) <= mostPaths && !slices.Contains(meets, at) {
			meets = append(meets, at)
		}
		list = append(slices.Clone(q.x.at(t).args), list...)
	}
	return meets
}

// along is what is possible behind a place if it was come to from an instruction last. That proves by induction what holds in each iteration of a
// loop: of the iteration before nothing is known but what its own jumps say.
func (q *Possible) along(at, from int32) *Possible {
	p := q.arrivals[[2]int32{at, from}]
	if p == nil {
		behind := *q
		p = &behind
		p.after, p.paths, p.last = map[int32]contents{}, map[int32]term{}, &arrival{q, at, from}
		q.arrivals[[2]int32{at, from}] = p
	}
	return p
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
		if n := len(q.before[i]); n == 0 || n == 1 && i > 0 { // a thread begins with the first one
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
	if q.s.uniform[r] && !q.once(r) { // other lanes write it, too
		return q.unknown(64, "uniform", at, r)
	}
	joins := q.joinsOf(r)
	for {
		switch l := q.last; {
		case l != nil && at == l.at && joins[at]:
			return l.of.behind(l.from, r)
		case l != nil && at == l.at:
			return l.of.value(at, r)
		case joins[at]:
			t := q.unknown(64, "at", at, r)
			q.met[t] = at
			return t
		}
		if at = q.up[at]; at < 0 {
			return q.x.named(64, fmt.Sprintf("first: %d", r), true)
		}
		if t, ok := q.results(at)[r]; ok {
			return t
		}
	}
}

// once reports whether one operation of constants alone writes a register: then no other lane writes something else.
func (q *Possible) once(r ir.Reg) bool {
	if len(q.writes[r]) != 1 {
		return false
	}
	in := &q.p.Insts[q.writes[r][0]]
	n := 0
	for _, o := range slices.Concat(in.Pre, in.Post) {
		if o.Dst != r {
			continue
		}
		for _, s := range o.Src {
			if _, ok := q.s.fixed[s]; !ok && s != ir.None {
				return false
			}
		}
		n++
	}
	return n == 1 && in.Guard < 0 && !slices.Contains(in.Written(), r)
}

// behind is what a register holds where an instruction has been performed.
func (q *Possible) behind(at int32, r ir.Reg) term {
	if t, ok := q.results(at)[r]; ok {
		return t
	}
	return q.value(at, r)
}

// unknown is content of which nothing is known; what is performed behind an arrival has its own.
func (q *Possible) unknown(w int, what string, at int32, r ir.Reg) term {
	if q.last != nil {
		what = "again " + what
	}
	return q.x.named(w, fmt.Sprintf("%s %d: %d", what, at, r), true)
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
			t := x.op(o, &args)
			if (o.Code == ir.Div || o.Code == ir.Rem) && !o.Type.Float() { // by zero it may be anything
				d := x.resize(args[1], o.Type.Bits())
				t = x.ite(x.eq(d, x.num(x.width(d), 0)), x.resize(q.unknown(64, "quotient", at, o.Dst), x.width(t)), t)
			}
			if o.Dst >= 0 {
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
	return q.unknown(w, "result", at, r)
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
		if l := q.last; l != nil && at == l.at {
			t = q.x.and(l.of.path(at), l.of.path(l.from))
			if c, ok := l.of.jump(l.from, at); ok {
				t = q.x.and(t, c)
			}
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
	for _, b := range q.before[at] {
		if b != from && !q.dominates(at, b) {
			return 0, false
		}
	}
	return q.jump(from, at)
}

// jump is the condition under which control goes from an instruction to one of those behind it.
func (q *Possible) jump(from, at int32) (term, bool) {
	f, ok := q.p.Insts[from].Do.(*ir.Flow)
	if !ok || f.Kind != ir.Jump && f.Kind != ir.Exit && f.Kind != ir.Trap && f.Kind != ir.Return || f.Cond != ir.None || q.p.Insts[from].Guard < 0 {
		return 0, false
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
