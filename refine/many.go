package refine

import (
	"maps"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

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

// integers are the counts that are no floating-point numbers.
func (c *comparison) integers() []int64 {
	used := c.used
	return slices.DeleteFunc(c.counts(), func(at int64) bool { return used[at].kind == emu.Float32 || used[at].kind == emu.Float64 })
}

// huge are inputs like one with very much of one thing, each of another one: a loop of many threads that each do several things ends by its own
// count.
func (c *comparison) huge(of *Input) (list []*Input) {
	for _, at := range c.integers() {
		if len(list) < mostHuge && c.o.Grid == ([3]int{}) && of.Cluster == ([3]int{}) {
			in := *c.search.with(of, at, false, thatMany)
			in.Grid = [3]int{1, 1, 1}
			list = append(list, &in)
		}
	}
	return list
}

// aliased are inputs like one on which pointers among the parameters are one, or one a little behind another: what is stored by one is loaded
// by another, at once or in a later iteration.
func (c *comparison) aliased(of *Input) (list []*Input) {
	used := c.used
	at := slices.DeleteFunc(slices.Sorted(maps.Keys(used)), func(at int64) bool { return used[at].kind != emu.Pointer })
	if len(at) < 2 {
		return nil
	}
	point := func(of *Input, i, j int64, behind uint64) *Input {
		return c.search.with(of, i, true, c.search.param(of, j, true)+behind)
	}
	all := of
	for _, i := range at {
		all = point(all, i, at[0], 0)
	}
	list = append(list, all)
	for _, i := range []int64{at[len(at)-1], at[0]} {
		for _, j := range at {
			for _, p := range [][2]int64{{i, j}, {j, i}} {
				if i != j && len(list) < mostAliased {
					list = append(list, point(of, p[0], p[1], 8))
				}
			}
		}
	}
	return list
}

// mostAliased bounds the inputs on which pointers are aliases.
const mostAliased = 7

// pairs are inputs with several of two things, each two in turn, and one of all others, or a few: the window of a pool that is wide in an
// image that is wide, of one channel.
func (c *comparison) pairs() (list []*Input) {
	if c.o.Grid != ([3]int{}) {
		return nil
	}
	at, r := c.integers(), random(c.o.Seed)
	for _, few := range []int{1, 3} {
		left := mostPairs
		for i := range at {
			for j := i + 1; j < len(at) && left > 0; j++ {
				in := c.input(0)
				for k, n := range at {
					v := uint64(1 + r.below(few))
					if k == i || k == j {
						v = multiple
					}
					in = c.search.with(in, n, false, v)
				}
				list, left = append(list, in), left-1
			}
		}
	}
	return list
}

// multiple is enough for loops that are unrolled by four to begin three times, and to leave a rest. mostPairs bounds the inputs that have it,
// of either kind.
const (
	multiple  = 13
	mostPairs = 66
)

// thatMany is very much, and a multiple of 8: vectors are whole. mostHuge bounds the inputs that have it.
const (
	thatMany = 34824
	mostHuge = 4
)

// negative are inputs whose numbers are small and have a sign, all of them, all the same, or one; or two: what treats them as great ones, or does
// not, shows.
func (c *comparison) negative() (few, pairs []*Input) {
	of, used := c.input(0), c.used
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
		return nil, nil
	}
	all, least := of, of
	for i, at := range some {
		all, least = negate(all, at), c.search.with(least, at, used[at].bytes == 8, ^uint64(1)) // -2
		if len(some) > 1 && len(few) < mostAlone {
			few = append(few, negate(of, at))
		}
		for _, other := range some[:i] {
			if len(some) > 2 && len(pairs) < mostNegative {
				pairs = append(pairs, negate(negate(of, at), other))
			}
		}
	}
	return append([]*Input{all, least}, few...), pairs
}

const mostAlone, mostNegative = 4, 10

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
			in.Block[0], in.Block[axis] = max(in.Block[0]/(2+2*n), 16), 2+2*n
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
