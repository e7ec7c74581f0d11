package refine

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// compare compares the two codes on an input of which r is the program's run; where lanes of the machine code are active together that are not in the
// program, which asks for them, also on inputs like it on which that cannot be. The error is why the run says nothing.
func (c *comparison) compare(in *Input, r *run) error {
	err := c.compareOn(in, r)
	if !errors.Is(err, regrouped) || c.regrouped == mostRegrouped {
		return err
	}
	c.regrouped++
	for _, other := range c.grouping(in) {
		if a, err := c.reference(other); err == nil && len(c.Findings) == 0 {
			_ = c.compareOn(other, a)
		}
	}
	return err
}

// mostRegrouped bounds the inputs for which others are tried.
const mostRegrouped = 16

// regrouped is that other lanes are active together.
var regrouped = &emu.Cannot{Inst: -1, Why: "the program asks which lanes are active, and others are"}

// grouping are inputs like one on which lanes are active together whatever the code: each is the only one of its warp, or all load the same,
// which is another word each time.
func (c *comparison) grouping(in *Input) []*Input {
	alone, equal := *in, *in
	equal.World, equal.Seed = Equal, in.Seed+uint64(c.regrouped)
	if c.o.Block != ([3]int{}) || c.program.Block != ([3]int{}) || in.Cluster != ([3]int{}) {
		return []*Input{&equal}
	}
	alone.Grid, alone.Block = [3]int{in.Grid[0] * in.Block[0], in.Grid[1] * in.Block[1], in.Grid[2] * in.Block[2]}, [3]int{1, 1, 1}
	return []*Input{&alone, &equal}
}

// compareOn compares the two codes on one input. What a run that says something performs is counted.
func (c *comparison) compareOn(in *Input, r *run) error {
	l, a := c.launch(in), r.Grid
	b, err := c.openRun(in, l, a, reopened{fill: fills[1], meanwhile: true})
	if err != nil {
		return fmt.Errorf("the program: %w", err)
	}
	if !c.begun { // it is the same for every input
		c.begun = true
		if f := c.begins(in); f != nil {
			c.Findings = append(c.Findings, *f)
			return nil
		}
	}
	open := opened(a, b)
	cover := emu.NewCoverage(c.code)
	f, ends, err := c.warps(in, [2]*emu.Grid{a, b}, open, cover, nil)
	if f != nil {
		was, others := f, []*emu.Grid(nil)
		for _, how := range causes {
			if b, err = c.openRun(in, l, a, how); err != nil {
				return fmt.Errorf("the program: %s: %w", racy(f), err)
			}
			others = append(others, b)
		}
		open, cover = opened(a, others...), emu.NewCoverage(c.code)
		if f, ends, err = c.warps(in, [2]*emu.Grid{a, b}, open, cover, nil); f == nil && err == nil {
			c.Cannot[racy(was)]++
		}
	}
	if early := c.o.Early; err == nil && early != nil {
		if f != nil {
			return errors.New("the machine code: it does something else without that, too")
		}
		f, _, err = c.warps(in, [2]*emu.Grid{a, b}, open, emu.NewCoverage(c.code), early)
	}
	if err != nil {
		return err
	}
	if f != nil {
		c.Findings = append(c.Findings, *f)
		return nil
	}
	if news(c.sourceCover, a.Cover) {
		c.good = append(c.good[:min(len(c.good), mostGood-1)], in)
	}
	var agree []bool
	if !defined(open) || !sameWays(a, b) { // what a jump decides may be open
		agree = c.agree(in, [2]*emu.Grid{a, b}, ends)
	}
	if c.o.Search > 0 {
		c.show(in, r, open, agree)
		for at, is := range r.gained {
			c.search.borders[at] |= is
		}
	}
	if agree != nil {
		a.Cover.Taken, a.Cover.Passed = nil, nil
	}
	c.performed(c.sourceCover, a.Cover)
	if a.Cut {
		c.forget(cover, ends)
	}
	c.performed(c.machineCover, cover)
	c.take(a, ends)
	if a.Cut {
		c.Cut++
	} else {
		c.Runs++
	}
	return nil
}

