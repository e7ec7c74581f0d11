package cycle

import (
	"fmt"

	"optcheck/depgen"
	"optcheck/litmus"
)

// Edges at which threads meet otherwise than at a bar.sync, and fences of the async proxy: their tests have words that
// only ptx-async judges.

// meetNames are the names of the edges, and their tags in lower case.
var meetNames = map[Kind]string{BarRed: "BarRed", BarWarp: "BarWarp", Mbar: "Mbar", Cluster: "Cluster", ProxyAsync: "ProxyAsync"}

// level is within what threads meet at an edge.
func (e Edge) level() func(p, q litmus.Place) bool {
	switch e.Kind {
	case Bar, BarRed, Mbar:
		return func(p, q litmus.Place) bool { return p.SameScope(q, litmus.ScopeCTA) }
	case BarWarp:
		return litmus.Place.SameWarp
	case Cluster:
		return func(p, q litmus.Place) bool { return p.SameScope(q, litmus.ScopeCluster) }
	}
	return nil
}

var within = map[Kind]string{Bar: "CTA", BarRed: "CTA", Mbar: "CTA", BarWarp: "warp", Cluster: "cluster"}

// met says why threads cannot meet where they are placed: each waits as often as the others of its level.
func (c *Cycle) met(place []litmus.Place) error {
	for _, kind := range []Kind{Bar, BarRed, BarWarp, Mbar, Cluster} {
		same := Edge{Kind: kind}.level()
		n := make([]int, c.Threads())
		for i, e := range c.Edges {
			if e.Kind == kind {
				n[c.thread[i]]++
			}
		}
		for t := range n {
			for u := range t {
				if same(place[t], place[u]) && n[u] != n[t] {
					return fmt.Errorf("threads %d and %d are of one %s but wait at %d and %d barriers", u, t, within[kind], n[u], n[t])
				}
			}
		}
	}
	return nil
}

// async is an instruction of the table of asynchronous operations.
func async(name, dst string, addr litmus.Addr, src ...litmus.Operand) litmus.Instr {
	form, ok := litmus.FormNamed(name)
	if !ok {
		panic("no operation " + name)
	}
	return litmus.Instr{Op: litmus.OpAsync, Async: form, Dst: dst, Addr: addr, Src: src}
}

// meet emits what an edge puts between two accesses, of which the second is in. It returns the guard of that one, if it has one.
func (b *builder) meet(d *depgen.Builder, i int) *litmus.Guard {
	e, t := b.c.Edges[i-1], b.c.thread[i]
	switch e.Kind {
	case ProxyAsync:
		d.Emit(async("fence.proxy.async", "", litmus.Addr{}))
	case Cluster:
		d.Emit(async("barrier.cluster.arrive", "", litmus.Addr{}))
		d.Emit(async("barrier.cluster.wait", "", litmus.Addr{}))
	case BarWarp:
		d.Emit(async("bar.warp.sync", "", litmus.Addr{}, litmus.Const(b.mask(t))))
	case BarRed:
		p, r := d.Reg("p", litmus.Pred), d.Reg("q", litmus.Pred)
		d.Thread.Decl(p).Init = litmus.Const(1)
		d.Emit(async("bar.red.or.pred", r, litmus.Addr{}, litmus.Const(1), litmus.Reg(p)))
	case Mbar:
		object, token, p := b.object(i), d.Reg("t", litmus.B64), d.Reg("p", litmus.Pred)
		at := litmus.Addr{Reg: d.Reg("mb", litmus.B64)}
		d.Thread.Decl(at.Reg).Init = litmus.Loc(object)
		d.Emit(async("mbarrier.arrive.shared.b64", token, at))
		d.Emit(async("mbarrier.test_wait.shared.b64", p, at, litmus.Reg(token)))
		answer := d.Reg("ok", litmus.S32)
		d.Emit(litmus.Instr{Op: litmus.OpSelp, Type: litmus.B32, Dst: answer, Src: []litmus.Operand{litmus.Const(1), litmus.Const(0), litmus.Reg(p)}})
		b.waits = append(b.waits, litmus.Term{Kind: litmus.TermReg, Thread: t, Name: answer})
		return &litmus.Guard{Reg: p}
	}
	return nil
}

// mask names the lanes of a thread's warp.
func (b *builder) mask(t int) (mask int64) {
	n := 0
	for u := range b.s.Place[:b.c.Threads()] {
		if b.s.Place[u].SameWarp(b.s.Place[t]) {
			mask |= 1 << n
			n++
		}
	}
	return mask
}

// object is the mbarrier at which a thread meets the others of its CTA: each time another one, at which each arrives once.
func (b *builder) object(i int) string {
	t, round := b.c.thread[i], 0
	from, _ := b.c.span(t)
	for k := from; k < i-1; k++ {
		if b.c.Edges[k].Kind == Mbar {
			round++
		}
	}
	first, n := t, int64(0)
	for u := range b.c.Threads() {
		if b.s.Place[u].SameScope(b.s.Place[t], litmus.ScopeCTA) {
			first, n = min(first, u), n+1
		}
	}
	name := fmt.Sprintf("mb%d_%d", first, round)
	if b.t.Location(name) == nil {
		b.t.Locations = append(b.t.Locations, litmus.Location{Name: name, Space: litmus.Shared, Init: n})
	}
	return name
}

// order reports whether an edge is a dependency or a guard, which the address of a copy has none of.
func (e Edge) order() bool { return e.Kind == Addr || e.Kind == Data || e.Kind == Ctrl }

// copied emits an access by a copy between its location and a place in shared memory that nobody else has. The write is handed
// over to the async proxy; the read is through the generic one.
func (b *builder) copied(d *depgen.Builder, i int, in litmus.Instr, addr string, value litmus.Operand) {
	name := fmt.Sprintf("w%d", i)
	b.t.Locations = append(b.t.Locations, litmus.Location{Name: name, Space: litmus.Shared})
	place := litmus.Addr{Reg: d.Reg("ws", litmus.B64)}
	d.Thread.Decl(place.Reg).Init = litmus.Loc(name)
	at, guard := litmus.Addr{Reg: addr}, in.Guard
	emit := func(name string, to litmus.Addr, from []litmus.Addr, src ...litmus.Operand) {
		x := async(name, "", to, src...)
		x.More, x.Guard = from, guard
		d.Emit(x)
	}
	if in.Addr = place; b.c.dir(i) == Read {
		emit("cp.async.ca.shared.global", place, []litmus.Addr{at}, litmus.Const(4))
		emit("cp.async.wait_all", litmus.Addr{}, nil)
		b.dst[i] = d.Reg("r", litmus.S32)
		in.Op, in.Dst = litmus.OpLd, b.dst[i]
		d.Emit(in)
		return
	}
	in.Op, in.Src = litmus.OpSt, []litmus.Operand{value}
	d.Emit(in)
	emit("fence.proxy.async", litmus.Addr{}, nil)
	emit("cp.async.bulk.global.shared::cta.bulk_group", at, []litmus.Addr{place}, litmus.Const(litmus.MaxBytes))
	emit("cp.async.bulk.commit_group", litmus.Addr{}, nil)
	emit("cp.async.bulk.wait_group", litmus.Addr{}, nil, litmus.Const(0))
}
