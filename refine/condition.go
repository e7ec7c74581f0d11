package refine

import (
	"errors"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// undecided lists the instructions of the program of which the machine code may compare something else, or decide otherwise, without a difference:
// runs have shown one outcome only of a comparison, or nothing of its border, and the machine code compares no such operands; or they have shown
// one outcome only of a condition.
func (c *comparison) undecided() []int32 {
	left := c.notShown()
	for _, s := range append([]*comparison{c}, c.subs...) {
		if len(left) > 0 {
			alike := s.alike(left)
			left = slices.DeleteFunc(left, func(i int32) bool { return alike[i] })
		}
	}
	said := func(s site) bool { return slices.Contains(left, s.inst) }
	for i := range c.unused() {
		if !slices.Contains(left, i) && !slices.ContainsFunc(c.deciders(i), said) { // said already
			left = append(left, i)
		}
	}
	slices.Sort(left)
	return left
}

// notShown lists the comparisons of which runs have shown one outcome only, or nothing of the border.
func (c *comparison) notShown() (left []int32) {
	var all *registers
	c.needs()
	for i := range c.program.Insts {
		s, ok := c.shown[int32(i)]
		if !ok || s == seenAll || !c.sourceCover.Insts[i] {
			continue
		}
		if all == nil {
			all = boundsOf(c.program)
		}
		for _, o := range slices.Concat(c.program.Insts[i].Pre, c.program.Insts[i].Post) {
			if o.Code != ir.Cmp || all.possible(i, &o)&^s == 0 || c.vain(&o) || c.constant(int32(i), &o) {
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
	m := &witness{p: c.machine, keys: map[uint64]places{}}
	if !c.watched(in, g, func(w *emu.Warp) { m.watch(w, c.launch(in).Threads()) }) {
		return
	}
	same := w.askers()
	for i, list := range w.tuples {
		if g.Cut { // the machine code is not followed behind the last event of a record
			list = slices.DeleteFunc(list, func(t tuple) bool { return t.event == len(g.Records[t.thread].Events) })
		}
		of.made[i] = of.made[i] || len(list) > 0
		of.other[i] = of.other[i] || slices.ContainsFunc(list, func(t tuple) bool { return !m.has(t, same[asking(t)]) })
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
	keys   map[uint64]places
	// records are those of the program's threads.
	records []*emu.Record
}

const (
	mostTuples = 1 << 10
	mostKeys   = 1 << 21
)

// watch has the comparisons of a warp noted.
func (n *witness) watch(w *emu.Warp, threads int) {
	behind(w, func(pc int32, act uint32) { n.note(w, pc, act, threads) })
}

// behind calls a function behind each instruction that lanes of a warp perform.
func behind(w *emu.Warp, do func(pc int32, act uint32)) {
	last, on := int32(-1), uint32(0)
	w.Trace = func(_ *emu.Warp, pc int32, act uint32) {
		if last >= 0 && on != 0 {
			do(last, on)
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
				n.lesser(w, o, pc, act, threads)
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
func (n *witness) lesser(w *emu.Warp, o *ir.Op, pc int32, act uint32, threads int) {
	for x := act; x != 0 && len(n.keys) < mostKeys; x &= x - 1 {
		l := bits.TrailingZeros32(x)
		t := w.Threads[l]
		if t == nil {
			continue
		}
		a, b := operand(w, o.Src[0], l), operand(w, o.Src[1], l)
		for _, c := range []ir.Cond{ir.LT, ir.GT, ir.LE, ir.GE} {
			n.asks(t.Block*threads+t.Index, relate(c, o.Type, a, b), pc)
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
		n.asks(t.thread, relate(t.o.Cond, t.o.Type, t.a, t.b), pc)
	}
}

// places are some instructions that ask the same of the same thread.
type places [4]int32

// asks notes that an instruction asks something of a thread.
func (n *witness) asks(thread int, r relation, pc int32) {
	k := key(thread, r)
	p := n.keys[k]
	for i := range p {
		if p[i] == pc+1 {
			return
		}
		if p[i] == 0 {
			p[i] = pc + 1
			n.keys[k] = p
			return
		}
	}
}

// asking is what a comparison asks, and of which thread.
func asking(t tuple) uint64 { return key(t.thread, relate(t.o.Cond, t.o.Type, t.a, t.b)) }

// askers counts the comparisons of the program that ask the same.
func (n *witness) askers() map[uint64]int {
	out := map[uint64]int{}
	for _, list := range n.tuples {
		own := map[uint64]bool{}
		for _, t := range list {
			if k := asking(t); !own[k] {
				own[k] = true
				out[k]++
			}
		}
	}
	return out
}

// has reports whether the machine code has made the comparison of a thread of the program, or one that says the same, at as many places as the
// program has such comparisons: one that was made for another one says nothing.
func (n *witness) has(t tuple, places int) bool {
	places = min(places, 4)
	return slices.ContainsFunc(sayings(t.o, t.a, t.b), func(s saying) bool {
		return !slices.ContainsFunc(s.parts, func(r relation) bool {
			p := n.keys[key(t.thread, r)]
			return p[places-1] == 0
		})
	})
}
