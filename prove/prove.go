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
	Terms, Gates, Loops          int
	other                        bool // loops on one side than on the other
}

// Bounds of a proof.
const (
	mostNodes      = 200000
	mostCone       = 30000 // gates of a question
	sweepConflicts = 300
	mostTries      = 8 // terms that one is compared with
	finalConflicts = 20000
	mostRejected   = 40 // guesses of what holds in loops
	mostRounds     = 12
	secondEffort   = 8_000_000 // of a second try
	effortOfClause = 16        // to make one
	effortOfGate   = 32
	effortOfTerm   = 256
)

// Effort bounds how long a proof is looked for: about so many looks at clauses, a term being many.
type Effort int

// Most proofs are found with a Quick look; one that is not takes as long as a few runs of a kernel.
const (
	Quick    Effort = 20_000_000
	Thorough Effort = 100_000_000
)

// Prove compares a program and the machine code that was made of it. Loops without a bound are cut; where the sides do not have the same
// ones, all are followed as far as it is known how often. Where the effort is more than Quick, what is not proved of the terms as they are is
// tried again with terms of the machine code that are made the program's: that takes longer.
func Prove(program, machine *ir.Program, e Effort) *Result {
	program = ir.Linked(program, machine)
	out := prove(program, machine, &plan{cuts: true, effort: e})
	cuts := !out.other
	if !cuts {
		out = prove(program, machine, &plan{effort: e})
	}
	if out.Proved || out.Differs || out.Claims == 0 || e <= Quick {
		return out
	}
	return prove(program, machine, &plan{cuts: cuts, matches: true, effort: e})
}

func prove(program, machine *ir.Program, plan *plan) (out *Result) {
	out = &Result{}
	x := newTerms(mostNodes)
	x.blaster = newBlaster(x)
	if x.effort, x.effortOfTerm = int(plan.effort), effortOfTerm; plan.matches {
		x.blaster.g.reduces = true
		x.effort, x.effortOfTerm, x.matcher = secondEffort, 0, newMatcher(x)
	}
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
	err := plan.prove(x, program, machine, out)
	for wrong := new(wrongGuess); errors.As(err, &wrong) && plan.rejected < mostRejected; {
		plan.reject(wrong.guesses)
		err = plan.prove(x, program, machine, out)
	}
	out.other = errors.As(err, new(errLoops))
	if out.Proved = err == nil; err != nil {
		out.Why, out.Differs = err.Error(), errors.Is(err, errDiffers) && out.Loops == 0
	}
	return out
}

// prove walks through both sides and proves that they are equal.
func (p *plan) prove(x *terms, program, machine *ir.Program, out *Result) error {
	a, b, err := p.follow(x, program, machine)
	if out.Loops = len(p.sides[0].heads) + len(p.sides[1].heads); err != nil {
		return err
	}
	out.Events = len(a.events)
	claims, err := claimsOf(x, a, b)
	if err != nil {
		return err
	}
	w := newSweeper(x)
	err = w.prove(claims)
	out.Claims, out.Same, out.Solved, out.Gates = len(claims), w.same, w.solved, len(w.b.g.ins)
	return err
}

// follow walks through both sides until nothing new is learnt of their loops.
func (p *plan) follow(x *terms, program, machine *ir.Program) (a, b *side, err error) {
	vars := refine.Addresses(program, machine)
	for range mostRounds {
		x.most = len(x.nodes) + mostNodes
		if a, err = walked(x, p, program, program, vars, nil); err != nil {
			return nil, nil, err
		}
		if b, err = walked(x, p, machine, program, vars, a); err != nil {
			return nil, nil, err
		}
		if len(a.cuts) != len(b.cuts) {
			return nil, nil, errLoops{len(a.cuts), len(b.cuts)}
		}
		if !p.learn(x, a, b) {
			return a, b, nil
		}
	}
	return nil, nil, errors.New("what holds in each iteration of a loop is not found")
}

