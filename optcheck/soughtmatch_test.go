package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// stores stores some words to locations and to the results, a few of which differ by a marker.
func (c *composer) stores() {
	rnd, tr := c.rnd, c.m.tr
	for range 4 {
		x := event{role: anyOf(rnd, []isa.Role{isa.RoleStore, isa.RoleStore, isa.RoleStore, isa.RoleReduction, isa.RoleLoad}), read: -1,
			dataT: taint(rnd.IntN(4)),
			addr:  key{base: anyOf(rnd, []base{baseParam, baseParam, baseSym}), num: 8 * int64(rnd.IntN(2))}, result: rnd.IntN(3) == 0}
		for range 1 + rnd.IntN(5)/4 {
			x.data = append(x.data, c.p.bits(lutXor, c.vals[len(c.vals)-1-rnd.IntN(2)], c.p.constant(anyOf(rnd, append(c.literals, 0, 0, 0))),
				none))
		}
		tr.events = append(tr.events, x)
	}
	c.match()
}

// match asks whether some words are what accesses of the test have.
func (c *composer) match() {
	rnd := c.rnd
	c.m.tr.markers = append(c.m.tr.markers, marker{m: spec.Marker{Header: &spec.Header{}}, oper: c.p.param(4)})
	p := &pass{tr: c.m.tr, s: &spec.Spec{}, owner: make([][]int, len(c.m.tr.events)), extra: map[[2]int]value{}}
	for range 3 {
		d, v := c.pick(), c.pick()
		if rnd.IntN(2) == 0 {
			d = c.p.mk(node{kind: kSel, a: c.p.mk(node{kind: kFun, imm: uint64(isa.MicroMul) << 8, a: v, b: c.pick(), c: none}), b: c.pick(),
				c: c.flag()})
		}
		x := event{data: []value{d, c.pick()}, read: rnd.IntN(4), when: []sense{{c.flag(), true}}, mem: isa.Mem{Width: anyOf(rnd, []int{1, 2, 4,
			8}), Locked: rnd.IntN(4) == 0}}
		y := event{when: []sense{anyOf(rnd, x.when), {c.flag(), rnd.IntN(2) == 0}}}
		guarded, derived := rnd.IntN(2) == 0, rnd.IntN(2) == 0
		c.say(p.combination(d, v), p.combinedOf(d, v, guarded), p.selection(d, v), p.carries(&x, v, derived, guarded), p.byLane(&x),
			p.byLane(&y), disjoint(x.when, y.when))
		p.tr.pool.visit()
		c.say(p.isWord(d, 0, 0), p.isWord(v, 2, 1))
		e := spec.Entry{Guarded: guarded, Kind: spec.Kind{Op: anyOf(rnd, []litmus.Op{litmus.OpLd, litmus.OpSt, litmus.OpAtom, litmus.OpRed}),
			Width: anyOf(rnd, []int{4, 4, 8}),
			Atom:  anyOf(rnd, []litmus.AtomOp{litmus.AtomAdd, litmus.AtomCAS, litmus.AtomExch, litmus.AtomMin})}}
		for i := range 3 {
			c.say(p.hasOperand(&x, e, i, v))
		}
	}
	c.views()
}

// views asks what some words are as addresses of a kernel for devices.
func (c *composer) views() {
	rnd := c.rnd
	h := &spec.Harness{Specs: []*spec.Spec{{Locations: 2}}, Locations: []int64{0, 8}, Cell: anyOf(rnd, []int64{0, 64}), Roles: []int64{4,
		12}, Stress: 16,
		Memory: []int64{24, 32}, Scratch: 24, Counters: 32, Offsets: []int64{40, 44}, Rounds: anyOf(rnd, []int64{0, 48})}
	for role := stressRole; role < 2; role++ {
		v := newView(h, nil, role)
		c.m.view = v
		for range 3 {
			a, b := c.p.param(8*int64(rnd.IntN(2))), c.pick()
			for range rnd.IntN(3) {
				a = c.p.add(a, anyOf(rnd, []value{c.p.param(40), c.p.param(44), b, c.pick(), c.p.constant(uint32(c.m.arch.shared())), c.p.param(24)}))
			}
			if rnd.IntN(3) == 0 {
				a = c.p.bits(lutAnd, c.p.addConst(a, 64*uint32(rnd.IntN(2))), c.p.constant(uint32(0xffffffc0)), none)
			}
			for _, space := range []isa.Space{isa.SpaceGlobal, isa.SpaceShared} {
				c.say(c.m.located(a, b, space), c.m.normalise(a, space), v.owns(c.m.normalise(a, space)), v.instance(c.p, b), v.instance(c.p, a))
			}
			x, is := v.compare(c.p, uint8(rnd.IntN(4)), anyOf(rnd, []value{c.p.param(4), c.p.param(16), b}), anyOf(rnd, []value{c.p.param(4),
				c.p.param(12), c.p.param(48), b}))
			c.say(is, c.text(x, 0), c.text(v.unmasked(c.p, c.p.add(a, b)), 0))
		}
	}
	c.m.view = nil
}
