package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// fenceNeed is the minimum that the machine code of a fence must be.
type fenceNeed struct {
	bar        spec.Entry // the barrier, for barriers
	sc         bool       // sequentially consistent, not merely acquire-release
	scope      isa.Scope
	invalidate bool // an L1 invalidation must follow
	barrier    bool // an execution barrier
	any        bool // any fence will do
	acquire    bool // an invalidation alone will do
}

// fenceNeed returns how strong the machine fence must be (PTX ISA, Memory Consistency Model; what each ptxas makes of
// a fence: optcheck mapping). Fences of wider scope than the CTA are followed by an invalidation of the L1
// (CCTL.IVALL, or .IVALLD before sm_70), so that later loads see what others released.
func (a nvidia) fenceNeed(k spec.Kind) fenceNeed {
	switch k.Op {
	case litmus.OpBar:
		return fenceNeed{barrier: true}
	case litmus.OpFenceProxy:
		return fenceNeed{any: true}
	}
	n := fenceNeed{scope: scopeOf(k.Scope), sc: a.sm >= 70 && (k.Op == litmus.OpMembar || k.Sem == litmus.SemSC)}
	n.invalidate = n.scope > isa.ScopeCTA && k.Sem != litmus.SemRelease
	// Since CUDA 12.8, fence.acquire is the invalidation alone, as after an acquire load.
	n.acquire = k.Sem == litmus.SemAcquire
	return n
}

// window returns the range of events in which a fence between positions must stand:
// after the last access before it, before the first access after it.
func (p *pass) window(pos int) (lo, hi int) {
	lo, hi = -1, len(p.tr.events)
	for k := range p.s.Entries {
		switch ev := p.match[k]; {
		case ev < 0:
		case k < pos:
			lo = max(lo, ev)
		case k > pos:
			hi = min(hi, ev)
		}
	}
	return lo, hi
}

// order checks fences, barriers, and the fences that implement release
// and acquire accesses.
func (a nvidia) order(p *pass) {
	// After checkControl, whose finding it is which lanes act. Before sm_70 products are
	// made of XMADs.
	if a.sm >= 70 {
		checkLanes(p)
	}
	for k, e := range p.s.Entries {
		if e.IsFence() {
			lo, hi := p.window(k)
			n := a.fenceNeed(e.Kind)
			n.bar = e
			p.checkFence(k, n, lo, hi)
			continue
		}
		if p.match[k] < 0 {
			continue
		}
		p.checkRelease(k, e)
		p.checkAcquire(k, e)
	}
}

// checkFence looks for a fence in the open interval of events (lo, hi). When accesses were moved across each other
// there is no such interval, and guessing the nearest one around what did not move is not worthwhile: any fence after
// lo's predecessor counts, and the order rule reports the move.
func (p *pass) checkFence(k int, n fenceNeed, lo, hi int) {
	if n.acquire && n.scope == isa.ScopeCTA {
		return // the threads of a CTA share one L1: nothing is emitted
	}
	if lo >= hi {
		p.report(FenceRemoved, k, -1, "no place between the accesses before and after %s: they were moved across it or merged", p.name(k))
		return
	}
	best, bestRank, cached := -1, -1, p.cachedBehind(k)
	for ev := lo + 1; ev < hi; ev++ {
		if r := p.rankFence(ev, n, cached); r > bestRank {
			best, bestRank = ev, r
		}
	}
	if best < 0 || bestRank == 0 {
		p.report(FenceRemoved, k, -1, "%s has no counterpart between the accesses around it", p.name(k))
		return
	}
	x := &p.tr.events[best]
	if len(p.owner[best]) == 0 {
		p.owner[best] = append(p.owner[best], k) // for listings
	}
	if x.cond && !p.s.Entries[k].Guarded {
		p.report(ControlChanged, k, best, "%s is executed only under a condition: %s", p.name(k), p.text(best))
	}
	for _, d := range p.s.Deps {
		if d.To == k && x.cond && p.match[d.From] >= 0 {
			if r := p.tr.events[p.match[d.From]].read; x.condT&(1<<uint(r)) == 0 {
				p.report(ControlChanged, k, best, "%s is executed under a condition that does not depend on %s: %s", p.name(k), p.name(d.From),
					p.text(best))
			}
		}
	}
	if n.acquire && x.role == isa.RoleCache {
		return
	}
	if why := p.fenceShort(best, n, cached); why != "" {
		p.report(FenceWeakened, k, best, "%s became %s: %s", p.name(k), p.text(best), why)
	}
}

// cachedBehind returns the first event after a position that may find a stale line in the L1: a load from anywhere
// but shared memory. The invalidation of a fence must precede it, and may follow other accesses.
func (p *pass) cachedBehind(pos int) int {
	first := len(p.tr.events)
	for k := pos + 1; k < len(p.s.Entries); k++ {
		if e := p.s.Entries[k]; e.Reads() && e.Kind.Space != litmus.Shared && p.match[k] >= 0 {
			first = min(first, p.match[k])
		}
	}
	return first
}

