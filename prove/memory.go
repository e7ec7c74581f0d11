package prove

import (
	"slices"

	"optcheck/ir"
)

// difference is how much further an address is than another one, if that is a constant.
func (x *terms) difference(a, b term) (uint64, bool) {
	if x.width(a) != x.width(b) {
		return 0, false
	}
	l := &linear{x: x, w: x.width(a)}
	l.add(a, 1)
	l.add(b, ^uint64(0))
	return l.c & ones(l.w), len(l.args) == 0
}

// place is some bytes of memory.
type place struct {
	space ir.Space
	addr  term
	bytes int
}

func (x *terms) placeOf(n *node) place { return place{n.space, n.args[1], int(n.w) / 8} }

// disjoint reports whether two places have no byte in common, whatever the input.
func (x *terms) disjoint(p, q place) bool {
	if p.space != q.space {
		return p.space != ir.Generic && q.space != ir.Generic
	}
	d, ok := x.difference(p.addr, q.addr)
	m := ones(x.width(p.addr))
	return ok && d >= uint64(q.bytes) && -d&m >= uint64(p.bytes)
}

// before is an order of places that is the same however their addresses are computed.
func (x *terms) before(p, q place) bool {
	if p.space != q.space {
		return p.space < q.space
	}
	return slices.Compare(x.vals[p.addr][:], x.vals[q.addr][:]) < 0
}

// store is memory behind a store. Stores to places that are apart are kept in one order, so that memory is the same whichever was first.
func (x *terms) store(mem term, p place, val, guard term) term {
	if x.is(guard, 0) {
		return mem
	}
	n := x.at(mem)
	if n.kind == written {
		q := x.placeOf(n)
		if p == q && (n.args[3] == guard || x.is(guard, 1)) {
			return x.store(n.args[0], p, val, guard)
		}
		if x.disjoint(p, q) && x.before(p, q) {
			return x.stored(x.store(n.args[0], p, val, guard), q, n.args[2], n.args[3])
		}
	}
	return x.stored(mem, p, val, guard)
}

// stored puts a store last. Two neighbours that are narrower than a word are one.
func (x *terms) stored(mem term, p place, val, guard term) term {
	if n := x.at(mem); n.kind == written && n.args[3] == guard && p.bytes < 4 && n.space == p.space && int(n.w) == 8*p.bytes {
		l := &linear{x: x, w: x.width(p.addr)}
		low, high := p.addr, n.args[1]
		lowVal, highVal := val, n.args[2]
		if d, ok := x.difference(p.addr, n.args[1]); ok && d == uint64(p.bytes) {
			low, high, lowVal, highVal = high, low, highVal, lowVal
		}
		l.add(low, 1)
		if d, ok := x.difference(high, low); ok && d == uint64(p.bytes) && l.c%uint64(2*p.bytes) == 0 {
			return x.store(n.args[0], place{p.space, low, 2 * p.bytes}, x.concat(highVal, lowVal), guard)
		}
	}
	return x.intern(node{kind: written, w: uint8(8 * p.bytes), space: p.space, args: []term{mem, p.addr, val, guard}})
}

// load is what memory holds at a place, for a lane that has come on a path.
func (x *terms) load(mem term, p place, path term) term {
	n := x.at(mem)
	for ; n.kind == written; n = x.at(mem) {
		q := x.placeOf(n)
		if x.disjoint(p, q) || x.is(x.and(path, n.args[3]), 0) {
			mem = n.args[0]
			continue
		}
		d, ok := x.difference(p.addr, q.addr)
		if p.space != q.space || !ok {
			break
		}
		if d+uint64(p.bytes) > uint64(q.bytes) || d > uint64(q.bytes) { // a part of it
			if p.bytes == 1 {
				break
			}
			half := p.bytes / 2
			upper := x.add(p.addr, x.num(x.width(p.addr), uint64(half)))
			return x.concat(x.load(mem, place{p.space, upper, half}, path), x.load(mem, place{p.space, p.addr, half}, path))
		}
		val := x.ext(n.args[2], int(8*d), 8*p.bytes)
		if x.is(x.and(path, x.not(n.args[3])), 0) {
			return val
		}
		return x.ite(n.args[3], val, x.load(n.args[0], p, path))
	}
	return x.intern(node{kind: read, w: uint8(8 * p.bytes), space: p.space, args: []term{mem, p.addr}})
}

// stir is memory behind an event at which others may write it.
func (x *terms) stir(mem term, event int, guard term) term {
	if x.is(guard, 0) {
		return mem
	}
	return x.intern(node{kind: stirred, value: uint64(event), args: []term{mem, guard}})
}
