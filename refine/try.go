package refine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"optcheck/emu"
)

// asked is on how many inputs a kernel is executed.
func (c *comparison) asked() int {
	switch {
	case len(c.o.Inputs) > 0:
		return len(c.o.Inputs)
	case c.o.Runs == 0:
		return 8
	}
	return c.o.Runs
}

// input is one of those asked for.
func (c *comparison) input(i int) *Input {
	if len(c.o.Inputs) > 0 {
		return c.o.Inputs[i]
	}
	return c.choose(c.o.Seed+uint64(i), Small)
}

func (c *comparison) choose(seed uint64, w World) *Input {
	in := choose(c.program, c.kinds, [2][3]int{c.o.Grid, c.o.Block}, seed, w)
	in.Shared = c.o.Shared
	return in
}

// faulty reports whether a program has come to an end by what its input makes it do: an access that no memory allows, a trap.
func faulty(err error) bool {
	var f *emu.Fault
	var c *emu.Cannot
	return errors.As(err, &f) || errors.As(err, &c) && c.Input
}

// run compares the two codes on one input, or, where the program faults on it, on another one of its seed. Why it cannot is kept.
func (c *comparison) run(in *Input) {
	a, err := c.reference(in)
	few := c.fewer(in, err)
	for w := in.World + 1; faulty(err) && w < Worlds && len(c.o.Inputs) == 0; w++ {
		in = c.choose(in.Seed, w)
		a, err = c.reference(in)
	}
	for faulty(err) && few != nil {
		in = few
		a, err = c.reference(in)
		few = c.fewer(in, err)
	}
	if err == nil && a.Cut && c.o.Block == ([3]int{}) && in.Grid != [3]int{1, 1, 1} {
		in.Grid = [3]int{1, 1, 1} // it may end
		a, err = c.reference(in)
	}
	if err == nil {
		err = c.compare(in, a)
	} else {
		err = fmt.Errorf("the program: %w", err)
	}
	if err != nil {
		c.Cannot[err.Error()]++
	}
	if err == nil && a.Cut && len(c.o.Inputs) == 0 && len(c.Findings) == 0 {
		c.try(c.little(in), spot{machine: true})
	}
}

// little is an input with little to do: no count is greater than one of a few.
func (c *comparison) little(in *Input) *Input {
	for n, at := range c.counts() {
		if v := c.search.param(in, at, false); v > mostLittle {
			in = c.search.with(in, at, false, 2+(v+uint64(n))%(mostLittle-1))
		}
	}
	return in
}

// mostLittle is the greatest of them.
const mostLittle = 7

// fewer is a launch of the threads before the one that faulted; nil if there are none, or the block's size is given.
func (c *comparison) fewer(in *Input, err error) *Input {
	var f *emu.Fault
	if !errors.As(err, &f) || f.Thread == 0 || c.o.Block != ([3]int{}) || c.program.Block != ([3]int{}) || in.Cluster != ([3]int{}) {
		return nil
	}
	few := *in
	few.Grid, few.Block = [3]int{1, 1, 1}, [3]int{f.Thread, 1, 1}
	return &few
}

// try compares the two codes on an input that may say nothing. of is what it is tried for; the machine code is executed only
// if it is for its sake, or if the program reaches something new.
func (c *comparison) try(in *Input, of spot) {
	a, err := c.reference(in)
	if err == nil && a.Cut && c.o.Block == ([3]int{}) && in.Cluster == ([3]int{}) && in.Grid != [3]int{1, 1, 1} {
		small := *in
		small.Grid = [3]int{1, 1, 1} // it may end, with all that is new
		if b, err := c.reference(&small); err == nil && !b.Cut && (news(c.sourceCover, b.Cover) || !news(c.sourceCover, a.Cover)) {
			in, a = &small, b
		}
	}
	c.kept(err)
	if err == nil && a.Cut && c.promises(a) {
		if short, b := c.shorter(in); b != nil {
			in, a = short, b
		}
	}
	if err == nil && (of.machine || of.slight && a.Steps < slight || len(a.gained) > 0 && c.depth == 0 || c.reachesMore(a)) {
		before := c.unwritten() + c.unshown()
		if c.kept(c.compare(in, a)); c.unwritten()+c.unshown() < before {
			c.search.last = c.spent
		}
	}
}

