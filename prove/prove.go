// Package prove shows that machine code computes what its program computes, on every input: it goes through both with terms in the place of
// numbers, on all paths at once, and proves that what others see is equal, event by event.
//
// What an operation means is said by package ir alone: each term is held against ir.Eval as it is made. What is not understood is not
// proved; nothing here accuses.
//
// One thread is looked at. What it reads is the same on both sides if it reads the same place behind the same stores and events; what
// others store into its memory between two events is the same by induction over the events. That lanes meet where the machine code needs
// them together is checked by the nesting of convergence barriers; strengths and orders are not compared here.
package prove

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"optcheck/ir"
	"optcheck/prove/sat"
	"optcheck/refine"
)

// Result says what is known of a kernel.
type Result struct {
	Proved bool
	// Why is what stands in the way of a proof.
	Why string
	// Differs tells that on some input, found by evaluating terms, the two seem to do something else: that is for the emulator to judge.
	Differs bool
	// Events and Claims were compared; Same of the claims are equal by their form, Solved by the solver.
	Events, Claims, Same, Solved int
	Terms, Gates                 int
}

// Bounds of a proof.
const (
	mostNodes      = 200000
	mostCone       = 30000 // gates of a question
	sweepConflicts = 300
	mostTries      = 8 // terms that one is compared with
	finalConflicts = 20000
	mostWork       = 6_000_000 // clauses of all questions, those of which much is to be learnt several times
)

// Prove compares a program and the machine code that was made of it.
func Prove(program, machine *ir.Program) (out *Result) {
	out = &Result{}
	x := newTerms(mostNodes)
	defer func() {
		out.Terms = len(x.nodes)
		switch e := recover().(type) {
		case nil:
		case limit:
			out.Proved, out.Why = false, e.why
		case unsupported:
			out.Proved, out.Why = false, e.why
		case disagreement:
			out.Proved, out.Why = false, fmt.Sprintf("a term of operation %d of type %s is not what is computed", e.op.Code, e.op.Type)
		default:
			panic(e)
		}
	}()
	vars := refine.Place(program.Vars, machine.SharedBase)
	a, err := walked(x, "program", program, program, vars)
	var b *side
	if err == nil {
		b, err = walked(x, "machine", machine, program, vars)
	}
	if err != nil {
		out.Why = err.Error()
		return out
	}
	w := newSweeper(x)
	claims, err := claimsOf(x, a, b)
	out.Events, out.Claims = len(a.events), len(claims)
	if err != nil {
		out.Why = err.Error()
		return out
	}
	err = w.prove(claims)
	out.Same, out.Solved, out.Gates = w.same, w.solved, len(w.b.g.ins)
	if err != nil {
		out.Why, out.Differs = err.Error(), errors.Is(err, errDiffers)
		return out
	}
	out.Proved = true
	return out
}

// walked is a program that was walked through. A thread's own memory has addresses that mean nothing to others: the lowest one is 0.
func walked(x *terms, name string, p, program *ir.Program, vars map[string]uint64) (*side, error) {
	s := newSide(x, name, p, program, vars)
	err := s.follow()
	if lowest := s.lowest; err == nil && lowest != 0 && lowest != math.MaxInt32 {
		s = newSide(x, name, p, program, vars)
		s.shift = lowest
		err = s.follow()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// follow walks, and gives what stands in the way as an error.
func (s *side) follow() (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case unsupported:
			err = errors.New(e.why)
		default:
			panic(e)
		}
	}()
	s.walk()
	return nil
}

// claim is that two terms are equal where a condition holds.
type claim struct {
	what  string
	guard term
	a, b  term
}

