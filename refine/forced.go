package refine

import (
	"context"
	"iter"
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
	for _, lanes := range []uint32{0, odd} {
		clear(c.guessed)
		for c.depth < mostForced && c.forceMany(ctx, c.likely(lanes)) { // what one has hidden shows then
		}
	}
	failed := 0
	for again := c.depth < mostForced; again && c.lacking() > 0; {
		again = false
		for i := range int32(len(c.program.Insts)) {
			if ctx.Err() != nil || *c.allowance <= 0 {
				return
			}
			leads := c.leads(i)
			if !leads && (!c.wants(i) || failed >= mostFailed) {
				continue
			}
			if c.forceAt(ctx, i) {
				again = true
			} else if !leads {
				failed++
			}
		}
	}
}

// wants reports whether a condition is forced that leads to no store: it lacks an outcome, and control comes there for the first time where
// the conditions of now are forced.
func (c *comparison) wants(at int32) bool {
	return c.lacks(at) != 0 && (c.before == nil || !c.before[at])
}

// guess is how a condition of the program may be forced in both codes, on an input where that shows something.
type guess struct {
	forcing
	in *Input
}

// likely are guesses for conditions that one comparison decides.
func (c *comparison) likely(lanes uint32) (list []guess) {
	for i := range c.unused() {
		if len(list) >= mostAtOnce || *c.allowance <= 0 {
			break
		}
		s, is, ok := c.decider(i)
		if !ok || !c.wants(i) || c.guessed[attempt{s, is}] {
			continue
		}
		c.guessed[attempt{s, is}] = true
		one := forcing{source: map[site]bool{s: is}, manner: manner{lanes: lanes}}
		if in := c.with(one).reaches(c.making(s.inst)); in != nil {
			if all := c.counterparts(s, is, in); len(all) > 0 {
				all[0].lanes = lanes
				list = append(list, guess{all[0], in})
			}
		}
	}
	return list
}

// forceMany forces all guesses at once, or, if that shows nothing, a half of them at a time.
func (c *comparison) forceMany(ctx context.Context, list []guess) bool {
	if len(list) == 0 || *c.allowance <= 0 || ctx.Err() != nil {
		return false
	}
	all := forcing{map[site]bool{}, map[site]bool{}, list[0].manner}
	for _, g := range list {
		maps.Copy(all.source, g.source)
		maps.Copy(all.machine, g.machine)
	}
	if c.adopts(ctx, c.with(all), list[len(list)-1].in) {
		for _, g := range list { // the others may show where these are not forced
			for s, is := range g.source {
				delete(c.guessed, attempt{s, is})
			}
		}
		return true
	}
	if len(list) == 1 {
		return false
	}
	first := c.forceMany(ctx, list[:len(list)/2])
	return c.forceMany(ctx, list[len(list)/2:]) || first
}

// decider is the comparison that alone decides the condition of an instruction, and the outcome that shows what is lacking.
func (c *comparison) decider(at int32) (s site, is, ok bool) {
	list := c.deciders(at)
	if len(list) != 1 || !c.sourceCover.Insts[list[0].inst] {
		return s, false, false
	}
	in, lacks := &c.program.Insts[at], c.lacks(at)
	switch {
	case lacks&(seenPerformed|seenSkipped) != 0:
		is = (lacks&seenPerformed != 0) != in.Not
	default:
		is = lacks&seenFirst != 0
	}
	return list[0], is, true
}

// lacking counts what compared runs have not seen: operations that write memory, and outcomes of conditions.
func (c *comparison) lacking() int {
	n := c.unwritten()
	for i := range c.unused() {
		n += bits.OnesCount8(c.lacks(i))
	}
	return n
}

// leads reports whether a condition has an outcome that no run has seen and that leads to a store that nobody has performed.
func (c *comparison) leads(at int32) bool {
	return open(&c.program.Insts[at], c.sourceCover, at) && c.search.leads(spot{inst: at})
}

const (
	mostForced       = 12 // conditions at once
	forcedIterations = 2  // of a loop that would not end
	mostDeciders     = 8  // comparisons of one condition
	mostAsked        = 64 // registers that are looked at for one: see makers
	mostAtOnce       = 32 // comparisons that are forced at once
	mostFailed       = 8  // conditions that could not be forced, and lead to no store
	mostReaching     = 4  // inputs on which it is tried whether it shows something
)