// kept keeps why a searched input says nothing, if that is no fault of the input: something is not understood.
func (c *comparison) kept(err error) {
	var cannot *emu.Cannot
	if errors.As(err, &cannot) && !cannot.Input {
		c.Cannot[err.Error()]++
	}
}

// wild compares the two codes on inputs whose numbers have bits anywhere: what small ones hide shows. They say nothing where the program
// does not end soon, or faults; negative ones may be great counts, and say what the first iterations do.
func (c *comparison) wild() {
	bound := c.o.MaxSteps
	c.o.MaxSteps = cmp.Or(bound, max(4*slight, 2*c.longest))
	for n := 0; n < 2 && len(c.Findings) == 0 && (n == 0 || c.spent < c.o.Search/2); n++ {
		in := c.wilder(n)
		a, err := c.reference(in)
		if err == nil && !a.Cut {
			_ = c.compare(in, a)
		}
	}
	few, pairs := c.negative()
	for n, in := range slices.Concat(few, pairs) {
		if len(c.Findings) == 0 && (n < len(few) || c.lacking() > 0) {
			c.try(in, spot{machine: true})
		}
	}
	c.o.MaxSteps = bound
}

// unusual compares the two codes on inputs that do what others seldom do, if the program does something new there.
func (c *comparison) unusual() {
	list := []*Input{c.choose(c.o.Seed, Equal), c.allEqual(), c.manyBlocks(), c.plenty(Aligned, 16, 0), c.plenty(Small, 64, 5)}
	for _, in := range append(list, c.huge(c.input(0))...) {
		if in != nil && len(c.Findings) == 0 && c.lacking()+c.unshown() > 0 {
			c.try(in, spot{})
		}
	}
	c.flagged()
	c.several()
}

// flagged compares the two codes on inputs on which threads have come to a condition that lacks an outcome, but some words through which threads
// synchronise hold a number with which the program decides it: a state that others may be in.
func (c *comparison) flagged() {
	if !slices.Contains(slices.Collect(maps.Values(c.kinds)), emu.Flag) {
		return
	}
	type state struct {
		in    *Input
		value uint64
	}
	tried := map[state]bool{}
	next := func() *Input {
		for i := range c.unused() {
			for _, x := range c.search.closest(spot{inst: i}) {
				if x.from&ofMemory != 0 && x.b > 0 && !tried[state{x.in, x.b}] {
					tried[state{x.in, x.b}] = true
					other := *x.in
					other.Flag = uint32(x.b)
					return &other
				}
			}
		}
		return nil
	}
	for range mostFlagged {
		if in := next(); in != nil && len(c.Findings) == 0 {
			c.try(in, spot{machine: true})
		}
	}
}

// mostFlagged bounds these inputs.
const mostFlagged = 8

// several compares the two codes on inputs with several of two things, at the cost of none that come later.
func (c *comparison) several() {
	spent, flipped, bound := c.spent, c.flipped, c.o.MaxSteps
	c.o.MaxSteps = cmp.Or(bound, 4*slight)
	for _, in := range c.pairs() {
		if len(c.Findings) == 0 && c.lacking()+c.unshown() > 0 && c.spent < spent+c.o.Search/4 && c.flipped < flipped+flipSteps/4 {
			c.try(in, spot{slight: true})
		}
	}
	c.spent, c.flipped, c.o.MaxSteps = spent, flipped, bound
}

// extreme compares the two codes on floating-point numbers of any size, if the program compares such numbers and conditions lack an outcome. What is
// known of approximate functions there is less: programs with some try them last, and only for what they do for the first time.
func (c *comparison) extreme(approximate bool) {
	if !comparesFloats(c.program) {
		return
	}
	for _, in := range c.tiny() {
		if c.lacking()+c.unshown() > 0 && len(c.Findings) == 0 {
			c.try(in, spot{machine: true})
		}
	}
	end := c.spent + c.o.Search/2
	for n := range uint64(mostExtreme) {
		if lacks := c.lacking() > 0 || !approximate && c.unshown() > 0; lacks && len(c.Findings) == 0 && c.spent < end {
			c.try(c.choose(c.o.Seed+n, Extreme), spot{machine: !approximate})
		}
	}
}

