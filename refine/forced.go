package refine

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// force compares what stands behind conditions of which no input has shown an outcome: comparisons that decide them get it, in the program
// and in the machine code, whatever they compare, and the two programs that are left are compared as any others. What agrees was compared. A
// difference says nothing: a compiler may use that no thread comes there.
func (c *comparison) force(ctx context.Context) {
	for again := c.depth < mostForced; again && c.unwritten() > 0 && *c.allowance > 0; {
		again = false
		for i := range c.program.Insts {
			at := spot{inst: int32(i)}
			if in := &c.program.Insts[i]; !open(in, c.sourceCover, at.inst) || !c.search.leads(at) {
				continue
			}
			if c.forceAt(ctx, at.inst) {
				again = true
			}
			if ctx.Err() != nil || *c.allowance <= 0 {
				return
			}
		}
	}
}

const (
	mostForced   = 12 // conditions at once
	mostDeciders = 8  // comparisons of one condition
	mostAsked    = 64 // registers that are looked at for it
)

// forceAt forces a condition of the program, and reports whether something was compared for the first time.
func (c *comparison) forceAt(ctx context.Context, at int32) bool {
	for _, s := range c.deciders(at) {
		if !c.sourceCover.Insts[s.inst] {
			continue
		}
		for _, is := range []bool{true, false} {
			if _, tried := c.attempts[attempt{s, is}]; tried {
				continue
			}
			c.attempts[attempt{s, is}] = true
			sub := c.with(map[site]bool{s: is}, nil)
			in := sub.reaches(c.good)
			if in == nil {
				continue
			}
			for _, f := range c.counterparts(s, is, in) {
				if c.adopts(ctx, c.with(f.source, f.machine)) {
					return true
				}
			}
		}
	}
	return false
}

// attempt is an outcome that a comparison was forced to have.
type attempt struct {
	site
	is bool
}

// deciders are the comparisons of the program that decide a condition.
func (c *comparison) deciders(at int32) (out []site) {
	in := &c.program.Insts[at]
	todo := []ir.Reg{in.Guard}
	if f, ok := in.Do.(*ir.Flow); ok {
		todo = append(todo, f.Cond)
	}
	for k := 0; k < len(todo) && k < mostAsked && len(out) < mostDeciders; k++ {
		if todo[k] < 0 || slices.Contains(todo[:k], todo[k]) {
			continue
		}
		for _, d := range c.definitions()[todo[k]] {
			if d.op < 0 { // an operation of the warp
				todo = append(todo, c.program.Insts[d.inst].Do.(*ir.Warp).Src)
				continue
			}
			o := d.of(c.program)
			if o.Code == ir.Cmp {
				out = append(out, d)
				continue
			}
			todo = append(todo, o.Src[:]...)
		}
	}
	return out
}

// definitions are the operations of the program that make each register; those of a warp have no number in their instruction (-1).
func (c *comparison) definitions() map[ir.Reg][]site {
	if c.defs == nil {
		c.defs = map[ir.Reg][]site{}
		for i := range c.program.Insts {
			operations(c.program, int32(i), func(s site, o *ir.Op) { c.defs[o.Dst] = append(c.defs[o.Dst], s) })
			if w, ok := c.program.Insts[i].Do.(*ir.Warp); ok {
				s := site{inst: int32(i), op: -1}
				c.defs[w.Dst], c.defs[w.Pred] = append(c.defs[w.Dst], s), append(c.defs[w.Pred], s)
			}
		}
	}
	return c.defs
}

// with is the comparison of the two codes with some of their comparisons forced. It has seen what this one has.
func (c *comparison) with(source, machine map[site]bool) *comparison {
	s, err := newComparison(forced(c.program, source), forced(c.machine, machine), c.o)
	if err != nil {
		return nil
	}
	s.allowance, s.depth, s.short = c.allowance, c.depth+1, true
	s.policies = slices.Clone(s.policies)
	for i := range s.policies { // what stands behind a condition may rest on it: its addresses, too
		s.policies[i].Anywhere = true
	}
	s.longest, s.flipped, s.flipEnd, s.tried = c.longest, c.flipped, c.flipEnd, c.tried
	s.o.Search = c.o.Search / 8
	s.sourceCover, s.machineCover = copied(c.sourceCover), copied(c.machineCover)
	s.compared, s.undefined = slices.Clone(c.compared), slices.Clone(c.undefined)
	s.good = slices.Clone(c.good)
	s.shown, s.made = maps.Clone(c.shown), map[showing]making{}
	return s
}

