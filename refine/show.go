package refine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// What compared runs showed of a comparison: that it does not hold, that it does, and what it says of equal operands.
const (
	seenFalse = 1 << iota
	seenTrue
	seenEqual
	seenAll = seenFalse | seenTrue | seenEqual
)

// showing is an instruction of the program, and what is seen of its comparison or of one of its conditions.
type showing struct {
	inst int32
	what uint8
}

// show notes what the lanes that have just made a comparison show.
func (h *shade) show(w *emu.Warp, o *ir.Op) {
	var all uint8
	for x := h.act; x != 0 && all != seenAll; x &= x - 1 {
		all |= shows(w, o, bits.TrailingZeros32(x))
	}
	h.noted(h.last, all)
}

// noted keeps what lanes of the warp show of an instruction.
func (h *shade) noted(inst int32, all uint8) {
	for x := all; x != 0; x &= x - 1 {
		at := showing{inst, x & -x}
		if list := h.shows[at]; len(list) < mostShowing && (len(list) == 0 || list[len(list)-1] != h.number) {
			h.shows[at] = append(list, h.number)
		}
	}
}

// mostShowing is of how many warps it is known that they show something.
const mostShowing = 8

// shows is what a lane that has just made a comparison shows of it.
func shows(w *emu.Warp, o *ir.Op, l int) uint8 {
	m := ^uint64(0) >> (64 - min(max(o.Type.Bits(), 1), 64))
	what := uint8(seenFalse)
	if w.Reg(o.Dst, l)&1 == 1 {
		what = seenTrue
	}
	if (operand(w, o.Src[0], l)^operand(w, o.Src[1], l))&m == 0 || o.Cond == ir.EQ || o.Cond == ir.NE || o.Type.Float() {
		what |= seenEqual // both outcomes of equality are on both sides of its border
	}
	return what
}

const (
	mostFlips  = 12      // runs that ask whether something depends on what a comparison shows
	mostSlight = 12      // those of few instructions besides, in which little rests on anything
	slight     = 1 << 14 // fewer than so many
	flipSteps  = 1 << 25 // instructions of lanes for all of them: what is left then shows nothing
	flipAtOnce = 1 << 21 // those for what one run of the program shows
)

// show takes what a compared run shows of comparisons: of those of which another outcome would have been noticed. That is not so where what the
// program does is open, but in warps that agree with either content (nil: nothing is open).
func (c *comparison) show(in *Input, g *run, open []*undefined, agree []bool) {
	replays, nothing, most, begin, end := map[int]bool{}, closed(g.Grid), mostFlips, c.flipped, c.flipEnd
	count := c.flips
	if g.Cut { // what comes behind the cut is not noticed
		most /= 3
	} else if g.Steps < slight {
		count, most = c.slight, mostSlight
	}
	if news(c.sourceCover, g.Cover) { // more may depend on what decides whether threads come there
		most *= 2
	}
	wanders := func(warp int) bool {
		return slices.ContainsFunc(g.Of(g.Warps[warp]), func(n int) bool { return open[n].path })
	}
	now := made{in, g.Steps, g.Cut, slices.ContainsFunc(open, func(u *undefined) bool { return u.path })}
	for _, at := range slices.SortedFunc(maps.Keys(g.shows), func(a, b showing) int {
		return cmp.Or(cmp.Compare(a.inst, b.inst), cmp.Compare(a.what, b.what))
	}) {
		c.shown[at.inst] |= 0
		c.make(showing{at.inst, 0}, now)
		if c.shown[at.inst]&at.what != 0 || c.again != nil && !slices.Contains(c.again, at.inst) {
			continue
		}
		sure := func(warp int) bool { return agree == nil || warp < len(agree) && agree[warp] }
		warps := slices.DeleteFunc(slices.Clone(g.shows[at]), func(warp int) bool { return !sure(warp) && wanders(warp) })
		if c.make(at, now); at.what&seenUses != 0 && c.depth == 0 && slices.ContainsFunc(warps, sure) {
			c.shown[at.inst] |= at.what // what the machine code does there was compared
			continue
		}
		if len(warps) == 0 || count[at] >= most || c.flipped > min(end, begin+flipAtOnce) || c.dear(g) {
			continue
		}
		warp, compared := warps[count[at]%len(warps)], open // what one warp does may not matter
		if sure(warp) {
			compared = nothing
		}
		count[at]++
		if c.replays(in, g.Grid, warp, replays) && c.matters(in, g.Grid, compared, at, warp) {
			c.shown[at.inst] |= at.what
		}
	}
}

// dear reports whether to run a warp of a run again costs more than what is left for each outcome that was not shown: a cheaper run may show it.
func (c *comparison) dear(g *run) bool {
	open := len(c.again)
	if c.again == nil {
		open = c.unshown()
	}
	return g.Steps/int64(max(1, len(g.Warps))) > mostShare*(c.flipEnd-c.flipped)/int64(max(1, open))
}

// mostShare is how many times its share of what is left one outcome may cost.
const mostShare = 4

// made is an input on which a comparison shows something, and the program's run of it.
type made struct {
	in    *Input
	steps int64
	cut   bool
	open  bool // undefined content decides which way threads go
}