// tiny are inputs in which a parameter is a subnormal number, each of another one, and memory holds the same everywhere, or zeros: what is added to a
// variance, a scale. What is made of them may be as small.
func (c *comparison) tiny() (list []*Input) {
	used := c.used
	for _, at := range slices.Sorted(maps.Keys(used)) {
		value, ok := map[emu.Kind]uint64{emu.Float32: subnormal32, emu.Float64: subnormal64}[used[at].kind]
		for _, w := range []World{Zero, Equal} {
			if ok && len(list) < mostTiny {
				in := *c.search.with(c.plenty(Small, 2, 1), at, used[at].kind == emu.Float64, value)
				in.World = w
				list = append(list, &in)
			}
		}
	}
	return list
}

// The subnormal numbers of tiny inputs, and how many of these there are at most.
const (
	subnormal32 = 0x1000
	subnormal64 = 1 << 40
	mostTiny    = 8
)

// mostExtreme bounds the inputs of floating-point numbers of any size.
const mostExtreme = 40

// last compares the two codes on inputs that reach nothing new, but on which operations differ that do the same on most: where pointers are
// aliases, where lanes are those of several rows, and on floating-point numbers of any size, unless functions are approximate.
func (c *comparison) last(approximate bool) {
	end := c.spent + c.o.Search/2
	try := func(in *Input, of spot) {
		if len(c.Findings) == 0 && c.spent < end {
			c.try(in, of)
		}
	}
	much := c.plenty(Small, 2, 1)
	for i, in := range c.aliased(much) {
		try(in, spot{machine: i == 0, slight: true})
	}
	if asksLanes(c.program) {
		for _, in := range c.folded(much) {
			try(in, spot{machine: true})
		}
	}
	if approximate || !c.floating() {
		return
	}
	for n := range leastExtreme {
		try(c.extremes(n), spot{machine: true})
	}
}

// extremes is an input of extreme numbers, every second one with the launch and the counts of another one on which the codes agreed.
func (c *comparison) extremes(n int) *Input {
	in := c.choose(c.o.Seed+uint64(n), Extreme)
	if n%2 == 0 || len(c.good) == 0 {
		return in
	}
	of := *c.good[len(c.good)-1-(leastExtreme-1-n)/2%len(c.good)] // the last one agreed on what none before had done
	of.Seed, of.World, of.Floats, of.Params = in.Seed, in.World, in.Floats, slices.Clone(of.Params)
	for at, u := range c.used {
		if end := at + int64(u.bytes); (u.kind == emu.Float32 || u.kind == emu.Float64) && end <= int64(min(len(of.Params), len(in.Params))) {
			copy(of.Params[at:end], in.Params[at:end])
		}
	}
	return &of
}

// leastExtreme is how many inputs there are of extreme numbers in any case, two of each kind: see Input.extreme.
const leastExtreme = 6

// large compares the two codes on a block of as many threads as there may be: what each warp says counts there.
func (c *comparison) large() {
	if in := c.input(0); c.program.Block == ([3]int{}) && c.o.Block == ([3]int{}) && in.Cluster == ([3]int{}) {
		in.Grid, in.Block = [3]int{1, 1, 1}, [3]int{mostBlock, 1, 1}
		c.try(in, spot{machine: true})
	}
}

// allEqual is an input with much to do, in which memory holds the same everywhere.
func (c *comparison) allEqual() *Input {
	in := *c.plenty(Small, 2, 1)
	in.World = Equal
	return &in
}

// blocks is how many a launch of many blocks has.
const blocks = 24

// manyBlocks is a launch of many blocks with enough to do, nil if there may be none.
func (c *comparison) manyBlocks() *Input {
	if uses(c.program)>>3&1 == 0 {
		return nil
	}
	return c.search.extended(c.plenty(Small, 2, 1), 3, blocks)
}
