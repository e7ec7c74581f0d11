package realcode

import (
	"maps"
	"slices"

	"optcheck/internal/flowgraph"
	"optcheck/ptx"
)

// loops are the natural loops of a program.
type loops struct {
	list []loop
	of   []int32 // of each step the innermost loop, -1 if there is none
	// up is the last step before each that is on every way to it, -1 for none; number is its place in order.
	up, number, order []int32
}

// loop is where a loop begins, from where it jumps back to there, and its steps, with those of
// the loops in it.
type loop struct {
	head          int32
	latches, body []int32
}

func (l *loop) has(at int32) bool { _, ok := slices.BinarySearch(l.body, at); return ok }

// loopsOf finds the loops of a program, whose functions begin at entries: jumps back to what
// comes before on every path, with all from which such a jump can be reached without that.
func loopsOf(steps []step, entries []int32) *loops {
	next, before := make([][]int32, len(steps)), make([][]int32, len(steps))
	for i := range steps {
		next[i] = following(steps, int32(i))
		for _, t := range next[i] {
			before[t] = append(before[t], int32(i))
		}
	}
	on, back := func(i int32) []int32 { return next[i] }, func(i int32) []int32 { return before[i] }
	l := &loops{of: make([]int32, len(steps)), number: make([]int32, len(steps)), order: flowgraph.Order(len(steps), entries, on),
		up: flowgraph.Dominators(len(steps), entries, on, back)}
	for i := range l.of {
		l.of[i], l.number[i] = -1, -1
	}
	for n, i := range l.order {
		l.number[i] = int32(n)
	}
	latches := map[int32][]int32{}
	for _, i := range l.order {
		for _, t := range next[i] {
			if l.dominates(t, i) {
				latches[t] = append(latches[t], i)
			}
		}
	}
	for _, h := range l.order { // outer loops come before those in them
		if len(latches[h]) == 0 {
			continue
		}
		body := slices.Sorted(maps.Keys(reached(append(slices.Clip(latches[h]), h), func(x int32) []int32 {
			if x == h {
				return nil
			}
			return before[x]
		})))
		for _, x := range body {
			l.of[x] = int32(len(l.list))
		}
		l.list = append(l.list, loop{h, latches[h], body})
	}
	return l
}

// loops finds the loops of the machine code.
func (m *machine) loops() *loops {
	begins := slices.Clone(m.funcOf)
	for i := range m.steps {
		begins = append(begins, m.steps[i].call...)
	}
	slices.Sort(begins)
	return loopsOf(m.steps, slices.Compact(begins))
}

// every reports whether each turn of a loop comes to a step.
func (l *loops) every(in *loop, at int32) bool {
	return !slices.ContainsFunc(in.latches, func(x int32) bool { return !l.dominates(at, x) })
}

// following lists the steps that may follow one in its function.
func following(steps []step, i int32) (out []int32) {
	s := &steps[i]
	for _, t := range append(slices.Clone(s.next), i+1) {
		if t >= 0 && int(t) < len(steps) && !slices.Contains(out, t) && (t != i+1 || s.guard >= 0 || s.cond >= 0 || slices.Contains(s.next, t)) {
			out = append(out, t)
		}
	}
	return out
}

// dominates reports whether a step is on every way to another one.
func (l *loops) dominates(a, b int32) bool {
	for b >= 0 && l.number[b] > l.number[a] {
		b = l.up[b]
	}
	return a == b
}

// inst is the instruction at a step, nil if there is none.
func (s *source) inst(at int32) *ptx.Inst {
	for f, e := range s.entries {
		if at >= e && int(at-e) < len(f.Body) {
			return f.Body[at-e].Inst
		}
	}
	return nil
}