// walked is a program that was walked through. A thread's own memory has addresses that mean nothing to others: the lowest one is 0.
func walked(x *terms, plan *plan, p, program *ir.Program, vars map[string]uint64, other *side) (*side, error) {
	s := &side{}
	var err error
	for again := true; again; {
		lowest := s.lowest
		s = newSide(x, plan, p, program, vars)
		s.constants()
		if s.other = other; lowest != math.MaxInt32 {
			s.shift = lowest
		}
		again, err = s.follow()
		again = again || err == nil && s.shift == 0 && s.lowest != 0 && s.lowest != math.MaxInt32
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return s, nil
}

// follow walks, and gives what stands in the way as an error. It has to walk again if a loop was not cut that must be.
func (s *side) follow() (again bool, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case tooLong:
			if s.shape.heads == nil {
				s.shape.heads = map[int32]bool{}
			}
			s.shape.heads[e.head], again = true, true
		case unsupported:
			err = errors.New(e.why)
		default:
			panic(e)
		}
	}()
	s.walk()
	return false, nil
}

// claim is that two terms are equal where a condition holds.
type claim struct {
	what  string
	guard term
	a, b  term
	guess *guess // that it follows from; nil if none
}

// guess is that a register holds in each iteration of a loop what a register of the program does.
type guess struct {
	loop *loop
	reg  ir.Reg
}

// claimsOf lists what must be equal: the events one by one, and memory before each and at the end.
func claimsOf(x *terms, a, b *side) (out []claim, err error) {
	if len(a.events) != len(b.events) {
		return nil, fmt.Errorf("%d events of the program are %d of the machine code", len(a.events), len(b.events))
	}
	always := x.num(1, 1)
	for i, c := range a.cuts {
		if out, err = x.iterations(out, c, b.cuts[i], a.shape.loop(i), b.shape.loop(i)); err != nil {
			return nil, err
		}
	}
	for i := range a.events {
		p, m := &a.events[i], &b.events[i]
		if p.what != m.what || len(p.args) != len(m.args) || p.stirs != m.stirs {
			return nil, fmt.Errorf("event %d: %s of the program is %s of the machine code", i, p.what, m.what)
		}
		if m.scope < p.scope && m.scope != ir.NoScope {
			return nil, fmt.Errorf("event %d: a narrower scope", i)
		}
		if m.apart && !p.aligned {
			return nil, fmt.Errorf("event %d: a barrier where lanes are apart", i)
		}
		name := fmt.Sprintf("event %d", i)
		out = append(out, claim{what: name, guard: always, a: p.guard, b: m.guard})
		for k := range p.args {
			if x.width(p.args[k]) != x.width(m.args[k]) {
				return nil, fmt.Errorf("event %d: an operand of another size", i)
			}
			out = append(out, claim{what: name, guard: p.guard, a: p.args[k], b: m.args[k]})
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
			return nil, fmt.Errorf("%s: other stores: %s and %s", what, x.text(a, 6), x.text(b, 6))
		}
		if m.kind == stirred {
			own = append(own, claim{what: what, guard: always, a: m.args[1], b: n.args[1]})
		} else {
			own = append(own, claim{what: what, guard: m.args[3], a: m.args[2], b: n.args[2]}, claim{what: what, guard: m.args[3], a: m.args[1], b: n.args[1]},
				claim{what: what, guard: always, a: m.args[3], b: n.args[3]})
		}
		a, b = m.args[0], n.args[0]
	}
	slices.Reverse(own)
	return append(out, own...), nil
}

// wrongGuess are guesses that are not proved.
type wrongGuess struct{ guesses []*guess }

func (w *wrongGuess) Error() string { return "what was guessed of a loop is not proved" }

// errLoops is that the sides have other numbers of loops.
type errLoops struct{ program, machine int }

func (e errLoops) Error() string {
	return fmt.Sprintf("%d loops of the program are %d of the machine code", e.program, e.machine)
}

// errDiffers is that a sample refutes a claim.
var errDiffers = errors.New("differs on an input")
