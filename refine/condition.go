package refine

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
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

// showing is a comparison of the program, and what is seen of it.
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
	for _, bit := range []uint8{seenFalse, seenTrue, seenEqual} {
		if at := (showing{h.last, bit}); all&bit != 0 {
			if _, ok := h.shows[at]; !ok {
				h.shows[at] = h.number
			}
		}
	}
}

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
	flipSteps  = 1 << 25 // instructions of lanes for all of them: what is left then shows nothing
	flipAtOnce = 1 << 21 // those for what one run of the program shows
)

// show takes what a compared run shows of comparisons: of those of which another outcome would have been noticed. None would where what the
// program does is open, but in warps that agree with either content (nil: nothing is open).
func (c *comparison) show(in *Input, g *emu.Grid, agree []bool) {
	replays, most, begin, end := map[int]bool{}, mostFlips, c.flipped, c.flipEnd
	if g.Cut { // what comes behind the cut is not noticed
		most /= 3
	}
	for _, at := range slices.SortedFunc(maps.Keys(c.search.shows), func(a, b showing) int {
		return cmp.Or(cmp.Compare(a.inst, b.inst), cmp.Compare(a.what, b.what))
	}) {
		c.shown[at.inst] |= 0
		c.make(showing{at.inst, 0}, in, g)
		warp := c.search.shows[at]
		if c.shown[at.inst]&at.what != 0 || c.again != nil && !slices.Contains(c.again, at.inst) ||
			agree != nil && (warp >= len(agree) || !agree[warp]) {
			continue
		}
		c.make(at, in, g)
		if c.flips[at] >= most || c.flipped > min(end, begin+flipAtOnce) {
			continue
		}
		c.flips[at]++
		if c.replays(in, g, warp, replays) && c.matters(in, g, at, warp) {
			c.shown[at.inst] |= at.what
		}
	}
}

// making is an input on which a comparison shows something, and the program's run of it.
type making struct {
	in    *Input
	steps int64
	cut   bool
}

// make keeps the input of the shortest run that shows something of a comparison; what is 0 if it only makes it.
func (c *comparison) make(at showing, in *Input, g *emu.Grid) {
	if was, ok := c.made[at]; !ok || was.cut && !g.Cut || was.cut == g.Cut && was.steps > g.Steps {
		c.made[at] = making{in, g.Steps, g.Cut}
	}
}

// matters reports whether it would be noticed if a warp did what the program does, but for a comparison that says the opposite where it shows
// something: the warp runs alone against the record of which it is a part.
func (c *comparison) matters(in *Input, was *emu.Grid, at showing, warp int) bool {
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
	return c.alone(in, was, warp, func(w *emu.Warp) {
		w.Computed = func(pc int32, act uint32) {
			for x := act; x != 0 && pc == at.inst; x &= x - 1 {
				if l := bits.TrailingZeros32(x); shows(w, asked, l)&at.what != 0 {
					for _, r := range truths {
						w.SetReg(r, l, w.Reg(r, l)^1)
					}
				}
			}
		}
	}) != nil
}

// replays reports whether a warp does, alone, what the record has: else a difference says nothing. known has the answers.
func (c *comparison) replays(in *Input, g *emu.Grid, warp int, known map[int]bool) bool {
	does, ok := known[warp]
	if !ok {
		does = c.alone(in, g, warp, func(*emu.Warp) {}) == nil
		known[warp] = does
	}
	return does
}

// alone replays a warp of the program against the record of the run that it is from. The error is what differs, or why nothing can be said.
func (c *comparison) alone(in *Input, was *emu.Grid, warp int, prepare func(w *emu.Warp)) error {
	l, ref, policy := c.launch(in), was.Warps[warp], was.Policy
	policy.MaxSteps = 0
	r := c.newReplay(in, was, closed(was), c.source, l, blockOf(was, l, warp), ref.ID, policy, reading{})
	prepare(r.w)
	err := r.run(c, ref)
	c.flipped += r.w.Steps
	return err
}

// undecided lists the comparisons of the program, by instruction, of which the machine code may have made others without a difference: runs have
// shown one outcome only, or nothing of the border, and the machine code compares no such operands.
func (c *comparison) undecided() []int32 {
	left := c.notShown()
	for _, s := range append([]*comparison{c}, c.subs...) {
		if len(left) > 0 {
			alike := s.alike(left)
			left = slices.DeleteFunc(left, func(i int32) bool { return alike[i] })
		}
	}
	return left
}

