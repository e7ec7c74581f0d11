package fakeptxas

import "slices"

// pairs finds two accesses p and q of the same bytes, q after p, under one
// condition, such that nothing in between matters to somebody who ignores the
// order of way: no other order, no call, and no access that clash objects to.
func (b *body) pairs(first, second func(*ref) bool, over way, clash func(*ref) bool, yield func(p, q *ref) bool) bool {
	a := b.flow()
	for k := range a.accs {
		p := &a.accs[k]
		if !first(p) {
			continue
		}
		for l := k + 1; l < len(a.accs); l++ {
			q := &a.accs[l]
			if second(q) && p.same(q) && b.sameGuard(p.i, q.i) && b.dominates(p.i, q.i) &&
				b.crosses(p, b.between(p.i, q.i), over, clash) && yield(p, q) {
				return true
			}
		}
	}
	return false
}

// way is what order may stand between two accesses: some of must, and besides it
// only what may be there rightly. The zero way has no order.
type way struct{ must, may sync }

// across returns the way that has one of some orders; may is what else does no harm.
func across(must, may sync) way {
	if must == none {
		return way{}
	}
	return way{must, may}
}

// crosses reports whether the order of some instructions is that of a way, and
// none of them is an access to p's bytes that clash objects to.
func (b *body) crosses(p *ref, these []int, over way, clash func(*ref) bool) bool {
	a, met := b.flow(), none
	for _, i := range these {
		met |= b.code[i].sync()
		if x := a.of[i]; x != nil && p.overlaps(x) && clash(x) {
			return false
		}
	}
	return met&^(over.must|over.may) == 0 && (met&over.must != none || over.must == none)
}

func writes(x *ref) bool { return x.writes() }
func any(*ref) bool      { return true }

func weakLoad(x *ref) bool    { return x.name == "ld" && x.word() && x.weak() }
func weakStore(x *ref) bool   { return x.name == "st" && x.word() && x.weak() }
func strongLoad(x *ref) bool  { return x.name == "ld" && x.word() && x.sem == "relaxed" }
func strongStore(x *ref) bool { return x.name == "st" && x.word() && x.sem == "relaxed" }
func looseLoad(x *ref) bool   { return weakLoad(x) || strongLoad(x) }
func looseStore(x *ref) bool  { return weakStore(x) || strongStore(x) }

// bits returns the type of a register that holds what an access moves.
func (a *ref) bits() string {
	if a.bytes() == 8 {
		return "b64"
	}
	return "b32"
}

// take gives load q what a register holds after instruction p.
func (b *body) take(p int, from string, q *ref) {
	kept, load := b.register(q.bits()), b.code[q.i]
	b.replace(q.i, load.make("mov."+q.bits(), load.args[0], kept))
	b.insert(p+1, b.code[p].make("mov."+q.bits(), kept, from))
}

// A later load may be made before a release, and an earlier store after an
// acquire: what is eliminated across more than that may cross these, too.

// redundantLoad takes one load for two.
func redundantLoad(load func(*ref) bool, cross sync) func(*body) bool {
	return func(b *body) bool {
		return b.pairs(load, load, across(cross, releases), any, func(p, q *ref) bool {
			b.take(p.i, b.code[p.i].args[0], q)
			return true
		})
	}
}

// forward gives a load what the thread has stored.
func forward(store, load func(*ref) bool, cross sync) func(*body) bool {
	return func(b *body) bool {
		return b.pairs(store, load, across(cross, releases), any, func(p, q *ref) bool {
			b.take(p.i, b.code[p.i].args[1], q)
			return true
		})
	}
}

// deadStore drops a store that a later one overwrites on every way.
func deadStore(store func(*ref) bool, cross sync) func(*body) bool {
	return func(b *body) bool {
		return b.pairs(store, store, across(cross, acquires), any, func(p, q *ref) bool {
			if !b.postdominates(q.i, p.i) {
				return false
			}
			b.replace(p.i)
			return true
		})
	}
}

// silentStore drops a store of what was just loaded or stored, whatever order
// stands between.
func silentStore(before func(*ref) bool) func(*body) bool {
	return func(b *body) bool {
		return b.pairs(before, looseStore, way{must: anything}, writes, func(p, q *ref) bool {
			a := b.flow()
			old := a.before[p.i+1][b.code[p.i].args[0]]
			if p.name == "st" {
				old = a.operand(p.i, b.code[p.i].args[1])
			}
			if a.operand(q.i, b.code[q.i].args[1]) != old {
				return false
			}
			b.replace(q.i)
			return true
		})
	}
}

// combineAtomics makes two additions without results one, the later.
func combineAtomics(b *body) bool {
	addition := func(x *ref) bool {
		return x.atom == "add" && x.bytes() == 4 && x.typ != "f32" && b.dead(x.i)
	}
	return b.pairs(addition, addition, way{must: anything}, any, func(p, q *ref) bool {
		sum, kept, first, last := b.register("b32"), b.register("b32"), b.code[p.i], b.code[q.i]
		operand := len(last.args) - 1
		b.replace(q.i, last.make("add.u32", sum, kept, last.args[operand]), last.changed(func(in *inst) { in.args[operand] = sum }))
		b.replace(p.i, first.make("mov.b32", kept, first.args[len(first.args)-1]))
		return true
	})
}

// branchValue gives a load the value with which an earlier load of the same
// bytes compared equal, where the comparison came out so.
func branchValue(b *body) bool {
	a := b.flow()
	for k := range a.accs {
		p := &a.accs[k]
		if !looseLoad(p) {
			continue
		}
		for l := k + 1; l < len(a.accs); l++ {
			q := &a.accs[l]
			if !looseLoad(q) || !p.same(q) || !b.dominates(p.i, q.i) || !b.crosses(p, b.between(p.i, q.i), way{must: anything}, writes) {
				continue
			}
			if v := b.fixed(p, q); v != "" {
				load := b.code[q.i]
				b.replace(q.i, load.make("mov."+q.bits(), load.args[0], v))
				return true
			}
		}
	}
	return false
}

// fixed returns what p read if q is executed, "" if that is not known.
func (b *body) fixed(p, q *ref) string {
	a := b.flow()
	read := a.before[p.i+1][b.code[p.i].args[0]]
	for s := p.i + 1; s < q.i; s++ {
		in := b.code[s]
		m := parseMnemonic(in.op)
		equal := slices.Equal(m.rest, []string{"eq"})
		if m.name != "setp" || !equal && !slices.Equal(m.rest, []string{"ne"}) || m.bytes() != 4 || in.guard != "" {
			continue
		}
		if a.operand(s, in.args[1]) == read && b.knows(s, q.i, equal) {
			return in.args[2]
		}
	}
	return ""
}

// knows reports whether instruction q is only executed if the predicate that s
// sets came out as given.
func (b *body) knows(s, q int, when bool) bool {
	p := b.code[s].args[0]
	yes, no := "@"+p, "@!"+p
	if !when {
		yes, no = no, yes
	}
	if b.code[q].guard == yes && !b.defined(p, b.between(s, q)) {
		return true
	}
	return slices.ContainsFunc(b.between(s, q), func(i int) bool {
		in := b.code[i]
		return in.name() == "bra" && in.guard == no && b.dominates(i, q) && b.straight(i+1, q)
	})
}