func copied(c *emu.Coverage) *emu.Coverage {
	return &emu.Coverage{Insts: slices.Clone(c.Insts), Taken: slices.Clone(c.Taken), Passed: slices.Clone(c.Passed)}
}

// reaches is the first of some inputs on which the program comes to something new, nil if there is none.
func (c *comparison) reaches(list []*Input) *Input {
	if c == nil {
		return nil
	}
	for _, in := range list {
		g, err := c.prepared(c.source, in, c.launch(in), fills[0])
		if err != nil {
			return nil
		}
		err = c.ran(g)
		*c.allowance -= g.Steps
		if err == nil && news(c.sourceCover, g.Cover) {
			return in
		}
	}
	return nil
}

// adopts compares forced codes, and takes over what it has found out. It reports whether that is more than before.
func (c *comparison) adopts(ctx context.Context, s *comparison) bool {
	if s == nil {
		return false
	}
	before := s.unwritten()
	for _, in := range c.good {
		if len(s.Findings) == 0 {
			s.try(in, spot{machine: true})
		}
	}
	if len(s.Findings) == 0 && s.unwritten() < before {
		s.seek(ctx)
	}
	*c.allowance -= s.spent
	if len(s.Findings) > 0 || s.unwritten() >= before {
		return false
	}
	if s.force(ctx); s.unwritten() > 0 && *c.allowance > 0 { // on more inputs
		s.explore(ctx)
		*c.allowance -= s.spent
		if len(s.Findings) > 0 {
			return false
		}
		s.force(ctx)
	}
	c.sourceCover, c.machineCover, c.compared, c.undefined, c.shown = s.sourceCover, s.machineCover, s.compared, s.undefined, s.shown
	c.flipped, c.tried = s.flipped, s.tried
	c.subs = append(append(c.subs, s), s.subs...)
	c.Forced += 1 + s.Forced
	return true
}

// forcing are outcomes that comparisons of both codes are given.
type forcing struct{ source, machine map[site]bool }

// counterparts are ways to force a comparison of the program in both codes, the likeliest first: with all comparisons that said the same on
// inputs on which it was made, or with single ones of the machine code. They are guesses.
func (c *comparison) counterparts(s site, is bool, in *Input) (out []forcing) {
	source, machine := histories{}, histories{}
	for n, in := range []*Input{c.input(0), in, c.made[showing{s.inst, 0}].in, c.wilder(0)} {
		if in != nil {
			c.observe(in, n, source, machine)
		}
	}
	said := source.said(s)
	all := forcing{source.forced(said, is), machine.forced(said, is)}
	all.source[s] = is
	if len(all.machine) == 0 {
		return nil
	}
	one := map[site]bool{s: is}
	out = append(out, all)
	if len(all.source) > 1 {
		out = append(out, forcing{one, all.machine})
	}
	for _, m := range slices.SortedFunc(maps.Keys(all.machine), site.compare) {
		if len(all.machine) > 1 && len(out) < mostDeciders {
			out = append(out, forcing{one, map[site]bool{m: all.machine[m]}})
		}
	}
	for _, f := range out {
		c.words(f.machine)
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

// observe notes what both codes compare on an input, the number of which is n.
func (c *comparison) observe(in *Input, n int, source, machine histories) {
	l := c.launch(in)
	g, err := c.prepared(c.source, in, l, fills[0])
	if err != nil {
		return
	}
	for _, w := range g.Warps {
		source.watch(c.program, w, l.Threads(), n<<32)
	}
	if err = c.ran(g); err == nil {
		c.watched(in, g, func(w *emu.Warp) { machine.watch(c.machine, w, l.Threads(), n<<32) })
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
