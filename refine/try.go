package refine

import (
	"errors"
	"fmt"

	"optcheck/emu"
	"optcheck/ir"
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
	if err == nil && (of.machine || len(a.gained) > 0 && c.depth == 0 || c.reachesMore(a)) {
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
// does not end, or faults.
func (c *comparison) wild() {
	for n := 0; n < 2 && len(c.Findings) == 0 && (n == 0 || c.spent < c.o.Search/2); n++ {
		in := c.wilder(n)
		a, err := c.reference(in)
		if err == nil && !a.Cut {
			_ = c.compare(in, a)
		}
	}
	for n, in := range c.negative() {
		if len(c.Findings) == 0 && (n < 2 || c.lacking() > 0) {
			c.try(in, spot{machine: true})
		}
	}
}

// unusual compares the two codes on inputs that do what others seldom do, if the program does something new there.
func (c *comparison) unusual() {
	list := []*Input{c.choose(c.o.Seed, Equal), c.allEqual(), c.manyBlocks(), c.plenty(Aligned, 16, 0), c.plenty(Small, 64, 5)}
	for _, in := range append(list, c.huge(c.input(0))...) {
		if in != nil && len(c.Findings) == 0 && c.lacking()+c.unshown() > 0 {
			c.try(in, spot{})
		}
	}
}

// extreme compares the two codes on floating-point numbers of any size, if the program compares such numbers and conditions lack an outcome. What is
// known of approximate functions there is less: programs with some try them last, and only for what they do for the first time.
func (c *comparison) extreme(approximate bool) {
	if !comparesFloats(c.program) {
		return
	}
	end := c.spent + c.o.Search/2
	for n := range uint64(mostExtreme) {
		if lacks := c.lacking() > 0 || !approximate && c.unshown() > 0; lacks && len(c.Findings) == 0 && c.spent < end {
			c.try(c.choose(c.o.Seed+n, Extreme), spot{machine: !approximate})
		}
	}
}

// mostExtreme bounds the inputs of floating-point numbers of any size.
const mostExtreme = 40

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

// plenty is an input with so many times as much of everything as a block has threads, and a rest: each has something to do, or several things.
func (c *comparison) plenty(w World, times, rest int) *Input {
	in := c.choose(c.o.Seed, w)
	threads := in.Block[0] * in.Block[1] * in.Block[2]
	for _, at := range c.counts() {
		if v := c.search.param(in, at, false); v < uint64(threads) {
			in = c.search.with(in, at, false, uint64(times*threads+rest))
		}
	}
	return in
}

// huge are inputs like one with very much of one thing, each of another one: a loop of many threads that each do several things ends by its own
// count.
func (c *comparison) huge(of *Input) (list []*Input) {
	used := paramKinds(c.program, c.kinds)
	for _, at := range c.counts() {
		if k := used[at].kind; k != emu.Float32 && k != emu.Float64 && len(list) < mostHuge && c.o.Grid == ([3]int{}) && of.Cluster == ([3]int{}) {
			in := *c.search.with(of, at, false, thatMany)
			in.Grid = [3]int{1, 1, 1}
			list = append(list, &in)
		}
	}
	return list
}

// thatMany is very much, and a multiple of 8: vectors are whole. mostHuge bounds the inputs that have it.
const (
	thatMany = 34824
	mostHuge = 4
)

// negative are inputs whose numbers are small and have a sign, all of them, all the same, or two: what treats them as great ones, or does not, shows.
func (c *comparison) negative() (list []*Input) {
	of, used := c.input(0), paramKinds(c.program, c.kinds)
	negate := func(in *Input, at int64) *Input {
		return c.search.with(in, at, used[at].bytes == 8, -(c.search.param(of, at, false) + 2))
	}
	var some []int64
	for _, at := range c.counts() {
		if c.search.param(of, at, false) < 1<<16 {
			some = append(some, at)
		}
	}
	if len(some) == 0 {
		return nil
	}
	all := of
	for i, at := range some {
		all = negate(all, at)
		for _, other := range some[:i] {
			if len(some) > 2 && len(list) < mostNegative {
				list = append(list, negate(negate(of, at), other))
			}
		}
	}
	least := of
	for _, at := range some {
		least = c.search.with(least, at, used[at].bytes == 8, ^uint64(1)) // -2
	}
	return append([]*Input{all, least}, list...)
}

const mostNegative = 10

// wilder is an input with numbers of any size, and a launch of as many dimensions as the program asks for.
func (c *comparison) wilder(n int) *Input {
	seed := (c.o.Seed+uint64(c.asked()))/3*3 + 2 + 3*uint64(n)
	in := c.choose(seed, Small)
	if c.o.Block != ([3]int{}) || c.program.Block != ([3]int{}) {
		return in
	}
	uses := uses(c.program)
	for axis := 1; axis < 3; axis++ {
		if uses>>axis&1 == 1 {
			in.Block[0], in.Block[axis] = max(in.Block[0]/2, 16), 2+2*n
		}
		if uses>>(3+axis)&1 == 1 && in.Cluster == ([3]int{}) {
			in.Grid[axis] = 2
		}
	}
	return in
}

// uses tells which numbers of its place in the launch a program asks for: tid and ctaid, a bit each.
func uses(p *ir.Program) (axes words) {
	for i := range p.Insts {
		if s, ok := p.Insts[i].Do.(*ir.Special); ok {
			at := ofSpecial(s.Reg)
			axes |= (at>>extents | at>>positions) & 0x3f
		}
	}
	return axes
}

// news reports whether a run performed something that those before have not.
func news(was, now *emu.Coverage) bool {
	for i := range now.Insts {
		if now.Insts[i] && !was.Insts[i] || now.Taken[i] && !was.Taken[i] || now.Passed[i] && !was.Passed[i] {
			return true
		}
	}
	return false
}
