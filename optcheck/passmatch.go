package optcheck

import (
	"maps"
	"slices"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// matchAll finds for each access of the specification the machine access that its marker's operand comes from.
func (p *pass) matchAll() {
	for k, e := range p.s.Entries {
		if e.Reads() && !e.Unread {
			p.matchRead(k)
		}
	}
	for k, e := range p.s.Entries {
		if !e.IsFence() && !e.Reads() {
			p.matchWrite(k, true)
		}
	}
	for k, e := range p.s.Entries {
		if !e.IsFence() && !e.Reads() && p.match[k] < 0 {
			p.matchWrite(k, false)
		}
	}
	p.matchUnread()
}

func (p *pass) assign(k, ev, word int) {
	p.match[k], p.word[k] = ev, word
	p.owner[ev] = append(p.owner[ev], k)
}

// matchRead follows the marker operand to the one access that produced it.
func (p *pass) matchRead(k int) {
	found := map[[2]int]bool{}
	p.tr.pool.visit()
	p.sources(p.oper[k], found)
	if len(found) == 1 {
		for s := range found {
			p.assign(k, p.tr.reads[s[0]], s[1])
		}
		if v, ok := p.extra[[2]int{k, 0}]; ok && p.s.Entries[k].Kind.Op == litmus.OpAtom {
			p.claimArms(k, p.match[k], v)
		}
		return
	}
	if len(found) > 1 {
		p.matchArms(k, found)
		return
	}
	// An atomic's result may be computed from one combined access of the warp (VOTE, POPC, SHFL around one ATOM): its
	// taint names that access.
	if p.s.Entries[k].Kind.Op == litmus.OpAtom {
		if ev := p.onlyAtomic(p.taintOfMarker(k), p.s.Entries[k]); ev >= 0 && p.tr.pool.shuffled(p.oper[k]) {
			p.assign(k, ev, 0)
		}
	}
}

// onlyAtomic returns the atomic that a taint refers to, or -1; a taint with anything but atomics refers to none. If
// all go to one address it is the last: lanes that do not perform the atomic may still hold what an earlier one
// returned when the result is shuffled to them. Otherwise it is the only one that goes to the entry's location and is
// not matched.
func (p *pass) onlyAtomic(t taint, e spec.Entry) int {
	last, own, same, count := -1, -1, true, 0
	for r, ev := range p.tr.reads {
		if t&(1<<uint(r)) == 0 {
			continue
		}
		x := &p.tr.events[ev]
		if x.role != isa.RoleAtomic {
			return -1
		}
		if last >= 0 && p.tr.events[last].addr != x.addr {
			same = false
		}
		last = ev
		if len(p.owner[ev]) == 0 && p.isLocation(x, e) {
			own, count = ev, count+1
		}
	}
	switch {
	case same:
		return last
	case count == 1:
		return own
	}
	return -1
}

// matchArms handles a value that comes from one of several accesses. The one on the entry's own line is the access
// itself; the others stay unmatched. A copy that is skipped leaves the result of an earlier one, which is on the same
// line and already matched.
func (p *pass) matchArms(k int, found map[[2]int]bool) {
	order := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
	for _, s := range slices.SortedFunc(maps.Keys(found), order) {
		ev := p.tr.reads[s[0]]
		if p.s.Entries[k].Back > 0 && len(p.owner[ev]) > 0 || p.inst(ev).Src.Line != p.s.Entries[k].Line() {
			continue
		}
		p.assign(k, ev, s[1])
		return
	}
}

func (p *pass) taintOfMarker(k int) taint {
	for _, m := range p.tr.markers {
		if m.m.Entry != nil && m.m.Entry.Pos == k {
			return m.t
		}
	}
	return 0
}

// sources collects the loads that a value may come from, through selections and merges of control flow.
func (p *pass) sources(v value, out map[[2]int]bool) {
	if !p.tr.pool.first(v) {
		return
	}
	n := p.tr.pool.nodes[v]
	switch n.kind {
	case kLoad:
		out[[2]int{int(n.a), int(n.b)}] = true
	case kSel:
		p.sources(n.a, out)
		p.sources(n.b, out)
	case kPhi:
		p.sources(n.a, out)
		p.sources(n.b, out)
	}
}

// matchWrite finds the store or reduction whose data is the marker's operand. With strict set, it must also go to the
// right location.
func (p *pass) matchWrite(k int, strict bool) {
	e := p.s.Entries[k]
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if len(p.owner[ev]) > 0 && !p.shares(k, ev) || x.result || !writes(x.role) ||
			!p.carries(x, p.oper[k], e.Kind.Op == litmus.OpRed, e.Guarded) {
			continue
		}
		if loc, ok := p.wordLocation(x, p.placeOf(k, x)); strict && (!ok || loc != e.Loc) {
			continue
		}
		if !strict && p.tr.fn.Insts[x.inst].Src.Line != 0 && p.tr.fn.Insts[x.inst].Src.Line != e.Line() && p.lineTaken(ev) {
			continue
		}
		p.assign(k, ev, 0)
		if e.Kind.Op == litmus.OpRed {
			p.claimArms(k, ev, p.oper[k])
		}
		return
	}
}

// shares reports whether a store that is already matched can hold another word for one more entry: neighbours stored
// at once.
func (p *pass) shares(k, ev int) bool {
	x := &p.tr.events[ev]
	w := p.placeOf(k, x)
	if x.role != isa.RoleStore || x.mem.Width <= p.s.Entries[k].Kind.Width {
		return false
	}
	for _, o := range p.owner[ev] {
		if p.placeOf(o, x) == w {
			return false
		}
	}
	return true
}