// forceAt forces the conditions of an instruction, and reports whether something was compared for the first time.
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
			sub := c.with(forcing{source: map[site]bool{s: is}})
			in := sub.reaches(c.making(s.inst))
			if in == nil {
				continue
			}
			for _, f := range c.counterparts(s, is, in) {
				if c.adopts(ctx, c.with(f), in) {
					return true
				}
				if f.iterations = 0; again(c.program, s.inst) && c.adopts(ctx, c.with(f), in) {
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
	operations(c.program, at, func(_ site, o *ir.Op) {
		if chooses(in, o) {
			todo = append(todo, o.Src[0])
		}
	})
	for makers := range c.makers(&todo) {
		for _, d := range makers {
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
		if len(out) >= mostDeciders {
			break
		}
	}
	return out
}

// makers are the definitions of registers one after the other, and of those that are added to them on the way: of so many at most.
func (c *comparison) makers(todo *[]ir.Reg) iter.Seq[[]site] {
	return func(yield func([]site) bool) {
		for k := 0; k < len(*todo) && k < mostAsked; k++ {
			if r := (*todo)[k]; r >= 0 && !slices.Contains((*todo)[:k], r) && !yield(c.definitions()[r]) {
				return
			}
		}
	}
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
func (c *comparison) with(f forcing) *comparison {
	s, err := newComparison(forced(c.program, f.source, f.manner), forced(c.machine, f.machine, f.manner), c.o)
	if err != nil {
		return nil
	}
	s.allowance, s.depth, s.short, s.done = c.allowance, c.depth+1, true, c.done
	s.policies = slices.Clone(s.policies)
	for i := range s.policies { // what stands behind a condition may rest on it: its addresses, too
		s.policies[i].Anywhere = true
	}
	s.need, s.idle = c.needs(), c.idle
	s.longest, s.flipped, s.flipEnd, s.tried = c.longest, c.flipped, c.flipEnd, c.tried
	s.o.Search, s.o.Solver = c.o.Search/8, nil // something else is possible there
	s.sourceCover, s.machineCover = copied(c.sourceCover), copied(c.machineCover)
	s.compared, s.undefined = slices.Clone(c.compared), slices.Clone(c.undefined)
	for at := range f.source { // a loop may have no end now
		s.o.MaxSteps = max(s.o.MaxSteps, 1<<16, 4*c.made[showing{at.inst, 0}].steps)
	}
	s.before = slices.Clone(c.sourceCover.Insts)
	s.good, s.flips, s.slight = slices.Clone(c.good), maps.Clone(c.flips), maps.Clone(c.slight)
	s.shown, s.made = maps.Clone(c.shown), map[showing]made{}
	return s
}

func copied(c *emu.Coverage) *emu.Coverage {
	return &emu.Coverage{Insts: slices.Clone(c.Insts), Taken: slices.Clone(c.Taken), Passed: slices.Clone(c.Passed)}
}

// making are inputs that may reach something new if a comparison is forced: those on which it is made first.
func (c *comparison) making(inst int32) (list []*Input) {
	for _, what := range []uint8{seenFalse, seenTrue, 0} {
		if m, ok := c.made[showing{inst, what}]; ok && !slices.Contains(list, m.in) {
			if one := *m.in; c.o.Block == ([3]int{}) && one.Cluster == ([3]int{}) && one.Grid != [3]int{1, 1, 1} {
				one.Grid = [3]int{1, 1, 1}
				list = append(list, &one)
			}
			list = append(list, m.in)
		}
	}
	return append(list, slices.DeleteFunc(slices.Clone(c.good), func(in *Input) bool { return slices.Contains(list, in) })...)
}

// reaches is the first of some inputs on which the program comes to something new, nil if there is none.
func (c *comparison) reaches(list []*Input) *Input {
	if c == nil {
		return nil
	}
	for _, in := range list[:min(len(list), mostReaching)] {
		r, err := c.reference(in)
		if r == nil {
			return nil
		}
		*c.allowance -= r.Steps
		if err == nil && c.reachesMore(r) {
			return in
		}
	}
	return nil
}

// adopts compares forced codes, on an input and on others, and takes over what it has found out. It reports whether that is more than before.
func (c *comparison) adopts(ctx context.Context, s *comparison, at *Input) bool {
	if s == nil {
		return false
	}
	try := func(in *Input, of spot) {
		if len(s.Findings) == 0 {
			s.try(in, of)
		}
	}
	try(at, spot{machine: true})
	for _, in := range c.others(at) {
		if !c.surpassed(s) {
			try(in, spot{}) // the machine code is executed if the program does something new
		}
	}
	for _, in := range c.good {
		if in != at && c.surpassed(s) {
			try(in, spot{machine: true})
		}
	}
	if len(s.Findings) == 0 && s.unwritten() < c.unwritten() {
		s.seek(ctx)
	}
	*c.allowance -= s.spent
	if len(s.Findings) > 0 || !c.surpassed(s) {
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
	c.grown++
	c.subs = append(append(c.subs, s), s.subs...)
	c.Forced += 1 + s.Forced
	return true
}

// surpassed reports whether a comparison with forced conditions has seen something that this one lacks. It may lack more, of code that is new.
func (c *comparison) surpassed(s *comparison) bool {
	if s.unwritten() < c.unwritten() {
		return true
	}
	for i := range c.unused() {
		if c.lacks(i)&^s.lacks(i) != 0 {
			return true
		}
	}
	return false
}

// others are inputs on which a forced condition may show more than on one.
func (c *comparison) others(at *Input) []*Input {
	some := func(list []*Input, n int) []*Input { return list[:min(len(list), n)] }
	negative, _ := c.negative()
	return slices.Concat(c.folded(at), some(c.more(at), 3), some(negative, 1), []*Input{c.wilder(0), c.plenty(Small, 2, 1)})
}

// forcing are outcomes that comparisons of both codes are given.
type forcing struct {
	source, machine map[site]bool
	manner
}

// manner is how comparisons are forced: so many iterations of a loop, or for ever (0), in some lanes, or in all (0).
type manner struct {
	iterations uint64
	lanes      uint32
}

// odd are the lanes that are forced where others are to go as they do.
const odd = 0xaaaaaaaa