func (m made) compare(n made) int {
	return cmp.Or(cmp.Compare(bit(m.open), bit(n.open)), cmp.Compare(bit(m.cut), bit(n.cut)), cmp.Compare(m.steps, n.steps))
}

// make keeps the input of the shortest run that shows something of a comparison; what is 0 if it only makes it.
func (c *comparison) make(at showing, m made) {
	if was, ok := c.made[at]; !ok || m.compare(was) < 0 {
		c.made[at] = m
	}
}

// matters reports whether it would be noticed if a warp did what the program does, but for a comparison that says the opposite where it shows
// something: the warp runs alone against the record of which it is a part, but for what is open.
func (c *comparison) matters(in *Input, was *emu.Grid, open []*undefined, at showing, warp int) bool {
	noticed := func(err error) bool {
		var a *accuse
		return errors.As(err, &a) || err != nil && defined(open)
	}
	if at.what&seenUses != 0 {
		code, err := c.otherwiseUsed(at)
		return err == nil && noticed(c.alone(code, in, was, open, warp, func(*emu.Warp) {}))
	}
	var truths []ir.Reg
	var asked *ir.Op
	for _, o := range slices.Concat(c.program.Insts[at.inst].Pre, c.program.Insts[at.inst].Post) {
		if o.Code == ir.Cmp {
			asked = &o
		}
		if o.Code == ir.Cmp || o.Type == ir.Pred {
			truths = append(truths, o.Dst)
		}
	}
	return noticed(c.alone(c.source, in, was, open, warp, func(w *emu.Warp) {
		w.Computed = func(pc int32, act uint32) {
			for x := act; x != 0 && pc == at.inst; x &= x - 1 {
				if l := bits.TrailingZeros32(x); shows(w, asked, l)&at.what != 0 {
					for _, r := range truths {
						w.SetReg(r, l, w.Reg(r, l)^1)
					}
				}
			}
		}
	}))
}

// replays reports whether a warp does, alone, what the record has: else a difference says nothing. known has the answers.
func (c *comparison) replays(in *Input, g *emu.Grid, warp int, known map[int]bool) bool {
	does, ok := known[warp]
	if !ok {
		does = c.alone(c.source, in, g, closed(g), warp, func(*emu.Warp) {}) == nil
		known[warp] = does
	}
	return does
}

// alone replays a warp of the program, or of one that was made of it, against the record of the run that it is from. The error is what differs, or why nothing can be said.
func (c *comparison) alone(code *emu.Code, in *Input, was *emu.Grid, open []*undefined, warp int, prepare func(w *emu.Warp)) error {
	l, ref, policy := c.launch(in), was.Warps[warp], was.Policy
	policy.MaxSteps = 0
	r := c.newReplay(in, was, open, code, l, blockOf(was, l, warp), ref.ID, policy, reading{})
	prepare(r.w)
	err := r.run(c, ref)
	c.flipped += r.cost(c)
	return err
}

// mostSecond bounds the inputs of a second look at one comparison.
const mostSecond = 20

// lookAgain tries comparisons that are undecided once more: on inputs that show something of them, on one with much to do, and on others
// that are like the first ones.
func (c *comparison) lookAgain(ctx context.Context, left []int32) {
	clear(c.flips)
	clear(c.slight)
	c.again = left
	c.flipEnd = c.flipped + flipSteps
	for end := c.spent + c.o.Search; len(left) > 0; left = left[1:] {
		i := left[0]
		var list, like []*Input
		for _, what := range []uint8{seenFalse, seenTrue, seenEqual, 0} {
			if m, ok := c.made[showing{i, what}]; ok && (what == 0 || c.shown[i]&what == 0) && !slices.Contains(list, m.in) {
				list = append(list, m.in)
				like = slices.Concat(like, c.folded(m.in), filled(m.in), c.aliased(m.in), c.huge(m.in), c.otherwise(m.in))
			}
		}
		list = append(append(list, c.plenty(Aligned, 16, 0)), like...)
		for _, in := range list[:min(len(list), mostSecond)] {
			if c.shown[i] == seenAll || c.flipped > c.flipEnd || c.spent > end || len(c.Findings) > 0 || ctx.Err() != nil {
				break
			}
			c.try(in, spot{machine: true})
		}
	}
}

// more are inputs like one, with more to do.
func (c *comparison) more(of *Input) (out []*Input) {
	for _, at := range c.counts() {
		if v := c.search.param(of, at, false); v > 3 && v < 1<<16 && len(out) < mostMore {
			out = append(out, c.search.with(of, at, false, v+v/2+1))
		}
	}
	return out
}

const mostMore = 6

// otherwise are inputs like one: with less to do, then with more.
func (c *comparison) otherwise(of *Input) (out []*Input) {
	for _, at := range c.counts() {
		if v := c.search.param(of, at, false); v > 3 && v < 1<<16 {
			out = append(out, c.search.with(of, at, false, 2), c.search.with(of, at, false, v/8+1))
		}
	}
	for k := range 4 {
		in := *of
		in.Seed += uint64(6 * k) // the same order of warps
		for _, at := range append([]int64{-1}, c.counts()...) {
			if v := c.search.param(&in, at, false); at >= 0 && v > 3 {
				continue
			}
			out = append(out, c.search.with(&in, at, false, []uint64{64, 33, 100, 256}[k]))
		}
	}
	return out
}
