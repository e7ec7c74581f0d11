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
	of     []int32           // of which instruction one of p, the program without calls, is a copy; -1: of none
	copies map[int32][]int32 // the other way: those to which control comes
	before [][]int32
	up     []int32               // immediate dominators
	nested []span                // see dominates
	joins  map[ir.Reg][]bool     // where several contents of a register meet
	after  map[int32]contents    // what instructions write
	paths  map[int32]term        // under which an instruction is come to
	writes map[ir.Reg][]int32    // the instructions that write a register
	front  map[int32][]int32     // dominance frontiers
	failed bool                  // what was asked for is too large, or not understood
	misses int                   // questions of which that turned out
	vain   int                   // see mostVain
	met    map[term]meetingPlace // content that comes from where paths meet
	last   *arrival              // nil: nothing more is known of where paths meet
	raw    *Possible             // nothing is counted: see step; nil in itself
	steps  map[site]step

	arrivals map[edge]*Possible // see along
	answers  map[[2]term]bool   // see impossible
}

// contents are the registers that an instruction writes, and what they hold then.
type contents map[ir.Reg]term

// NewPossible looks at the kernel of a program with all that it calls. If it is not known what that is, everything is possible.
func NewPossible(p *ir.Program) *Possible {
	q := (&Possible{copies: map[int32][]int32{}, x: newTerms(mostNodes), joins: map[ir.Reg][]bool{}, writes: map[ir.Reg][]int32{},
		front: map[int32][]int32{}, met: map[term]meetingPlace{}, steps: map[site]step{}, answers: map[[2]term]bool{}}).fresh(nil)
	inlined, ok := inline(p)
	if q.failed = !ok || len(inlined.insts) == 0; q.failed {
		return q
	}
	program := *p
	program.Insts = inlined.insts
	q.p, q.of = &program, inlined.of
	n := int32(len(q.p.Insts))
	next := following(q.p)
	q.before = make([][]int32, n)
	order := flowgraph.Order(int(n), []int32{0}, func(i int32) []int32 { return next[i] })
	for _, i := range order {
		for _, to := range next[i] {
			q.before[to] = append(q.before[to], i)
		}
		q.copies[q.of[i]] = append(q.copies[q.of[i]], i)
	}
	q.up = flowgraph.Dominators(int(n), []int32{0}, func(i int32) []int32 { return next[i] }, func(i int32) []int32 { return q.before[i] })
	q.nest(order)
	q.failed = !guarded(func() {
		q.s = newSide(q.x, &plan{}, p, p, nil)
		for i := range p.Consts {
			c := &p.Consts[i]
			if c.Lanes != 0 || !guarded(func() { q.s.fixed[c.Reg] = q.s.constant(c) }) {
				q.s.fixed[c.Reg] = q.x.named(64, fmt.Sprintf("constant %d", c.Reg), true)
			}
		}
		q.ask = newSweeper(q.x)
		q.ask.b.memory = func(term) (term, bool) { return 0, false }
		q.frontiers()
		q.raw = q.fresh(nil)
		if !q.comeBack(inlined.backs) {
			fail("a function does not return to where it was called")
		}
	})
	return q
}