// rankFence returns how well an event serves as the fence: 0 not at all, more is better.
func (p *pass) rankFence(ev int, n fenceNeed, hi int) int {
	x := &p.tr.events[ev]
	switch {
	case n.barrier:
		if x.role == isa.RoleBarrier && len(p.owner[ev]) == 0 && isBarrier(p.inst(ev), n.bar) {
			return 1
		}
		return 0
	case x.role == isa.RoleCache && n.acquire && x.mem.Invalidate:
		return 1
	case x.role != isa.RoleFence:
		return 0
	}
	r := 1 + int(x.mem.Scope)*2
	if x.mem.Strength == isa.FenceSC {
		r++
	}
	if p.fenceShort(ev, n, hi) == "" {
		r += 100
	}
	return r
}

// isBarrier reports whether an instruction is the barrier of an entry: BAR.SYNC or BAR.ARV with the same number and
// as many threads.
func isBarrier(in *isa.Inst, e spec.Entry) bool {
	if e.Instr >= 0 && (nvidia{}).barrier(in) != e.Threads {
		return false
	}
	id, arrives, ok := barOf(in)
	return ok && id == int64(e.Kind.Barrier) && arrives == e.Kind.Arrive
}

// barOf returns the number of the barrier at which BAR.SYNC waits, or BAR.ARV arrives; ok is false for any other instruction, and
// for a number in a register.
func barOf(in *isa.Inst) (id int64, arrives, ok bool) {
	if in.Op != "BAR" || len(in.Mods) == 0 || len(in.Args) == 0 {
		return 0, false, false
	}
	a := &in.Args[0]
	return a.Imm, in.Mods[0] == "ARV", (in.Mods[0] == "ARV" || in.Mods[0] == "SYNC") && (a.Kind == isa.OpdImm || a.Zero)
}

// fenceShort says how a machine fence falls short of what is needed, "" if it does not.
func (p *pass) fenceShort(ev int, n fenceNeed, hi int) string {
	m := p.tr.events[ev].mem
	if m.Scope < n.scope {
		return "its scope is narrower"
	}
	if n.sc && m.Strength != isa.FenceSC {
		return "it is not sequentially consistent"
	}
	if n.invalidate && !m.Invalidate && !p.invalidated(ev, ev, hi) {
		return "no invalidation of the L1 follows"
	}
	return ""
}

// invalidated reports whether an L1 invalidation that runs whenever event with
// does stands between two events.
func (p *pass) invalidated(with, lo, hi int) bool {
	for ev := lo + 1; ev < hi; ev++ {
		if p.tr.events[ev].mem.Invalidate && p.runsWith(ev, with) {
			return true
		}
	}
	return false
}

// checkRelease requires a fence before a release access.
func (p *pass) checkRelease(k int, e spec.Entry) {
	if e.Kind.Sem != litmus.SemRelease && e.Kind.Sem != litmus.SemAcqRel {
		return
	}
	lo, _ := p.window(k)
	ev := p.match[k]
	need := accessScope(e.Kind)
	if lo >= ev {
		p.report(FenceRemoved, k, ev, "no place for the fence of %s: earlier accesses were moved behind it", p.name(k))
		return
	}
	best := isa.ScopeNone
	for o := lo + 1; o < ev; o++ {
		if x := &p.tr.events[o]; x.role == isa.RoleFence && p.runsWith(o, ev) {
			best = max(best, x.mem.Scope)
			if len(p.owner[o]) == 0 {
				p.owner[o] = append(p.owner[o], k)
			}
		}
	}
	switch {
	case best == isa.ScopeNone:
		p.report(FenceRemoved, k, ev, "the fence in front of %s is missing", p.name(k))
	case best < need:
		p.report(FenceWeakened, k, ev, "the fence in front of %s has the narrower scope %v", p.name(k), best)
	}
}

// checkAcquire checks that something waits for an acquire access before anything after it is issued, and, if its
// scope is wider than the CTA, that an L1 invalidation follows (the threads of a CTA share one L1).
func (p *pass) checkAcquire(k int, e spec.Entry) {
	if e.Kind.Sem != litmus.SemAcquire && e.Kind.Sem != litmus.SemAcqRel {
		return
	}
	ev := p.match[k]
	if in := p.unawaited(ev); in != nil {
		p.report(FenceRemoved, k, ev, "nothing waits for %s before %s is issued", p.name(k), trim(in.Text))
	}
	if accessScope(e.Kind) <= isa.ScopeCTA || e.Kind.Space == litmus.Shared {
		return
	}
	_, hi := p.window(k)
	if hi <= ev {
		p.report(FenceRemoved, k, ev, "no place for the invalidation behind %s: later accesses were moved in front of it", p.name(k))
		return
	}
	if !p.invalidated(ev, ev, hi) {
		p.report(FenceRemoved, k, ev, "the invalidation behind %s is missing", p.name(k))
	}
}

// accessScope returns the scope of a synchronising access; atomics without one have
// GPU scope (PTX ISA, atom).
func accessScope(k spec.Kind) isa.Scope {
	if k.Scope == litmus.ScopeNone {
		return isa.ScopeGPU
	}
	return scopeOf(k.Scope)
}

func (nvidia) barrier(in *isa.Inst) int {
	if in.Op != "BAR" || len(in.Args) < 2 {
		return 0
	}
	a := &in.Args[1]
	switch {
	case a.Zero:
		return 0
	case a.Kind == isa.OpdImm:
		return int(a.Imm)
	}
	return -1 // in a register
}
