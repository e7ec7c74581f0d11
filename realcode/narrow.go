package realcode

import "slices"

// maxNarrow bounds the graphs of single questions: the nodes of one, and of all of a kernel.
const maxNarrow, maxNarrowAll = 20_000, 400_000

// narrow is the graph of the machine code for one question: with what is known of the conditions that
// decide where control goes, or whether what is asked about is performed, and of no others. Twenty
// accesses, each under a condition of its own, make a million places otherwise. With an error it is a
// part of that graph, or none: a word of it is one of the machine code, too.
func (c *checker) narrow(asked ...int32) (*graph, [][]int32, error) {
	if c.narrowed >= maxNarrowAll {
		return nil, nil, c.exactErr
	}
	conds := len(c.mach.conds)
	steps := about(c.mach.steps, conds, asked)
	g, err := unroll(steps, 0, conds, everyCondition(conds), min(maxNarrow, maxNodes()))
	if err != nil {
		c.narrowed, err = c.narrowed+maxNarrow, c.exactErr
	}
	c.narrowed += len(g.next)
	return g, nodesOf(g, len(steps), func(n int) int32 { return g.letter[n] }), err
}

// about are the steps of a program without what does not matter to some of its letters: conditions of
// other instructions, and what such a condition is made of.
func about(steps []step, conds int, asked []int32) []step {
	out := slices.Clone(steps)
	for i := range out {
		if s := &out[i]; !slices.Contains(asked, s.letter) {
			s.letter = -1
		}
		out[i].sets = slices.Clone(out[i].sets)
	}
	for changed := true; changed; {
		changed = false
		live := liveness(out, conds)
		for i := range out {
			s := &out[i]
			idle := func(c int32) bool { // nobody asks for its value behind the step
				for _, t := range append([]int32{int32(i) + 1}, s.next...) {
					if t >= 0 && int(t) < len(out) && live[t].has(c) {
						return false
					}
				}
				return !s.ret && len(s.call) == 0
			}
			n, free := len(s.sets), !slices.ContainsFunc(s.defs, func(c int32) bool { return !idle(c) })
			s.sets = slices.DeleteFunc(s.sets, func(a assign) bool { return idle(a.dst) })
			straight := s.letter < 0 && s.cond < 0 && !s.ret && len(s.call) == 0 && slices.Equal(s.next, []int32{int32(i) + 1})
			if free = free && straight && len(s.sets) == 0 && s.guard >= 0; free {
				s.guard = -1
			}
			changed = changed || free || len(s.sets) < n || len(s.uses) > len(s.sets)
			if s.uses = nil; len(s.sets) > 0 {
				s.uses = make([]int32, len(s.sets))
			}
			for k, a := range s.sets {
				s.uses[k] = a.src
			}
		}
	}
	return out
}

// alikeUnder reports whether the words are alike in the graph with what is known of the conditions under which the instructions stand.
//
// That is a proof: the less is known of conditions, the more paths a graph has (unroll forks where it does not know), so that each path of
// the machine code is one of this graph, and a word that none of its paths has the machine code has not. TestAlikeUnder.
func (c *checker) alikeUnder(x, y int, xs, ys []int32, p policy) bool {
	n := len(c.mach.conds)
	about := newConditions(n)
	for _, i := range slices.Concat(xs, ys) {
		if guard := c.mach.steps[i].guard; guard >= 0 {
			about.add(guard)
		}
	}
	if c.part == nil || !slices.Equal(c.about, about) {
		g, err := unroll(c.mach.steps, 0, n, about, maxNodes())
		if err != nil {
			return false
		}
		c.part, c.about = g, about
		c.inPart = nodesOf(g, len(c.mach.steps), func(n int) int32 { return g.letter[n] })
	}
	c.marks[3] = make([]int32, len(c.part.next))
	return c.compareIn(c.part, c.inPart, 3, x, y, xs, ys, p) == nil
}
