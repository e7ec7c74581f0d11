package fakeptxas

import (
	"fmt"
	"strconv"
	"strings"
)

// adjacent finds two accesses of 32 bits to the words of one aligned pair of
// words, on one way, with order in between or, if strong, none.
func (b *body) adjacent(kind func(*ref) bool, cross sync, yield func(p, q *ref) bool) bool {
	a := b.flow()
	for k := range a.accs {
		p := &a.accs[k]
		if !kind(p) {
			continue
		}
		for l := k + 1; l < len(a.accs); l++ {
			q := &a.accs[l]
			if kind(q) && p.neighbour(q) && b.straight(p.i, q.i) && b.sameGuard(p.i, q.i) && !b.apart(p, q, cross) && yield(p, q) {
				return true
			}
		}
	}
	return false
}

// neighbour reports whether two accesses are to the two words of an aligned pair.
func (a *ref) neighbour(b *ref) bool {
	return a.bytes() == 4 && b.bytes() == 4 && a.space == b.space && a.addr.base == b.addr.base && a.addr.off&^7 == b.addr.off&^7 &&
		a.addr.off != b.addr.off
}

// apart reports whether something between two accesses forbids making them one.
func (b *body) apart(p, q *ref, cross sync) bool {
	these := b.between(p.i, q.i)
	return !b.crosses(p, these, way{must: cross}, any) || !b.crosses(q, these, way{must: cross}, any)
}

// vectorName returns the weak access of a pair of words.
func vectorName(p *ref) string {
	return mnemonic{name: p.name, space: p.space, vec: "v2", typ: "b32"}.String()
}

// lowWord returns the address of the pair of words that an access belongs to.
func lowWord(p *ref, in *inst) string {
	return plus(in.address(), -(p.addr.off & 7))
}

// inOrder arranges what belongs to p and q by address.
func inOrder(p, q *ref, x, y string) string {
	if p.addr.off > q.addr.off {
		x, y = y, x
	}
	return "{" + x + ", " + y + "}"
}

// vectorLoads makes two loads of neighbouring words one weak load, the earlier.
func vectorLoads(kind func(*ref) bool, cross sync) func(*body) bool {
	return func(b *body) bool {
		return b.adjacent(kind, cross, func(p, q *ref) bool {
			first, second := b.code[p.i], b.code[q.i]
			kept := b.register("b32")
			b.replace(q.i, second.make("mov.b32", second.args[0], kept))
			b.replace(p.i, first.make(vectorName(p), inOrder(p, q, first.args[0], kept), lowWord(p, first)))
			return true
		})
	}
}

// vectorStores makes two stores of neighbouring words one weak store, the later.
func vectorStores(kind func(*ref) bool, cross sync) func(*body) bool {
	return func(b *body) bool {
		return b.adjacent(kind, cross, func(p, q *ref) bool {
			first, second := b.code[p.i], b.code[q.i]
			kept := b.register("b32")
			b.replace(q.i, second.make(vectorName(q), lowWord(q, second), inOrder(p, q, kept, second.args[1])))
			b.replace(p.i, first.make("mov.b32", kept, first.args[1]))
			return true
		})
	}
}

// split makes two accesses of 32 bits of one of 64.
func split(name string) func(*body) bool {
	return rewrite(func(b *body, i int) []*inst {
		x := b.flow().of[i]
		if x == nil || x.name != name || !x.word() || x.bytes() != 8 {
			return nil
		}
		in := b.code[i]
		m := x.mnemonic
		m.typ = "b32"
		lo, hi := b.register("b32"), b.register("b32")
		pair, high := "{"+lo+", "+hi+"}", plus(in.address(), 4)
		low := plus(in.address(), 0)
		if name == "ld" {
			return []*inst{in.make(m.String(), lo, low), in.make(m.String(), hi, high), in.make("mov.b64", in.args[0], pair)}
		}
		return []*inst{in.make("mov.b64", pair, in.args[1]), in.make(m.String(), low, lo), in.make(m.String(), high, hi)}
	})
}

// plus returns the operand of an address some bytes further.
func plus(address string, n int64) string {
	base := strings.TrimSpace(address)
	if m := plusOffset.FindStringSubmatch(address); m != nil {
		old, _ := strconv.ParseInt(m[2], 10, 64)
		base, n = m[1], n+old
	}
	if n == 0 {
		return "[" + base + "]"
	}
	return fmt.Sprintf("[%s+%d]", base, n)
}