// notShown lists the comparisons of which runs have shown one outcome only, or nothing of the border.
func (c *comparison) notShown() (left []int32) {
	var all *registers
	for i := range c.program.Insts {
		s, ok := c.shown[int32(i)]
		if !ok || s == seenAll || !c.sourceCover.Insts[i] {
			continue
		}
		if all == nil {
			all = boundsOf(c.program)
		}
		for _, o := range slices.Concat(c.program.Insts[i].Pre, c.program.Insts[i].Post) {
			if o.Code != ir.Cmp || all.possible(i, &o)&^s == 0 {
				continue
			}
			if s&(seenTrue|seenFalse) == 0 || !c.casts(&o) { // one outcome of a predicate may be harmless: to ask again is
				left = append(left, int32(i))
				break
			}
		}
	}
	return left
}

// mostSecond bounds the inputs of a second look at one comparison.
const mostSecond = 20

// lookAgain tries comparisons that are undecided once more: on inputs that show something of them, and on others that are like those.
func (c *comparison) lookAgain(ctx context.Context) {
	left := c.undecided()
	clear(c.flips)
	c.again = left
	c.flipEnd = c.flipped + flipSteps
	for end := c.spent + c.o.Search; len(left) > 0; left = left[1:] {
		i := left[0]
		var list, like []*Input
		for _, what := range []uint8{seenFalse, seenTrue, seenEqual, 0} {
			if m, ok := c.made[showing{i, what}]; ok && (what == 0 || c.shown[i]&what == 0) && !slices.Contains(list, m.in) {
				list, like = append(list, m.in), append(like, c.otherwise(m.in)...)
			}
		}
		list = append(list, like...)
		for _, in := range list[:min(len(list), mostSecond)] {
			if c.shown[i] == seenAll || c.flipped > c.flipEnd || c.spent > end || len(c.Findings) > 0 || ctx.Err() != nil {
				break
			}
			c.try(in, spot{machine: true})
		}
	}
}

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

// casts reports whether a comparison only gives back a predicate that was made a number: it has no border.
func (c *comparison) casts(o *ir.Op) bool {
	known := c.search.constant[false]
	with, constant := known[o.Src[1]]
	if !constant || o.Cond != ir.EQ && o.Cond != ir.NE {
		return false
	}
	made := false
	for i := range c.program.Insts {
		in := &c.program.Insts[i]
		eachWritten(in, func(r ir.Reg, _ bounds) { constant = constant && r != o.Src[0] })
		for _, of := range slices.Concat(in.Pre, in.Post) {
			if of.Dst != o.Src[0] {
				continue
			}
			a, ok := known[of.Src[1]]
			b, both := known[of.Src[2]]
			constant = constant && of.Code == ir.Sel && ok && both && a != b && (a == with || b == with)
			made = true
		}
	}
	return constant && made
}

// alike reports of which comparisons of the program the machine code has one of the same operands: of each thread, whatever the
// operands are, on inputs with numbers of many bits, and for those that nobody makes there, on one on which they were made.
func (c *comparison) alike(list []int32) map[int32]bool {
	of := likeness{made: map[int32]bool{}, other: map[int32]bool{}}
	end := c.spent + c.o.Search
	c.liken(c.input(0), list, of)
	c.liken(c.wilder(0), list, of)
	for _, i := range list {
		if in := c.made[showing{i, 0}].in; in != nil && !of.made[i] && c.spent < end {
			c.liken(in, list, of)
		}
	}
	out := map[int32]bool{}
	for _, i := range list {
		out[i] = of.made[i] && !of.other[i]
	}
	return out
}

// likeness tells which comparisons of the program were made, and of which the machine code makes others.
type likeness struct{ made, other map[int32]bool }

// liken runs both codes on an input, and looks for comparisons of the program in the machine code.
func (c *comparison) liken(in *Input, list []int32, of likeness) {
	w := &witness{p: c.program, only: list, tuples: map[int32][]tuple{}}
	g, err := c.prepared(c.source, in, c.launch(in), fills[0])
	if err != nil {
		return
	}
	w.records = g.Records
	for _, x := range g.Warps {
		w.watch(x, c.launch(in).Threads())
	}
	if err = c.ran(g); err != nil {
		return
	}
	m := &witness{p: c.machine, keys: map[uint64]bool{}}
	if !c.watched(in, g, func(w *emu.Warp) { m.watch(w, c.launch(in).Threads()) }) {
		return
	}
	for i, list := range w.tuples {
		if g.Cut { // the machine code is not followed behind the last event of a record
			list = slices.DeleteFunc(list, func(t tuple) bool { return t.event == len(g.Records[t.thread].Events) })
		}
		of.made[i] = of.made[i] || len(list) > 0
		of.other[i] = of.other[i] || slices.ContainsFunc(list, func(t tuple) bool { return !m.has(t) })
	}
}