// claimArms marks the atomics that stand for the matched one, with operand v, on the other side of its predicate: a
// warp is split into lanes that combine and lanes that do not.
func (p *pass) claimArms(k, ev int, v value) {
	x, e := &p.tr.events[ev], p.s.Entries[k]
	for o := range p.tr.events {
		y := &p.tr.events[o]
		if o != ev && y.role == x.role && len(p.owner[o]) == 0 && y.addr == x.addr && y.mem.Atom == x.mem.Atom &&
			y.mem.Strength == x.mem.Strength && y.mem.Scope == x.mem.Scope && y.mem.Width == x.mem.Width &&
			x.condT == 0 && y.condT == 0 && p.byLane(x) && disjoint(x.when, y.when) && p.carries(y, v, true, e.Guarded) {
			y.arm = true
		}
	}
}

// disjoint reports whether two sets of conditions exclude each other.
func disjoint(a, b []sense) bool {
	for _, s := range a {
		for _, t := range b {
			if s.pred != none && s.pred == t.pred && s.want != t.want {
				return true
			}
		}
	}
	return false
}

// runsWith reports whether an event runs whenever another does.
func (p *pass) runsWith(ev, with int) bool {
	x, y := &p.tr.events[ev], &p.tr.events[with]
	for _, s := range x.when {
		found := false
		for _, t := range y.when {
			found = found || s == t && s.pred != none
		}
		if !found {
			return false
		}
	}
	return true
}

// lineTaken reports whether an event's line is that of an entry which already has its match and whose value the event
// also writes. If the value is another's, the line is wrong: LLVM gives neighbouring stores one line.
func (p *pass) lineTaken(ev int) bool {
	l := p.inst(ev).Src.Line - 1
	if uint(l) >= uint(len(p.match)) || p.match[l] < 0 {
		return false
	}
	e := p.s.Entries[l]
	return p.carries(&p.tr.events[ev], p.oper[l], e.Kind.Op == litmus.OpRed, e.Guarded)
}

func writes(r isa.Role) bool {
	return r == isa.RoleStore || r == isa.RoleReduction || r == isa.RoleAtomic
}

// carries reports whether an event writes a value. A reduction may compute its operand from it, since compilers
// combine the reductions of a warp; an access that may be skipped may select it by a predicate.
func (p *pass) carries(x *event, v value, derived, guarded bool) bool {
	seen := map[value]bool{}
	var find func(value) bool
	find = func(v value) bool {
		if v == none || seen[v] {
			return false
		}
		seen[v] = true
		for _, d := range x.data {
			if d == p.tr.pool.cut(v, x.mem.Width) || derived && p.combination(d, v) || guarded && p.selection(d, v) {
				return true
			}
		}
		// For a store that may be skipped, the marker's operand selects between the stored value and a filler.
		n := p.tr.pool.nodes[v]
		return (n.kind == kSel || n.kind == kPhi) && (find(n.a) || find(n.b))
	}
	return find(v)
}

// combination reports whether d is the combination of v over the lanes of a warp: a product with something that lanes
// decide, or the result of an instruction without word semantics (REDUX, XMAD). A sum or a bitwise function with
// something else is not.
func (p *pass) combination(d, v value) bool {
	seen := map[value]bool{}
	var find func(value) bool
	find = func(d value) bool {
		if d == none || seen[d] {
			return false
		}
		seen[d] = true
		if d == v {
			return true
		}
		n := p.tr.pool.nodes[d]
		switch {
		case n.kind == kFun && n.imm != funPair:
			for i, x := range [3]value{n.a, n.b, n.c} {
				if find(x) && p.byLanes(n, i) {
					return true
				}
			}
		case n.kind == kFun || n.kind == kPhi || n.kind == kSel:
			return find(n.a) || find(n.b) || find(n.c)
		case n.kind == kOpaque:
			return find(n.c)
		}
		return false
	}
	return find(d)
}

// combinedOf is combination for accesses that may be skipped, too: the operand then selects between the combined
// value and the token.
func (p *pass) combinedOf(d, v value, guarded bool) bool {
	seen := map[value]bool{}
	var find func(value) bool
	find = func(v value) bool {
		if v == none || seen[v] {
			return false
		}
		seen[v] = true
		n := p.tr.pool.nodes[v]
		return !p.isToken(v) && p.combination(d, v) || guarded && (n.kind == kSel || n.kind == kPhi) && (find(n.a) || find(n.b))
	}
	return find(v)
}

// isToken reports whether a value is the token: the operand of markers that mark no
// value, and of markers of skipped accesses.
func (p *pass) isToken(v value) bool {
	return slices.ContainsFunc(p.tr.markers, func(m marker) bool { return m.m.Header != nil && m.oper == v })
}

// byLanes reports whether lanes of the warp, not constants of the program, decide all operands of a function but one.
func (p *pass) byLanes(n node, but int) bool {
	for i, x := range [3]value{n.a, n.b, n.c} {
		if i != but && x != none && !p.tr.pool.lane(x) {
			return false
		}
	}
	return true
}

// selection reports whether v is one of the values that d may take.
func (p *pass) selection(d, v value) bool {
	p.tr.pool.visit()
	return p.selects(d, v)
}

func (p *pass) selects(d, v value) bool {
	if !p.tr.pool.first(d) || d == v {
		return d == v
	}
	n := p.tr.pool.nodes[d]
	return (n.kind == kSel || n.kind == kPhi) && (p.selects(n.a, v) || p.selects(n.b, v))
}