// comeBack reports whether functions of machine code return to where they were called: that is what the registers hold that lead there, as far as
// they do.
func (q *Possible) comeBack(backs []back) bool {
	return !slices.ContainsFunc(backs, func(b back) bool {
		elsewhere := q.x.not(q.x.eq(q.behind(b.inst, b.reg), q.x.num(64, b.to)))
		return !q.impossible(q.x.and(q.path(b.inst), q.guard(b.inst)), elsewhere)
	})
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
func (q *Possible) Never(at int32, r ir.Reg, is bool) bool {
	return !q.failed && len(q.copies[at]) <= mostCopies && !slices.ContainsFunc(q.copies[at], func(at int32) bool { return !q.never(at, r, is) })
}

// Constant reports whether the last thing that an instruction computes is one number wherever it is performed. It is asked of every instruction:
// only a part of all terms may be made for that.
func (q *Possible) Constant(at int32) bool {
	defer func(most int) { q.x.most = most }(q.x.most)
	q.x.most = mostNodes / 8
	return !q.failed && len(q.x.nodes) < q.x.most && !slices.ContainsFunc(q.copies[at], func(at int32) bool {
		in, is := &q.p.Insts[at], false
		if n := len(in.Pre); in.Do == nil && n > 0 {
			guarded(func() { _, is = q.x.constant(q.results(at)[in.Pre[n-1].Dst]) })
		}
		return !is
	})
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
	never, known := q.answers[[2]term{here, what}]
	if !known {
		c := claim{guard: here, a: what, b: q.x.num(1, 0)}
		never = q.ask.agree(c) && q.ask.equal(c.guard, c.a, c.b, mostConflicts)
		q.answers[[2]term{here, what}] = never
	}
	return never
}

// Bounds of what is told apart: places where paths meet, and the paths that meet in one.
const (
	mostMeets = 3
	mostPaths = 8
	// mostCopies is of how many copies of an instruction is asked.
	mostCopies = 64
	// mostArrivals is how many arrivals are told apart one after the other, mostLooks how many such paths are looked at for one
	// question. Behind mostVain of them that found nothing, or half of the effort, only one arrival is told apart: questions to come
	// need the rest.
	mostArrivals = 3
	mostLooks    = 20
	mostVain     = 400
	// mostConflicts is how long the solver looks for one answer.
	mostConflicts = 4000
	// mostMisses is how many questions may turn out to be too large before none is asked any more.
	mostMisses = 8
)

// value is what a register holds where an instruction begins.
func (q *Possible) value(at int32, r ir.Reg) term {
	if t, ok := q.s.fixed[r]; ok {
		return t
	}
	if r == ir.None {
		return q.x.num(64, 0)
	}
	if q = q.seen(at); q.s.uniform[r] && !q.once(r) {
		return q.shared(at, r)
	}
	joins := q.joinsOf(r)
	for {
		switch l := q.last; {
		case l != nil && at == l.at && joins[at]:
			return l.of.behind(l.from, r)
		case l != nil && at == l.at:
			return l.of.value(at, r)
		case joins[at]:
			return q.joined(at, r)
		}
		if at = q.up[at]; at < 0 {
			return q.x.named(64, fmt.Sprintf("first: %d", r), true)
		}
		q = q.seen(at)
		if t, ok := q.results(at)[r]; ok {
			return t
		}
	}
}

// shared is what a register holds that lanes share: others may have written it where they may have run.
func (q *Possible) shared(at int32, r ir.Reg) term {
	for ; len(q.before[at]) == 1 && q.before[at][0] == at-1; at-- {
		if othersRun(q.p.Insts[at-1].Do) {
			break
		}
		if t, ok := q.results(at - 1)[r]; ok {
			return t
		}
	}
	return q.ofAll(at, r)
}

// othersRun reports whether other lanes of a warp of machine code may run behind an instruction, as far as lanes share registers: compilers use
// those between two jumps.
func othersRun(do ir.Effect) bool {
	switch do := do.(type) {
	case nil, *ir.Access, *ir.Special, *ir.Fence, *ir.Warp:
		return false
	case *ir.Flow:
		return do.Kind != ir.BarrierSet
	}
	return true
}

// ofAll is content of a register that is that of all lanes, and of which nothing else is known.
func (q *Possible) ofAll(at int32, r ir.Reg) term {
	return q.x.named(64, fmt.Sprintf("shared %d %d: %d", q.level(), at, r), false)
}

// once reports whether one operation of constants alone writes a register: then no other lane writes something else.
func (q *Possible) once(r ir.Reg) bool {
	if w := q.writes[r]; len(w) == 0 || len(w) > 1 && slices.ContainsFunc(w, func(i int32) bool { return q.of[i] < 0 || q.of[i] != q.of[w[0]] }) {
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
	return q.x.named(w, fmt.Sprintf("%s %d %d: %d", what, q.level(), at, r), true)
}

// results are what an instruction writes.
func (q *Possible) results(at int32) contents {
	q = q.seen(at)
	if c, ok := q.after[at]; ok {
		return c
	}
	defer q.x.deeper()()
	c := q.written(at, func(r ir.Reg) term { return q.value(at, r) })
	q.after[at] = c
	return c
}

// written are the registers that an instruction writes, and what they hold behind it, where others hold what is given before.
func (q *Possible) written(at int32, before func(ir.Reg) term) contents {
	x, in, c := q.x, &q.p.Insts[at], contents{}
	get := func(r ir.Reg) term {
		if t, ok := c[r]; ok {
			return t
		}
		return before(r)
	}
	ops := func(list []ir.Op) {
		for i := range list {
			o := &list[i]
			var args [4]term
			for k, r := range o.Src {
				args[k] = get(r)
			}
			t := x.op(o, &args)
			if divides(o) { // by zero it may be anything
				d := x.resize(args[1], o.Type.Bits())
				t = x.ite(x.eq(d, x.num(x.width(d), 0)), x.resize(q.unknown(64, "quotient", at, o.Dst), x.width(t)), t)
			}
			if in.Returned(o) {
				t = q.unknown(64, "returned", at, o.Dst)
			}
			if o.Dst >= 0 {
				c[o.Dst] = q.alike(at, o.Dst, t)
			}
		}
	}
	ops(in.Pre)
	for _, r := range in.Written() {
		if in.Do != nil {
			c[r] = q.alike(at, r, q.effect(at, in, r, get))
		}
	}
	ops(in.Post)
	if in.Guard >= 0 {
		g := q.performs(at, before)
		for r, t := range c {
			c[r] = q.alike(at, r, q.s.choice(g, t, before(r)))
		}
	}
	return c
}

// divides reports whether an operation divides integers.
func divides(o *ir.Op) bool { return (o.Code == ir.Div || o.Code == ir.Rem) && !o.Type.Float() }

// alike is what an instruction writes to a register. If lanes share that, it is known only if it is the same of all of them.
func (q *Possible) alike(at int32, r ir.Reg, t term) term {
	if q.s.uniform[r] && q.x.at(t).varies {
		return q.ofAll(at, r)
	}
	return t
}

// effect is what the effect of an instruction leaves in a register, where registers hold what is given: of memory and of other lanes
// nothing is known but how wide it is.
func (q *Possible) effect(at int32, in *ir.Inst, r ir.Reg, get func(ir.Reg) term) term {
	w := 64
	switch do := in.Do.(type) {
	case *ir.Special:
		return q.s.register(do.Reg)
	case *ir.Warp:
		if do.Kind <= ir.ShflBfly && len(do.Dsts) == 0 {
			return q.shuffled(at, do, r, get)
		}
	case *ir.Access:
		if do.OnlyGlobal && r == do.Done { // a read-modify-write is one of global or shared memory: PTX defines no other
			high := func(t term) term { return q.x.op(&ir.Op{Code: ir.HighWord, Type: ir.U64}, &[4]term{t}) }
			return q.x.not(q.x.eq(high(q.x.add(get(do.Addr), q.x.num(64, uint64(do.Offset)))), high(q.s.window(ir.Shared))))
		}
		if do.Kind == ir.Load && len(do.Fragments) == 0 && do.Bytes < 8 && !do.Type.Signed() {
			w = 8 * do.Bytes
		}
	}
	return q.unknown(w, "result", at, r)
}

// guard is the condition under which an instruction is performed that is come to.
func (q *Possible) guard(at int32) term {
	return q.performs(at, func(r ir.Reg) term { return q.value(at, r) })
}

// performs is guard, where registers hold what is given.
func (q *Possible) performs(at int32, before func(ir.Reg) term) term {
	in := &q.p.Insts[at]
	if in.Guard < 0 {
		return q.x.num(1, 1)
	}
	t := q.x.resize(before(in.Guard), 1)
	if in.Not {
		t = q.x.not(t)
	}
	return t
}