// watched runs the machine code against a run of the program, and has somebody watch each warp.
func (c *comparison) watched(in *Input, g *emu.Grid, watch func(w *emu.Warp)) bool {
	l, none, policy := c.launch(in), closed(g), c.policies[0]
	policy.Fill = g.Policy.Fill // what nobody defines is the same
	for n, ref := range g.Warps {
		for _, how := range c.inOrder() {
			r := c.newReplay(in, g, none, c.code, l, blockOf(g, l, n), ref.ID, policy, how)
			watch(r.w)
			err := r.run(c, ref)
			c.spent += r.w.Steps
			if a := (*accuse)(nil); err == nil {
				break
			} else if !errors.As(err, &a) {
				return false
			}
		}
	}
	return true
}

// tuple is a comparison as a thread made it.
type tuple struct {
	thread int
	event  int // how many events the thread had had
	o      *ir.Op
	a, b   uint64
}

// witness notes which comparisons the threads of a run make.
type witness struct {
	p      *ir.Program
	only   []int32           // those instructions, as tuples; else all, as keys
	tuples map[int32][]tuple // of each at most mostTuples
	keys   map[uint64]bool
	// records are those of the program's threads.
	records []*emu.Record
}

const (
	mostTuples = 1 << 10
	mostKeys   = 1 << 21
)

// watch has the comparisons of a warp noted.
func (n *witness) watch(w *emu.Warp, threads int) {
	last, on := int32(-1), uint32(0)
	w.Trace = func(w *emu.Warp, pc int32, act uint32) {
		if last >= 0 && on != 0 {
			n.note(w, last, on, threads)
		}
		last, on = pc, act
	}
}

func (n *witness) note(w *emu.Warp, pc int32, act uint32, threads int) {
	in := &n.p.Insts[pc]
	for _, list := range [][]ir.Op{in.Pre, in.Post} {
		for i := range list {
			o := &list[i]
			if n.only == nil && (o.Code == ir.Min || o.Code == ir.Max) {
				n.lesser(w, o, act, threads)
			}
			if o.Code != ir.Cmp || n.only != nil && !slices.Contains(n.only, pc) {
				continue
			}
			for x := act; x != 0; x &= x - 1 {
				l := bits.TrailingZeros32(x)
				t := w.Threads[l]
				if t == nil {
					continue
				}
				x := tuple{thread: t.Block*threads + t.Index, o: o, a: operand(w, o.Src[0], l), b: operand(w, o.Src[1], l)}
				if n.records != nil {
					x.event = len(n.records[x.thread].Events)
				}
				n.add(pc, x)
			}
		}
	}
}

// lesser notes that the lanes have chosen the lesser or the greater of two numbers: whichever is asked of them, less or not, is asked.
func (n *witness) lesser(w *emu.Warp, o *ir.Op, act uint32, threads int) {
	for x := act; x != 0 && len(n.keys) < mostKeys; x &= x - 1 {
		l := bits.TrailingZeros32(x)
		t := w.Threads[l]
		if t == nil {
			continue
		}
		a, b := operand(w, o.Src[0], l), operand(w, o.Src[1], l)
		for _, c := range []ir.Cond{ir.LT, ir.GT, ir.LE, ir.GE} {
			n.keys[key(t.Block*threads+t.Index, relate(c, o.Type, a, b))] = true
		}
	}
}

func (n *witness) add(pc int32, t tuple) {
	if n.only != nil {
		if len(n.tuples[pc]) < mostTuples {
			n.tuples[pc] = append(n.tuples[pc], t)
		}
		return
	}
	if len(n.keys) < mostKeys {
		n.keys[key(t.thread, relate(t.o.Cond, t.o.Type, t.a, t.b))] = true
	}
}

// has reports whether the machine code has made the comparison of a thread of the program, or one that says the same.
func (n *witness) has(t tuple) bool {
	return slices.ContainsFunc(sayings(t.o, t.a, t.b), func(s saying) bool {
		return !slices.ContainsFunc(s.parts, func(r relation) bool { return !n.keys[key(t.thread, r)] })
	})
}

// saying is a way to ask what a comparison asks. Of several parts, which are about the high and the low words, each is asked. They hold if the
// comparison does; with not, if it does not.
type saying struct {
	parts []relation
	not   bool
}

