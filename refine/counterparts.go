package refine

import (
	"maps"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// counterparts are ways to force a comparison of the program in both codes, the likeliest first: with all comparisons that said the same on
// inputs on which it was made, or with single ones of the machine code. They are guesses.
func (c *comparison) counterparts(s site, is bool, in *Input) (out []forcing) {
	if len(c.observed) == 0 {
		c.observe(c.input(0))
		c.observe(c.wilder(0))
	}
	c.observe(in)
	c.observe(c.made[showing{s.inst, 0}].in)
	source, machine := c.histories[0], c.histories[1]
	said := source.said(s)
	all := forcing{source: source.forced(said, is), machine: machine.forced(said, is)}
	all.source[s] = is
	if len(all.machine) == 0 {
		return nil
	}
	one := map[site]bool{s: is}
	sources, machines := slices.SortedFunc(maps.Keys(all.source), site.compare), slices.SortedFunc(maps.Keys(all.machine), site.compare)
	if len(sources) > 1 && len(sources) == len(machines) { // in the same order
		m := machines[slices.Index(sources, s)]
		out = append(out, forcing{source: one, machine: map[site]bool{m: all.machine[m]}})
	}
	out = append(out, all)
	if len(all.source) > 1 {
		out = append(out, forcing{source: one, machine: all.machine})
	}
	for _, m := range machines {
		if len(all.machine) > 1 && len(out) < mostDeciders {
			out = append(out, forcing{source: one, machine: map[site]bool{m: all.machine[m]}})
		}
	}
	for i := range out {
		c.words(out[i].machine)
		out[i].iterations = forcedIterations
	}
	return out
}

// words forces what else belongs to comparisons of high words: that they are equal, and the low words decide, is not so.
func (c *comparison) words(machine map[site]bool) {
	for _, s := range slices.SortedFunc(maps.Keys(machine), site.compare) {
		o := s.of(c.machine)
		operations(c.machine, s.inst, func(k site, e *ir.Op) {
			if e.Code == ir.Cmp && e.Cond == ir.EQ && o.Cond != ir.EQ && o.Cond != ir.NE && e.Src == o.Src {
				machine[k] = false
			}
		})
	}
}

// heard is what a thread has asked.
type heard struct {
	thread int
	relation
}

// histories are the comparisons of a code, and what they asked: tuples without doubles.
type histories map[site]*history

type history struct {
	had  map[[3]uint64]bool
	each map[int]int // of a thread
	list []tuple
}

const (
	mostThread  = 8          // tuples of a thread
	mostHistory = 4096       // of a comparison
	listened    = 0x80010113 // the lanes of each warp that are heard
)

func (h histories) add(s site, t tuple) {
	x := h[s]
	if x == nil {
		x = &history{map[[3]uint64]bool{}, map[int]int{}, nil}
		h[s] = x
	}
	k := [3]uint64{uint64(t.thread), t.a, t.b}
	if x.had[k] || x.each[t.thread] >= mostThread || len(x.list) >= mostHistory {
		return
	}
	x.had[k] = true
	x.each[t.thread]++
	x.list = append(x.list, t)
}

// watch has the comparisons of a warp noted. The threads of its launch have numbers from first on.
func (h histories) watch(p *ir.Program, w *emu.Warp, threads, first int) {
	behind(w, func(pc int32, act uint32) {
		operations(p, pc, func(s site, o *ir.Op) {
			for x := act & listened; x != 0 && o.Code == ir.Cmp; x &= x - 1 {
				l := bits.TrailingZeros32(x)
				if t := w.Threads[l]; t != nil {
					h.add(s, tuple{thread: first + t.Block*threads + t.Index, o: o, a: operand(w, o.Src[0], l), b: operand(w, o.Src[1], l)})
				}
			}
		})
	})
}

// observe notes what both codes compare on an input.
func (c *comparison) observe(in *Input) {
	if in == nil || slices.Contains(c.observed, in) {
		return
	}
	n := len(c.observed)
	c.observed = append(c.observed, in)
	l := c.launch(in)
	g, err := c.prepared(c.source, in, l, fills[0])
	if err != nil {
		return
	}
	for _, w := range g.Warps {
		c.histories[0].watch(c.program, w, l.Threads(), n<<32)
	}
	if err = c.ran(g); err == nil {
		c.watched(in, g, func(w *emu.Warp) { c.histories[1].watch(c.machine, w, l.Threads(), n<<32) })
	}
	*c.allowance -= 2 * g.Steps
}

// said are the ways to ask what a comparison has asked: with 1 if they hold when it does, with 2 if they do not.
func (h histories) said(s site) map[heard]int {
	out := map[heard]int{}
	if h[s] == nil {
		return out
	}
	for _, t := range h[s].list {
		for _, y := range sayings(t.o, t.a, t.b) {
			for _, r := range y.parts {
				out[heard{t.thread, r}] |= 1 + int(bit(y.not))
			}
		}
	}
	return out
}

// forced are the comparisons that have asked nothing but what was said, with the outcomes that they have if that one has one.
func (h histories) forced(said map[heard]int, is bool) map[site]bool {
	out := map[site]bool{}
	for s, x := range h {
		all := 0
		for _, t := range x.list {
			y := sayings(t.o, t.a, t.b)[0]
			switch way := said[heard{t.thread, y.parts[0]}]; {
			case way == 0 || way == 3:
				all |= 4
			case y.not:
				all |= 3 - way
			default:
				all |= way
			}
		}
		if all == 1 || all == 2 {
			out[s] = is == (all == 1)
		}
	}
	return out
}