// claimsOf lists what must be equal: the events one by one, and memory before each and at the end.
func claimsOf(x *terms, a, b *side) (out []claim, err error) {
	if len(a.events) != len(b.events) {
		return nil, fmt.Errorf("%d events of the program are %d of the machine code", len(a.events), len(b.events))
	}
	always := x.num(1, 1)
	for i := range a.events {
		p, m := &a.events[i], &b.events[i]
		if p.what != m.what || len(p.args) != len(m.args) || p.stirs != m.stirs {
			return nil, fmt.Errorf("event %d: %s of the program is %s of the machine code", i, p.what, m.what)
		}
		if m.scope < p.scope && m.scope != ir.NoScope {
			return nil, fmt.Errorf("event %d: a narrower scope", i)
		}
		name := fmt.Sprintf("event %d", i)
		out = append(out, claim{name, always, p.guard, m.guard})
		for k := range p.args {
			if x.width(p.args[k]) != x.width(m.args[k]) {
				return nil, fmt.Errorf("event %d: an operand of another size", i)
			}
			out = append(out, claim{name, p.guard, p.args[k], m.args[k]})
		}
		if !p.stirs { // nothing is ordered by it
			continue
		}
		if out, err = x.memories(out, name, p.mem, m.mem); err != nil {
			return nil, err
		}
	}
	return x.memories(out, "the end", a.mem, b.mem)
}

// memories claims that two memories are equal: store by store.
func (x *terms) memories(out []claim, what string, a, b term) ([]claim, error) {
	always := x.num(1, 1)
	var own []claim
	for a != b {
		m, n := x.at(a), x.at(b)
		if m.kind != n.kind || m.space != n.space || m.w != n.w || m.value != n.value || m.kind == start {
			return nil, fmt.Errorf("%s: other stores: %s and %s", what, x.text(a, 3), x.text(b, 3))
		}
		if m.kind == stirred {
			own = append(own, claim{what, always, m.args[1], n.args[1]})
		} else {
			own = append(own, claim{what, m.args[3], m.args[2], n.args[2]}, claim{what, m.args[3], m.args[1], n.args[1]},
				claim{what, always, m.args[3], n.args[3]})
		}
		a, b = m.args[0], n.args[0]
	}
	slices.Reverse(own)
	return append(out, own...), nil
}

// errDiffers is that a sample refutes a claim.
var errDiffers = errors.New("differs on an input")

// sweeper proves claims, and what helps to prove them: terms of the two sides that are equal in all samples are made one, if they are.
type sweeper struct {
	x            *terms
	b            *blaster
	same, solved int
	work         int
	cones        cones
	classes      map[[samples]uint64][]term
	from         map[term]int // 1: the program's, 2: the machine code's, 3: of both
}

func newSweeper(x *terms) *sweeper {
	w := &sweeper{x: x, b: newBlaster(x), classes: map[[samples]uint64][]term{}, from: map[term]int{}}
	w.b.memory = w.memory
	return w
}

// cone marks all terms that a term consists of.
func (w *sweeper) cone(t term, side int) {
	stack := []term{t}
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.from[t]&side != 0 {
			continue
		}
		w.from[t] |= side
		stack = append(stack, w.x.at(t).args...)
	}
}

func (w *sweeper) prove(claims []claim) error {
	x := w.x
	var open []claim
	for _, c := range claims {
		if c.a == c.b {
			w.same++
			continue
		}
		for i := range samples {
			if x.vals[c.guard][i] != 0 && x.vals[c.a][i] != x.vals[c.b][i] {
				return fmt.Errorf("%s: %w: %s and %s", c.what, errDiffers, x.text(c.a, 4), x.text(c.b, 4))
			}
		}
		open = append(open, c)
		w.cone(c.a, 1)
		w.cone(c.b, 2)
		w.cone(c.guard, 1)
	}
	order := make([]term, 0, len(w.from))
	for t := range w.from {
		order = append(order, t)
	}
	slices.Sort(order)
	for _, t := range order {
		if x.at(t).kind < start || x.at(t).kind == read {
			w.sweep(t)
		}
	}
	for _, c := range open {
		if !w.equal(c.guard, c.a, c.b, finalConflicts) {
			return fmt.Errorf("%s: not proved that %s is %s", c.what, x.text(c.a, 4), x.text(c.b, 4))
		}
	}
	return nil
}

