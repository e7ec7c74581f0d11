package realcode

import (
	"maps"
	"slices"

	"optcheck/ptx"
)

// loops are the natural loops of a program.
type loops struct {
	list []loop
	of   []int32 // of each step the innermost loop, -1 if there is none
	*dominators
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
	l := &loops{of: make([]int32, len(steps)), dominators: dominate(next, before, entries)}
	for i := range l.of {
		l.of[i] = -1
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

// dominators are of each node the last one that is on every way to it, -1 for none.
type dominators struct {
	up, number []int32
	order      []int32 // the nodes as a search leaves them, backwards
}

func dominate(next, before [][]int32, entries []int32) *dominators {
	d := &dominators{up: make([]int32, len(next)), number: make([]int32, len(next))}
	for i := range next {
		d.up[i], d.number[i] = -1, -1
	}
	d.search(next, entries)
	for news := true; news; {
		news = false
		for _, i := range d.order {
			if slices.Contains(entries, i) {
				continue
			}
			best := int32(-1)
			for _, p := range before[i] {
				switch {
				case d.up[p] < 0 && !slices.Contains(entries, p):
				case best < 0:
					best = p
				default:
					best = d.meet(best, p)
				}
			}
			if best != d.up[i] {
				d.up[i], news = best, true
			}
		}
	}
	return d
}

// search puts the nodes in order.
func (d *dominators) search(next [][]int32, entries []int32) {
	type frame struct {
		node int32
		edge int
	}
	for _, e := range entries {
		if d.number[e] >= 0 {
			continue
		}
		d.number[e] = 0
		for work := []frame{{e, 0}}; len(work) > 0; {
			f := &work[len(work)-1]
			if f.edge == len(next[f.node]) {
				d.order = append(d.order, f.node)
				work = work[:len(work)-1]
				continue
			}
			to := next[f.node][f.edge]
			if f.edge++; d.number[to] < 0 {
				d.number[to] = 0
				work = append(work, frame{to, 0})
			}
		}
	}
	slices.Reverse(d.order)
	for n, i := range d.order {
		d.number[i] = int32(n)
	}
}

// meet is the last node on every way to two, which have one function; -1 if there is none.
func (d *dominators) meet(a, b int32) int32 {
	for a != b && a >= 0 && b >= 0 {
		if d.number[a] > d.number[b] {
			a = d.up[a]
		} else {
			b = d.up[b]
		}
	}
	return min(a, b)
}

// dominates reports whether a node is on every way to another one.
func (d *dominators) dominates(a, b int32) bool {
	for b >= 0 && d.number[b] > d.number[a] {
		b = d.up[b]
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