// sayings are the ways to ask what a comparison of two numbers asks, its own first.
func sayings(o *ir.Op, a, b uint64) []saying {
	r := relate(o.Cond, o.Type, a, b)
	negated := o.Cond == ir.NE || o.Cond == ir.GE || o.Cond == ir.LE
	if r.float {
		return []saying{{parts: []relation{r}, not: o.Cond == ir.GEU || o.Cond == ir.LEU || o.Cond == ir.GTU || o.Cond == ir.LTU || o.Cond == ir.NEU}}
	}
	m := ^uint64(0) >> (64 - o.Type.Bits())
	list := []saying{{parts: []relation{r}, not: negated}}
	one := func(r relation, not bool) { list = append(list, saying{[]relation{r}, not}) }
	if r.equal {
		one(relate(ir.EQ, o.Type, (a-b)&m, 0), negated)
		one(relate(ir.EQ, o.Type, (a^b)&m, 0), negated)
		if r.a == 0 && !o.Type.Signed() {
			one(relation{a: 0, b: r.b}, !negated) // 0 < b
		}
	} else { // a < b if a <= b-1, and if a+1 <= b.
		one(relation{signed: r.signed, a: r.b - 1, b: r.a}.plain(), !negated)
		one(relation{signed: r.signed, a: r.b, b: r.a + 1}.plain(), !negated)
	}
	if o.Type.Bits() == 64 {
		high, low := ir.U32, uint64(0xffffffff)
		if o.Type.Signed() && !r.equal {
			high = ir.S32
		}
		list = append(list, saying{[]relation{relate(o.Cond, high, a>>32, b>>32), relate(o.Cond, ir.U32, a&low, b&low)}, negated})
	}
	return list
}

// relation is a comparison of two numbers without its spelling: whether they are equal, or the first one is less. What holds if another
// does not is the same.
type relation struct {
	equal, signed bool
	float, least  bool // of floating-point numbers; or equal
	a, b          uint64
}

// relate is what a comparison asks.
func relate(c ir.Cond, t ir.Type, a, b uint64) relation {
	if t.Float() {
		return relateFloats(c, plainFloat(t, a), plainFloat(t, b))
	}
	shift := 64 - t.Bits()
	a, b = a<<shift>>shift, b<<shift>>shift
	if t.Signed() {
		a, b = uint64(int64(a<<shift)>>shift), uint64(int64(b<<shift)>>shift)
	}
	switch c {
	case ir.EQ, ir.NE:
		return relation{equal: true, a: min(a, b), b: max(a, b)}
	case ir.GT, ir.LE:
		a, b = b, a
	}
	return relation{signed: t.Signed(), a: a, b: b}.plain()
}

// plainFloat is a floating-point number as comparisons see it: zeros have no sign, and any NaN is one.
func plainFloat(t ir.Type, a uint64) uint64 {
	var infinity uint64
	switch t {
	case ir.F16:
		infinity = 0x7c00
	case ir.BF16:
		infinity = 0x7f80
	case ir.F32:
		infinity = 0x7f800000
	case ir.F64:
		infinity = 0x7ff0000000000000
	default:
		return a
	}
	sign := uint64(1) << (t.Bits() - 1)
	a &= sign<<1 - 1
	switch magnitude := a &^ sign; {
	case magnitude == 0:
		return 0
	case magnitude > infinity:
		return infinity + 1
	}
	return a
}

// relateFloats is relate of floating-point numbers, of which a comparison that holds for unordered ones is another one that does not.
func relateFloats(c ir.Cond, a, b uint64) relation {
	r := relation{float: true, a: a, b: b}
	switch c {
	case ir.LT, ir.GEU:
	case ir.GT, ir.LEU:
		r.a, r.b = b, a
	case ir.LE, ir.GTU:
		r.least = true
	case ir.GE, ir.LTU:
		r.a, r.b, r.least = b, a, true
	case ir.EQ, ir.NEU:
		r.a, r.b, r.equal = min(a, b), max(a, b), true
	default:
		r.a, r.b, r.equal, r.least = min(a, b), max(a, b), true, true
	}
	return r
}

// plain forgets the sign of numbers that have none.
func (r relation) plain() relation {
	r.signed = r.signed && (r.a|r.b)>>63 == 1
	return r
}

var seed = maphash.MakeSeed()

func key(thread int, r relation) uint64 {
	return maphash.Comparable(seed, struct {
		thread int
		relation
	}{thread, r})
}