// warps compares the warps of the machine code with those of the program, one after the other, until one does something else. The two runs of
// the program differ in what nothing defines, as the policies do.
func (c *comparison) warps(in *Input, runs [2]*emu.Grid, open []*undefined, cover *emu.Coverage, early *Early) (*Finding, []*lane, error) {
	var ends []*lane
	l := c.launch(in)
	for w := range runs[0].Warps {
		f, lanes, err := c.replayBoth(runs, open, l, in, w, cover, early)
		if err != nil {
			return nil, nil, fmt.Errorf("the machine code: %w", err)
		}
		if f != nil && c.tried > trialSteps*c.size() {
			return nil, nil, errors.New("the program: which of its loads matter takes too long to find out")
		}
		if f != nil {
			return f, nil, nil
		}
		ends = append(ends, lanes...)
	}
	return nil, ends, nil
}

// agree closes what is open in warps that do the same in both codes whichever of two contents nothing defines. What such a warp stores is
// compared, though PTX leaves it undefined: it is the same function of that content. ends are the lanes of all warps; the result tells which
// warps do.
func (c *comparison) agree(in *Input, runs [2]*emu.Grid, ends []*lane) (warps []bool) {
	l := c.launch(in)
	for w, lanes := 0, ends; len(lanes) >= emu.Lanes; w, lanes = w+1, lanes[emu.Lanes:] {
		agrees := true
		for i := 0; agrees && i < len(runs); i++ {
			g, p := runs[i], emu.Policy{Fill: fills[i], Reverse: i == 1, TrapEnds: true, Anywhere: c.depth > 0}
			agrees = c.performs(in, g, closed(g), l, w, p, reading{})
		}
		for _, th := range lanes[:emu.Lanes] {
			if agrees && th != nil {
				th.open = &undefined{}
			}
		}
		warps = append(warps, agrees)
	}
	return warps
}

// blockOf is the number of the block of a warp of a run.
func blockOf(g *emu.Grid, l *emu.Launch, warp int) int { return warp / max(1, len(g.Warps)/l.Blocks()) }

// closed says of a run that nothing is open in it.
func closed(g *emu.Grid) []*undefined {
	out := make([]*undefined, len(g.Records))
	for i := range out {
		out[i] = &undefined{}
	}
	return out
}

// defined reports whether all that a run of the program did is, but for which NaN a NaN is.
func defined(open []*undefined) bool {
	return !slices.ContainsFunc(open, func(u *undefined) bool { return u.all || len(u.values)+len(u.inputs)+len(u.words) > 0 })
}

// sameWays reports whether two runs of the program have taken the same jumps.
func sameWays(a, b *emu.Grid) bool {
	return slices.Equal(a.Cover.Taken, b.Cover.Taken) && slices.Equal(a.Cover.Passed, b.Cover.Passed)
}

// performed takes over what a run performed.
func (c *comparison) performed(all, now *emu.Coverage) {
	if merge(all, now) {
		c.grown++
	}
}

// merge takes over what a run performed, and reports whether something is new.
func merge(to, from *emu.Coverage) (grown bool) {
	take := func(to, from []bool) {
		for i := range from {
			grown = grown || from[i] && !to[i]
			to[i] = to[i] || from[i]
		}
	}
	take(to.Insts, from.Insts)
	take(to.Taken, from.Taken)
	take(to.Passed, from.Passed)
	return grown
}

// policies are both orders of diverged lanes, with two contents for what nothing defines. With the last one lanes come apart wherever machine
// code asks whether they are.
var policies = [...]emu.Policy{{Fill: fills[1], TrapEnds: true}, {Fill: fills[0], Reverse: true, TrapEnds: true}, {Fill: fills[1], Apart: true, TrapEnds: true}}

// policiesOf are those that machine code is executed with: all that may differ.
func policiesOf(machine *ir.Program) []emu.Policy {
	asks := slices.ContainsFunc(machine.Insts, func(in ir.Inst) bool {
		f, ok := in.Do.(*ir.Flow)
		return ok && (f.Kind == ir.JumpApart || f.Kind == ir.JumpTogether)
	})
	if !asks {
		return policies[:2]
	}
	return policies[:]
}