// sweep makes the gates of a term, those of another one if the two are equal.
func (w *sweeper) sweep(t term) {
	x := w.x
	n := x.at(t)
	w.b.of(t)
	if n.kind == konst || n.kind == leaf || n.kind == cat || n.kind == ext {
		return
	}
	key := x.vals[t]
	list := w.classes[key]
	for i, r := range list {
		if slices.Equal(w.b.of(r), w.b.of(t)) {
			return
		}
		alike := (x.width(r) == 1) == (n.w == 1) && w.from[r] != w.from[t]
		if i < mostTries && alike && w.equal(x.num(1, 1), r, t, sweepConflicts) {
			w.b.bits[t] = fitted(w.b.of(r), int(n.w))
			return
		}
	}
	w.classes[key] = append(list, t)
}

// fitted are bits as a word of another width: those that are cut off are 0.
func fitted(a []sat.Lit, w int) []sat.Lit {
	out := make([]sat.Lit, w)
	for i := range out {
		out[i] = bit(a, i)
	}
	return out
}

// memory finds a read of the other side that reads the same: the same place of memories whose stores are equal one by one.
func (w *sweeper) memory(t term) (term, bool) {
	x := w.x
	n := x.at(t)
	for _, r := range w.classes[x.vals[t]] {
		m := x.at(r)
		if m.kind != read || m.w != n.w || m.space != n.space || !w.holds(claim{"", x.num(1, 1), m.args[1], n.args[1]}) {
			continue
		}
		claims, err := x.memories(nil, "", m.args[0], n.args[0])
		if err == nil && !slices.ContainsFunc(claims, func(c claim) bool { return !w.holds(c) }) {
			return r, true
		}
	}
	return 0, false
}

func (w *sweeper) holds(c claim) bool {
	for i := range samples {
		if w.x.vals[c.guard][i] != 0 && w.x.vals[c.a][i] != w.x.vals[c.b][i] {
			return false
		}
	}
	return w.equal(c.guard, c.a, c.b, sweepConflicts)
}

// equal decides whether two terms are equal where a condition holds: first with what both consist of as inputs, then whole.
func (w *sweeper) equal(guard, a, b term, conflicts int) bool {
	if a == b {
		return true
	}
	g := w.b.g
	p, q, c := w.b.of(a), w.b.of(b), w.b.of(guard)
	differ := low
	for i := range max(len(p), len(q)) {
		differ = g.or(differ, g.xor(bit(p, i), bit(q, i)))
	}
	if differ = g.and(differ, c[0]); differ == low {
		return true
	}
	if w.work > mostWork || differ == high {
		return false
	}
	defer w.cones.clear()
	if !g.cone(&w.cones, append(slices.Clone(p), c...), 1, 0, mostCone) || !g.cone(&w.cones, q, 2, 0, mostCone) {
		return false
	}
	g.cone(&w.cones, []sat.Lit{differ}, 4, 3, 4*mostCone)
	if w.refuted(differ, 4, 3, conflicts) {
		return true
	}
	return g.cone(&w.cones, []sat.Lit{differ}, 8, 0, mostCone) && w.refuted(differ, 8, 0, conflicts)
}

func bit(a []sat.Lit, i int) sat.Lit {
	if i < len(a) {
		return a[i]
	}
	return low
}

// refuted reports whether a literal cannot be true; what the solver says is checked.
func (w *sweeper) refuted(l sat.Lit, cone, stop uint8, conflicts int) bool {
	n, clauses := w.b.g.question(&w.cones, l, cone, stop)
	answer, _, learnt := sat.Solve(n, clauses, conflicts)
	w.work += len(clauses) + len(w.cones.order) + 100*len(learnt)
	if answer != sat.Unsatisfiable || !sat.Check(n, clauses, learnt) {
		return false
	}
	w.solved++
	return true
}
