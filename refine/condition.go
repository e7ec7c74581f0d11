package refine

import (
	"errors"
	"maps"
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
			if o.Code != ir.Cmp || all.possible(i, &o)&^s == 0 || c.vain(int32(i), &o) || c.constant(int32(i), &o) {
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
	of := likeness{made: map[int32]bool{}, other: map[int32]bool{}, once: map[int32]*once{}}
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
		out[i] = of.made[i] && !of.other[i] && of.once[i].harmless()
	}
	return out
}

// likeness tells which comparisons of the program were made, of which the machine code makes others, and which it makes once for several.
type likeness struct {
	made, other map[int32]bool
	once        map[int32]*once
}

// once is a comparison that the program makes at several places with the same operands, and the machine code at fewer: which instructions of
// the machine code compare one of its operands, whatever they are, and whether such an instruction asks what the program does not ask.
type once struct {
	about map[int32]bool
	whole bool // a run to its end was seen
}

// harmless reports whether what the machine code asks about the operands is what the program does: nothing else can decide in its place.
func (o *once) harmless() bool {
	return o == nil || o.whole && !slices.Contains(slices.Collect(maps.Values(o.about)), true)
}

// liken runs both codes on an input, and looks for comparisons of the program in the machine code.
func (c *comparison) liken(in *Input, list []int32, of likeness) {
	w := &witness{p: c.program, only: list, tuples: map[int32][]tuple{}, known: map[uint64]bool{}}
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
	m := &witness{p: c.machine, keys: map[uint64]places{}, known: w.known, about: map[uint64]map[int32]bool{}}
	same := w.askers()
	for i, list := range w.tuples {
		if g.Cut { // the machine code is not followed behind the last event of a record
			list = slices.DeleteFunc(list, func(t tuple) bool { return t.event == len(g.Records[t.thread].Events) })
			w.tuples[i] = list
		}
		if slices.ContainsFunc(list, func(t tuple) bool { return same[asking(t)] > 1 }) {
			for _, t := range list {
				t.operands(c.search.constant[false], func(k uint64) { m.about[k] = map[int32]bool{} })
			}
		}
	}
	if !c.watched(in, g, func(w *emu.Warp) { m.watch(w, c.launch(in).Threads()) }) {
		return
	}
	for i, list := range w.tuples {
		of.made[i] = of.made[i] || len(list) > 0
		if !slices.ContainsFunc(list, func(t tuple) bool { return !m.has(t, same[asking(t)]) }) {
			continue
		}
		if of.once[i] == nil {
			of.once[i] = &once{}
		}
		if !c.merged(i, list, m, !g.Cut, of.once[i]) {
			of.other[i] = true
		}
	}
}

// merged notes what the machine code asks about the operands of a comparison that it makes once where the program makes it at several places.
// It reports whether it does: whether runs have shown both outcomes there, and the machine code asks it of each thread.
func (c *comparison) merged(i int32, list []tuple, m *witness, whole bool, of *once) bool {
	if c.made[showing{i, seenFalse}].in == nil || c.made[showing{i, seenTrue}].in == nil || len(m.keys) >= mostKeys {
		return false
	}
	of.whole = of.whole || whole
	for _, t := range list {
		if !m.has(t, 1) {
			return false
		}
		here := map[int32]bool{}
		t.operands(c.search.constant[false], func(k uint64) {
			for pc, other := range m.about[k] {
				here[pc] = here[pc] || other && whole // behind a cut the machine code goes on for a while
			}
		})
		if of.about == nil {
			of.about = here
		}
		for pc, other := range of.about {
			if is, ok := here[pc]; ok {
				of.about[pc] = other || is
			} else {
				delete(of.about, pc)
			}
		}
	}
	return true
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
			c.spent += r.cost(c)
			if a := (*accuse)(nil); err == nil {
				break
			} else if !errors.As(err, &a) {
				return false
			}
		}
	}
	return true
}
