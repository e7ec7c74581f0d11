package prove

import (
	"fmt"

	"optcheck/ir"
)

// event is something that a thread does that others see, or whose result comes from them.
type event struct {
	what  string // must be the same on both sides
	scope ir.Scope
	guard term
	mem   term   // what the thread has stored until then
	args  []term // must be equal where the guard holds
	inst  int32
	stirs bool
	// Of a barrier: aligned tells that all lanes of a warp come to it, apart that others may wait for this lane elsewhere.
	aligned, apart bool
}

// happen adds an event; it returns its number, of which its results are named.
func (m *moment) happen(what string, args []term, stirs bool) int {
	return m.happenAt(what, args, stirs)
}

func (m *moment) happenAt(what string, args []term, stirs bool) int {
	n := len(m.events)
	g := m.here()
	m.events = append(m.events, event{what: what, guard: g, mem: m.mem, args: args, inst: m.state.pc, stirs: stirs})
	if stirs {
		m.mem = m.x.stir(m.mem, n, g)
	}
	return n
}

// result is what an event gives.
func (m *moment) result(n, k, w int, varies bool) term {
	return m.inLoop(m.x.named(w, fmt.Sprintf("event:%d.%d", n, k), varies))
}

// effect performs what an instruction does besides computing.
func (m *moment) effect() {
	switch do := m.in.Do.(type) {
	case nil:
	case *ir.Access:
		m.access(do)
	case *ir.Special:
		m.special(do)
	case *ir.Fence:
		m.fence(do)
	case *ir.Barrier:
		m.barrier(do)
	case *ir.Warp:
		m.warp(do)
	default:
		fail("not followed: %s", m.in.Text)
	}
}

func (m *moment) special(sp *ir.Special) {
	switch sp.Reg {
	case ir.SymbolAddr:
		m.put(sp.Dst, m.symbol(sp.Symbol, uint64(sp.Offset), sp.Generic))
	default:
		m.put(sp.Dst, m.register(sp.Reg))
	}
}

// fence is an event unless it only acquires: the load or read-modify-write before it is one.
func (m *moment) fence(f *ir.Fence) {
	switch {
	case f.Proxy != "":
		fail("a proxy fence")
	case f.Part, f.Sem == ir.Acquire:
		return
	}
	n := m.happen("fence", nil, true)
	m.events[n].scope = f.Scope
}

func (m *moment) barrier(b *ir.Barrier) {
	x := m.x
	if b.Kind == ir.BarrierWarp {
		if !x.is(x.resize(m.get(b.Count), 32), 1<<32-1) {
			fail("a barrier of some lanes")
		}
		m.happen("warp barrier", nil, true)
		return
	}
	switch {
	case b.Kind > ir.BarrierRed:
		fail("a barrier of clusters")
	}
	apart := !m.state.together && len(m.state.meets) > 0
	args := []term{x.resize(m.get(b.ID), 32)}
	if b.Count != ir.None {
		args = append(args, x.resize(m.get(b.Count), 32))
	}
	if b.Kind == ir.BarrierRed {
		args = append(args, m.truth(b.Src, b.Not))
	}
	n := m.happen(fmt.Sprintf("barrier %d %s %d", b.Kind, b.Red, len(args)), args, true)
	m.events[n].aligned, m.events[n].apart = b.Aligned, apart
	if b.Dst != ir.None {
		m.put(b.Dst, m.result(n, 0, 32, false))
	} else if b.Kind == ir.BarrierRed {
		fail("a reduction whose result is read later")
	}
}

// warp is an operation between lanes: all of those that still run take part.
func (m *moment) warp(o *ir.Warp) {
	x := m.x
	if o.Kind == ir.First {
		v := m.get(o.Src)
		if x.at(v).varies {
			fail("a lane's value in a uniform register: %s", m.in.Text)
		}
		m.put(o.Dst, v)
		return
	}
	switch {
	case m.p.Machine && (!m.state.together || x.at(m.guard).varies):
		fail("an operation of the warp where lanes are apart")
	case o.Mask != ir.None && !x.is(x.resize(m.get(o.Mask), 32), 1<<32-1), !m.p.Machine && o.Mask == ir.None:
		fail("an operation of some lanes")
	case o.Kind >= ir.ActiveMask:
		fail("not followed: %s", m.in.Text)
	}
	if o.Kind >= ir.VoteAll && o.Kind <= ir.VoteBallot && o.Kind != ir.VoteUni {
		m.vote(o)
		return
	}
	var args []term
	switch {
	case o.Kind <= ir.ShflBfly:
		lane, clamp := x.ext(x.resize(m.get(o.Lane), 64), 0, 5), x.and(x.resize(m.get(o.Clamp), 32), x.num(32, 0x1f1f))
		args = []term{x.resize(m.get(o.Src), 32), lane, clamp}
	case o.Kind == ir.VoteUni:
		args = []term{m.truth(o.Src, o.Not)}
	default:
		args = []term{x.resize(m.get(o.Src), o.Type.Bits())}
	}
	varies := o.Kind <= ir.ShflBfly || o.Kind == ir.MatchAny
	n := m.happen(fmt.Sprintf("warp %d %s", o.Kind, o.Type), args, false)
	m.put(o.Dst, m.result(n, 0, 32, varies))
	m.put(o.Pred, m.result(n, 1, 1, varies))
}

// vote: all lanes say yes if none says no.
func (m *moment) vote(o *ir.Warp) {
	x := m.x
	p := x.num(1, 1)
	if o.Src != ir.None {
		p = m.truth(o.Src, o.Not)
	}
	all := o.Kind == ir.VoteAll && o.Dst == ir.None
	if all {
		p = x.not(p)
	} else if o.Kind == ir.VoteAll && o.Pred != ir.None {
		fail("a vote with two results")
	}
	n := m.happen("ballot", []term{p}, false)
	b := m.result(n, 0, 32, false)
	m.put(o.Dst, b)
	none := x.eq(b, x.num(32, 0))
	if !all {
		none = x.not(none)
	}
	m.put(o.Pred, none)
}