// reading is how machine code is read where it may perform one of several operations of the record: late loads are the first ones on which
// something depends, not the first ones that they can be; eager read-modify-writes are those of as many lanes as they can be, not of those that
// performed it together; where a barrier of the warp needs no instruction, a lane has met the others behind it when it reads what another warp
// has stored.
type reading struct{ late, eager, met bool }

var readings = [...]reading{{}, {late: true}, {eager: true}, {late: true, eager: true}, {met: true}, {late: true, met: true}, {eager: true, met: true},
	{late: true, eager: true, met: true}}

// inOrder are the readings, the one that was right last first.
func (c *comparison) inOrder() []reading {
	rest := slices.DeleteFunc(slices.Clone(readings[:]), func(r reading) bool { return r == c.reading })
	return append([]reading{c.reading}, rest...)
}

// replayBoth replays a warp with both orders of diverged lanes and two undefined contents. The code is right if it performs the record in one of
// the readings; with other undefined content than the first run has, also if it performs what the second run does with that: memory holds it, too.
// The error is that nothing can be said.
func (c *comparison) replayBoth(runs [2]*emu.Grid, open []*undefined, l *emu.Launch, in *Input, w int,
	cover *emu.Coverage, early *Early) (*Finding, []*lane, error) {
	var found [len(policies)]*accuse
	var ends []*lane
	var last [len(policies)]*emu.Coverage
	var held [len(policies)]*otherwise
	g, ref := runs[0], runs[0].Warps[w]
	block, id := blockOf(g, l, w), ref.ID
	again := func(i int) func(*emu.Grid, []*undefined, *emu.Code) error {
		return func(g *emu.Grid, open []*undefined, code *emu.Code) error {
			return c.newReplay(in, g, open, code, l, block, id, c.policies[i], readings[len(readings)-1]).run(c, ref)
		}
	}
	for i, p := range c.policies {
		for n, how := range c.inOrder() {
			begin := func() *replay { return c.newReplay(in, g, open, c.code, l, block, id, p, how) }
			r, seen := begin(), &otherwise{}
			if early != nil {
				r, seen = early.perform(c, ref, begin)
			}
			if c.o.Search > 0 && i == 0 && n == 0 && early == nil {
				c.search.follow(in, true, r.w)
			}
			err := r.run(c, ref)
			c.spent += r.cost(c)
			// ptxas counts loops of diverged lanes in uniform registers, of which a warp has one set: nobody else runs meanwhile.
			if early == nil && errors.As(err, new(*accuse)) && len(c.machine.Uniform) > 0 {
				patient := p
				patient.Patient = true
				if other := c.newReplay(in, g, open, c.code, l, block, id, patient, how); other.run(c, ref) == nil {
					r, err = other, nil
					c.spent += r.cost(c)
				}
			}
			merge(cover, r.w.Cover)
			last[i] = r.w.Cover
			a, err := accused(ref, r, err)
			if err != nil {
				return nil, nil, err
			}
			if a == nil || ends == nil {
				ends = r.lanes[:]
			}
			c.Compared += r.compared()
			c.Early += seen.count
			if early == nil || a == nil || found[i] == nil { // what another content changes shows best as the code is written
				found[i], held[i] = a, seen
			}
			if a == nil {
				c.reading = how
				break
			}
		}
		if found[i] != nil && early == nil && p.Fill == fills[1] && !defined(open) && c.performs(in, runs[1], open, l, w, p, readings[:]...) {
			found[i] = nil
		}
	}
	for i, a := range found {
		if a == nil {
			continue
		}
		f := &Finding{Rule: a.Rule, Why: a.Why, Input: in, Block: block, Warp: id, Lane: a.Lane, Reverse: i == 1, Both: found[0] != nil && found[1] != nil,
			Apart: policies[i].Apart, Shared: c.shares(in, g, open, l, block, id, ref, c.policies[i]),
			Source: -1, Machine: int(a.Pc), Want: a.Want, Got: a.Got, Address: a.Word.Addr(), Early: early}
		c.locate(f, a)
		if early != nil { // without it there is no difference
			shown := *early
			shown.Held, f.Early = held[i].in(f.Lane), &shown
			return f, nil, nil
		}
		approximate := approximates(c.program, g.Cover)
		forms := append(unproved(c.program, g.Cover), unproved(c.machine, last[i])...)
		if (approximate || len(forms) > 0) && c.restsOn(a, approximate, in, g, open, last[i], again(i)) {
			f.Approximate, f.Unproved = approximate, forms
		}
		return f, nil, nil
	}
	return nil, ends, nil
}

