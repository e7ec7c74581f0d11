package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// matchUnread matches the accesses whose results nobody observes. They have no marker; class, address, line and place
// decide.
func (p *pass) matchUnread() {
	for k, e := range p.s.Entries {
		if !e.Unread || !e.Reads() || p.inRounds(k, e) {
			continue
		}
		ev := p.unreadEvent(k, e)
		if ev < 0 {
			ev = p.mergedUnread(k, e)
		}
		if ev < 0 {
			continue
		}
		p.assignUnread(k, ev)
	}
}

func (p *pass) assignUnread(k, ev int) {
	p.assign(k, ev, 0)
	if r := p.tr.events[ev].read; r >= 0 {
		p.oper[k] = p.tr.pool.mk(node{kind: kLoad, a: value(r), b: 0, c: none})
	}
}

// inRounds matches an access in a loop whose result nobody observes in any round. Its copies share their line, so
// they can only be told apart, by their order, if all of them exist.
func (p *pass) inRounds(k int, e spec.Entry) bool {
	var copies []int
	for i, o := range p.s.Entries {
		if o.Line() != e.Line() {
			continue
		}
		if copies = append(copies, i); !o.Unread {
			return false
		}
	}
	if len(copies) == 1 || k != copies[0] {
		return len(copies) > 1
	}
	var found []int
	for ev := range p.tr.events {
		if x := &p.tr.events[ev]; len(p.owner[ev]) == 0 && !x.arm && p.inst(ev).Src.Line == e.Line() && p.serves(x, e) && p.isLocation(x, e) {
			found = append(found, ev)
		}
	}
	switch len(found) {
	case 0:
	case len(copies):
		for i, ev := range found {
			p.assignUnread(copies[i], ev)
		}
	default:
		p.undecided("%s is performed in %d of %d rounds, and which ones cannot be told, since nobody observes what it reads", p.name(k),
			len(found), len(copies))
	}
	return true
}

// unreadEvent returns the access of an unread entry, or -1: the one on its line, else the first between those of its
// neighbours, else one that is on no other access's line.
func (p *pass) unreadEvent(k int, e spec.Entry) int {
	lo, hi := p.window(k)
	best, rank := -1, 0
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if len(p.owner[ev]) > 0 || x.result || x.arm || !p.serves(x, e) || !p.isLocation(x, e) {
			continue
		}
		r := 1
		switch line := p.inst(ev).Src.Line; {
		case line == e.Line():
			r = 3
		case lo < ev && ev < hi:
			r = 2
		case line > 0 && line <= len(p.s.Entries):
			continue
		}
		if e.Writes() && p.combines(x, k, e) {
			r += 3
		}
		if r > rank {
			best, rank = ev, r
		}
	}
	return best
}

// combines reports whether an atomic has the operands of the entry.
func (p *pass) combines(x *event, k int, e spec.Entry) bool {
	for _, i := range e.Operands() {
		if want, ok := p.extra[[2]int{k, i}]; !ok || !p.hasOperand(x, e, i, want) {
			return false
		}
	}
	return true
}

// serves reports whether an event is of the entry's class. A reduction is an atomic
// whose result is dropped.
func (p *pass) serves(x *event, e spec.Entry) bool {
	if e.Kind.Op == litmus.OpLd {
		return x.role == isa.RoleLoad
	}
	if x.role != isa.RoleAtomic && x.role != isa.RoleReduction {
		return false
	}
	return x.mem.Locked || p.operation(x, e)
}

// mergedUnread returns the access of another entry on the line of an unread one: the compiler kept one load for both.
// Copies of one instruction share their line, which then says nothing.
func (p *pass) mergedUnread(k int, e spec.Entry) int {
	for ev, ks := range p.owner {
		if x := &p.tr.events[ev]; len(ks) == 1 && p.s.Entries[ks[0]].Line() != e.Line() && p.inst(ev).Src.Line == e.Line() && p.serves(x, e) &&
			p.isLocation(x, e) {
			return ev
		}
	}
	return -1
}

// atomicResults maps values to the entries of the atomics that return them. The lanes of a warp may compute their
// results from one combined atomic; where no marker names such a value, its dependencies identify it.
func (p *pass) atomicResults() map[value]int {
	out := map[value]int{}
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 || !isAtomic(e) || !e.Reads() || p.tr.events[ev].read < 0 {
			continue
		}
		out[p.oper[k]] = k
		if !e.Unread {
			continue
		}
		bit := taint(1) << uint(p.tr.events[ev].read)
		for i := range p.tr.events {
			x := &p.tr.events[i]
			if x.dataT&^x.condT != bit || len(p.owner[i]) == 0 {
				continue
			}
			for _, v := range x.data {
				if p.tr.pool.nodes[v].kind != kLoad && p.tr.pool.shuffled(v) {
					out[v] = k
				}
			}
		}
	}
	return out
}

// mayGo reports whether an unread access may be dropped if the model agrees.
func (p *pass) mayGo(e spec.Entry) bool {
	switch e.Kind.Sem {
	case litmus.SemNone, litmus.SemWeak, litmus.SemRelaxed:
		return e.Kind.Op == litmus.OpLd
	}
	return false
}
