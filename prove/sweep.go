package prove

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/prove/sat"
)

// sweeper proves claims, and what helps to prove them: terms of the two sides that are equal in all samples are made one, if they are.
type sweeper struct {
	x            *terms
	b            *blaster
	same, solved int
	cones        cones
	classes      map[[samples]uint64][]term
	from         map[term]int // 1: the program's, 2: the machine code's, 3: of both
}

func newSweeper(x *terms) *sweeper {
	w := &sweeper{x: x, b: x.blaster, classes: map[[samples]uint64][]term{}, from: map[term]int{}}
	if w.b == nil {
		w.b = newBlaster(x)
	}
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
	var differs error
	wrong := &wrongGuess{}
	for _, c := range claims {
		if c.a == c.b {
			w.same++
			continue
		}
		if !w.agree(c) {
			if c.guess != nil {
				wrong.guesses = append(wrong.guesses, c.guess)
				continue
			}
			if differs == nil {
				differs = fmt.Errorf("%s: %w: %s and %s", c.what, errDiffers, x.text(c.a, 8), x.text(c.b, 8))
			}
		}
		open = append(open, c)
		w.cone(c.a, 1)
		w.cone(c.b, 2)
		w.cone(c.guard, 1)
	}
	switch {
	case len(wrong.guesses) > 0:
		return wrong
	case differs != nil:
		return differs
	}
	order := make([]term, 0, len(w.from))
	for t := range w.from {
		order = append(order, t)
	}
	slices.Sort(order)
	for _, t := range order {
		if x.effort < 0 {
			return errors.New(tooMuch)
		}
		if x.at(t).kind < start || x.at(t).kind == read {
			w.sweep(t)
		}
	}
	for _, c := range open {
		switch {
		case w.equal(c.guard, c.a, c.b, finalConflicts):
		case c.guess == nil:
			return fmt.Errorf("%s: not proved that %s is %s", c.what, x.text(c.a, 4), x.text(c.b, 4))
		default: // with fewer guesses it is not proved either
			wrong.guesses = append(wrong.guesses, c.guess)
		}
	}
	if len(wrong.guesses) > 0 {
		return wrong
	}
	return nil
}

// sweep makes the gates of a term, those of another one if the two are equal.
func (w *sweeper) sweep(t term) {
	x := w.x
	n, gates := x.at(t), len(w.b.g.ins)
	w.b.of(t)
	x.effort -= effortOfGate * (len(w.b.g.ins) - gates)
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
	for _, r := range w.b.reads[x.vals[t]] {
		m := x.at(r)
		if r >= t || m.w != n.w || m.space != n.space || !w.holds(claim{guard: x.num(1, 1), a: m.args[1], b: n.args[1]}) {
			continue
		}
		claims, err := x.memories(nil, "", m.args[0], n.args[0])
		if err == nil && !slices.ContainsFunc(claims, func(c claim) bool { return !w.holds(c) }) {
			return r, true
		}
	}
	return 0, false
}

// agree reports whether a claim holds in all samples.
func (w *sweeper) agree(c claim) bool {
	for i := range samples {
		if w.x.vals[c.guard][i] != 0 && w.x.vals[c.a][i] != w.x.vals[c.b][i] {
			return false
		}
	}
	return true
}

func (w *sweeper) holds(c claim) bool {
	return w.agree(c) && w.equal(c.guard, c.a, c.b, sweepConflicts)
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
	if w.x.effort < 0 || differ == high {
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
	w.x.effort -= effortOfClause * (len(clauses) + len(w.cones.order))
	answer, _, learnt := sat.Solve(n, clauses, conflicts, &w.x.effort)
	if answer != sat.Unsatisfiable || !sat.Check(n, clauses, learnt, &w.x.effort) {
		return false
	}
	w.solved++
	return true
}