// accused is the difference that a replay ended with, nil if there is none. The error is why it says nothing.
func accused(ref *emu.Warp, r *replay, err error) (a *accuse, _ error) {
	switch {
	case err != nil && !errors.As(err, &a):
		return nil, err
	case a != nil && (r.wanders() || r.lanes[a.Lane] != nil && r.lanes[a.Lane].open.all):
		return nil, undecided
	case a != nil && !grouped(ref, r.w):
		return nil, regrouped
	}
	return a, nil
}

// performs reports whether a warp of the machine code does what the program did in a run, in one of the readings.
func (c *comparison) performs(in *Input, g *emu.Grid, open []*undefined, l *emu.Launch, w int, p emu.Policy, ways ...reading) bool {
	return slices.ContainsFunc(ways, func(how reading) bool {
		r := c.newReplay(in, g, open, c.code, l, blockOf(g, l, w), g.Warps[w].ID, p, how)
		err := r.run(c, g.Warps[w])
		c.spent += r.cost(c)
		return err == nil
	})
}

// locate names the instructions and the address of a difference.
func (c *comparison) locate(f *Finding, a *accuse) {
	if a.Event != nil {
		f.Source = int(a.Event.Inst)
		if a.Word == 0 { // an event has a place, a weak store its words
			f.Address = a.Event.Place.Addr
		}
	}
	if f.Source >= 0 {
		f.SourceNumber, f.SourceText = c.program.Insts[f.Source].Source, c.program.Insts[f.Source].Text
	}
	if f.Machine >= 0 {
		f.MachineAddr, f.MachineText = c.machine.Insts[f.Machine].Addr, c.machine.Insts[f.Machine].Text
	}
}

// shares reports whether a difference is none if diverged groups of lanes have uniform registers of their own, where a strong load of the
// program may have told lanes different things. Which of them are together then is the replay's choice: the record tells each lane its own answer.
func (c *comparison) shares(in *Input, g *emu.Grid, open []*undefined, l *emu.Launch, block, id int, ref *emu.Warp, p emu.Policy) bool {
	told := func(t *emu.Thread) bool {
		loads := func(e emu.Event) bool { return e.Kind == emu.EventLoad }
		return t != nil && slices.ContainsFunc(g.Records[t.Block*l.Threads()+t.Index].Events, loads)
	}
	if len(c.machine.Uniform) == 0 || !slices.ContainsFunc(ref.Threads[:], told) {
		return false
	}
	p.Own = true
	return slices.ContainsFunc(readings[:], func(how reading) bool {
		return c.newReplay(in, g, open, c.code, l, block, id, p, how).run(c, ref) == nil
	})
}

// grouped reports whether the lanes of a warp were told of the machine code what they were of the program: which of them are active. Machine code
// may ask again.
func grouped(program, machine *emu.Warp) bool {
	for l, told := range program.Together {
		at := 0
		for _, mask := range machine.Together[l] {
			switch {
			case at < len(told) && told[at] == mask:
				at++
			case len(told) > 0 && (at == 0 || told[at-1] != mask):
				return false
			}
		}
	}
	return true
}

// approximates reports whether a program performed an approximate function. Those that machine code begins exact divisions
// and roots with are refined until the result is exact.
func approximates(p *ir.Program, cover *emu.Coverage) bool {
	for i := range p.Insts {
		if cover.Insts[i] && p.Insts[i].Approximate() {
			return true
		}
	}
	return false
}
