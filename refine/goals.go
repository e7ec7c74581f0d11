package refine

import (
	"cmp"
	"maps"
	"slices"
)

// goal is an outcome of an instruction that no run has had.
type goal struct {
	best  map[asked]*seen // the closest operands of each comparison that decides
	newer map[asked]*seen // closer ones, of which no inputs were made yet
	steep map[asked]*seen // the closest ones that were compared with others
	todo  []planned
	tries int
	cost  int64 // of the program's runs that were made for it
}

// planned is an input to try, and what the program's run of it costs if a thread does what one of the input does that it was made of.
type planned struct {
	in   *Input
	cost int64
}

// plans are inputs that were made of one.
func (s *search) plans(of *Input, list []*Input) (out []planned) {
	for _, in := range list {
		out = append(out, planned{in, s.costs[of] / int64(of.threads()) * int64(in.threads())})
	}
	return out
}

// asked is a comparison: an instruction, and what its operands depend on.
type asked struct {
	at   int32
	from words
}

func (a asked) compare(b asked) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from))
}

// mostTries bounds the inputs that are made for one goal.
const mostTries = 20

// observe is told what decided about an instruction with an open outcome.
func (s *search) observe(at spot, x *seen) {
	g := s.goals[at]
	if g == nil {
		g = newGoal()
		s.goals[at] = g
		s.order = append(s.order, at)
	}
	if g.tries < mostTries {
		s.note(g, x)
	}
}

func newGoal() *goal {
	return &goal{best: map[asked]*seen{}, newer: map[asked]*seen{}, steep: map[asked]*seen{}}
}

// note keeps what a comparison has compared if its operands were closer than before, or, once for each that was, if they were not on
// another input: that tells how they change.
func (s *search) note(g *goal, x *seen) {
	key := asked{x.at, x.from}
	was := g.newer[key]
	if was == nil {
		was = g.best[key]
	}
	switch {
	case was == nil || magnitude(x.distance()) < magnitude(was.distance()):
		g.newer[key] = x
	case !x.fault && g.best[key] == was && was.in != x.in && was.distance() != x.distance() && g.steep[key] != was:
		g.steep[key] = was
		g.todo = append(s.plans(x.in, s.secants(was, x)), g.todo...)
	}
}

// plan makes inputs of what was observed since the last time: those before them are left for later. What other comparisons lack is
// tried on the input on which one has come closer: all of them may have to agree.
func (s *search) plan(g *goal) {
	if len(g.newer) == 0 {
		return
	}
	var list, others []planned
	var in *Input
	for _, key := range slices.SortedFunc(maps.Keys(g.newer), asked.compare) {
		x, was := g.newer[key], g.best[key]
		if was != nil && !x.fault {
			list = append(list, s.plans(x.in, s.secants(was, x))...)
		}
		if y := s.lean(x); y != nil {
			few := s.plans(y.in, s.nearer(y))
			list = append(list, few[:min(len(few), mostLean)]...)
		}
		list = append(list, s.plans(x.in, s.nearer(x))...)
		g.best[key], in = x, x.in
	}
	for _, key := range slices.SortedFunc(maps.Keys(g.best), asked.compare) {
		if x := *g.best[key]; x.in != in && g.newer[key] == nil {
			x.in = in
			others = append(others, s.plans(x.in, s.nearer(&x))...)
		}
	}
	clear(g.newer)
	if in != nil && slices.ContainsFunc(slices.Collect(maps.Values(g.best)), func(x *seen) bool { return x.in == in && x.distance() == 0 }) {
		list, others = others, list // its own operands are equal
	}
	g.todo = slices.Concat(list, others, g.todo)
	g.todo = g.todo[:min(len(g.todo), 4*mostTries)]
}

// closest are the closest operands of each comparison that decides about an instruction.
func (s *search) closest(at spot) (out []*seen) {
	g := s.goals[at]
	if g == nil {
		return nil
	}
	s.plan(g)
	for _, key := range slices.SortedFunc(maps.Keys(g.best), asked.compare) {
		out = append(out, g.best[key])
	}
	return out
}

// mostLean bounds the inputs that are made of a lean one before others are.
const mostLean = mostTries / 2

// lean is a comparison as it is made on a cheaper input, with the same operands: on the cheapest one on which it is made, with the
// numbers on which the operands depend. Nil if there is none.
func (s *search) lean(x *seen) *seen {
	in := s.made[showing{x.at, 0}].in
	if x.machine {
		in = s.cheap[x.at]
	}
	cost := s.costs[in]
	if in == nil || x.fault || x.from&ofMemory != 0 || 2*cost > s.costs[x.in] {
		return nil
	}
	for n, at := range s.offsets {
		if x.from>>n&1 == 1 {
			in = s.with(in, at, false, s.param(x.in, at, false))
		}
	}
	one := *in
	if x.from>>maxWords != 0 {
		one.Grid, one.Block, one.Cluster = x.in.Grid, x.in.Block, x.in.Cluster
	}
	y := *x
	y.in = &one
	s.costs[&one] = cost
	return &y
}

// mostLeading is for how many inputs a goal comes first that leads to operations that write memory.
const mostLeading = 6

// rank is how soon a goal is tried: those first that lead to operations that write memory, then conditions of the program, and among these the one
// for which the least was spent, with the next input.
type rank struct {
	class int
	cost  int64
}

func (r rank) compare(s rank) int {
	return cmp.Or(cmp.Compare(r.class, s.class), cmp.Compare(r.cost, s.cost))
}

func (s *search) rank(at spot, g *goal) rank {
	r := rank{2, g.cost + g.todo[0].cost}
	switch {
	case g.tries < mostLeading && s.leads(at):
		r.class = 0
	case s.leads(at), !at.machine && s.lacks(at.inst) != 0:
		r.class = 1
	}
	return r
}

// isOpen reports whether an outcome of an instruction has not been seen.
func (s *search) isOpen(at spot) bool {
	if at.machine {
		return !s.machineCover.Insts[at.inst] || open(&s.machine.Insts[at.inst], s.machineCover, at.inst)
	}
	return !s.sourceCover.Insts[at.inst] || s.lacks(at.inst) != 0 || !s.ruledOut[at.inst] && open(&s.program.Insts[at.inst], s.sourceCover, at.inst)
}
