package prove

import "math/bits"

// narrow cuts two terms to the bits that one of them may have.
func (x *terms) narrow(a, b term) (term, term) {
	if k := max(bits.Len64(x.may(a)|x.may(b)), 1); k < x.width(a) {
		return x.ext(a, 0, k), x.ext(b, 0, k)
	}
	m, n := x.at(a), x.at(b)
	if m.kind == sext && n.kind == sext && x.width(m.args[0]) == x.width(n.args[0]) {
		return m.args[0], n.args[0]
	}
	return a, b
}

// greatest is a bound of what a term is.
func (x *terms) greatest(t term) uint64 {
	if n := x.at(t); n.kind == sum {
		if lo, hi, ok := x.interval(n); ok && lo >= 0 && uint64(hi) <= ones(int(n.w)) {
			return uint64(hi)
		}
	}
	return x.may(t)
}

// eq is 1 if two terms are equal: a sum without its constant is compared with one.
func (x *terms) eq(a, b term) term {
	if a == b {
		return x.num(1, 1)
	}
	a, b = x.narrow(a, b)
	w := x.width(a)
	if w == 1 {
		return x.xor(a, b, x.num(1, 1))
	}
	l := &linear{x: x, w: w}
	l.add(a, 1)
	l.add(b, ^uint64(0))
	for range 16 {
		if !l.join() {
			break
		}
	}
	l.c &= ones(w)
	if len(l.args) == 0 {
		return x.truth(l.c == 0)
	}
	c := -l.c
	l.c = 0
	least := 0
	for i, t := range l.args {
		if t < l.args[least] {
			least = i
		}
	}
	if signed(l.coefs[least], w) < 0 {
		for i := range l.coefs {
			l.coefs[i] = -l.coefs[i] & ones(w)
		}
		c = -c
	}
	s, k := l.made(), x.num(w, c)
	if v, _ := x.constant(k); v&^x.may(s) != 0 {
		return x.num(1, 0)
	}
	if w1 := bits.Len64(x.may(s)); w1 < w && w1 > 0 {
		s, k = x.ext(s, 0, w1), x.ext(k, 0, w1)
		if w1 == 1 {
			return x.xor(s, k, x.num(1, 1))
		}
	}
	return x.fold(node{kind: eq, w: 1, args: []term{s, k}})
}

// ult is 1 if a is less than b.
func (x *terms) ult(a, b term) term {
	if a == b {
		return x.num(1, 0)
	}
	if m, n := x.at(a), x.at(b); m.kind != sext || n.kind != sext {
		a, b = x.narrow(a, b)
	}
	w := x.width(a)
	if w == 1 {
		return x.and(x.not(a), b)
	}
	if v, ok := x.constant(b); ok {
		switch {
		case v == 0:
			return x.num(1, 0)
		case v > x.greatest(a):
			return x.num(1, 1)
		case v == 1:
			return x.eq(a, x.num(w, 0))
		case v&(v-1) == 0 && x.may(a) < 2*v: // a carry
			return x.not(x.ext(a, bits.TrailingZeros64(v), 1))
		}
	}
	if v, ok := x.constant(a); ok {
		if v >= x.greatest(b) {
			return x.num(1, 0)
		}
		return x.not(x.ult(b, x.num(w, v+1)))
	}
	if w > 32 {
		return x.words(x.ult, a, b)
	}
	a, b = x.upright(a, b)
	return x.fold(node{kind: ult, w: 1, args: []term{a, b}})
}

// words compares high words, and low ones if the high ones are equal: as machine code compares what is wider than a word.
func (x *terms) words(less func(a, b term) term, a, b term) term {
	n := x.width(a) - 32
	p, q := x.ext(a, 32, n), x.ext(b, 32, n)
	return x.or(less(p, q), x.and(x.eq(p, q), x.ult(x.ext(a, 0, 32), x.ext(b, 0, 32))))
}

// slt is 1 if a is less than b as signed numbers.
func (x *terms) slt(a, b term) term {
	w := x.width(a)
	if a == b {
		return x.num(1, 0)
	}
	if (x.may(a)|x.may(b))>>(w-1) == 0 {
		return x.ult(a, b)
	}
	if m, n := x.at(a), x.at(b); m.kind == sext && n.kind == sext {
		a, b = x.narrow(a, b)
		w = x.width(a)
	}
	if w == 1 { // 1 is -1
		return x.and(a, x.not(b))
	}
	if x.is(b, 0) {
		return x.ext(a, w-1, 1)
	}
	if v, ok := x.constant(a); ok {
		u, both := x.constant(b)
		switch {
		case both:
			return x.truth(signed(v, w) < signed(u, w))
		case v == ones(w-1):
			return x.num(1, 0)
		}
		return x.not(x.slt(b, x.num(w, v+1)))
	}
	if w > 32 {
		return x.words(x.slt, a, b)
	}
	a, b = x.upright(a, b)
	return x.fold(node{kind: slt, w: 1, args: []term{a, b}})
}

// upright are the operands of a comparison of which none is a complement: less is what has the greater complement.
func (x *terms) upright(a, b term) (term, term) {
	w := x.width(a)
	of := func(t term) (term, bool) {
		n := x.at(t)
		if n.kind != xor || len(n.args) != 1 || n.value != ones(w) {
			return 0, false
		}
		return n.args[0], true
	}
	if c, ok := of(b); ok {
		return c, x.sub(x.num(w, ones(w)), a)
	}
	if c, ok := of(a); ok {
		return x.sub(x.num(w, ones(w)), b), c
	}
	return a, b
}

// shift is a term shifted by an amount; from the width on zeros, or signs, are left.
func (x *terms) shift(k kind, t, by term) term {
	w := x.width(t)
	by = x.unclamped(by, w)
	n, ok := x.constant(by)
	if x.is(t, 0) {
		return t
	}
	if !ok {
		return x.intern(node{kind: k, w: uint8(w), args: []term{t, by}})
	}
	switch v := int(min(n, uint64(w))); {
	case v == 0:
		return t
	case k == sar:
		v = min(v, w-1)
		return x.sext(x.ext(t, v, w-v), w)
	case v == w:
		return x.num(w, 0)
	case k == shl:
		return x.scale(t, 1<<v)
	default:
		return x.zext(x.ext(t, v, w-v), w)
	}
}

// unclamped is an amount of a shift of a term of w bits without a bound that is at least w: beyond it, all is shifted out either way.
func (x *terms) unclamped(by term, w int) term {
	n := x.at(by)
	if n.kind != ite || x.kind(n.args[0]) != ult {
		return by
	}
	less := x.at(n.args[0])
	bound, fixed := x.constant(less.args[1])
	most, clamps := x.constant(n.args[2])
	if fixed && clamps && bound >= uint64(w) && most >= uint64(w) && x.zext(less.args[0], x.width(by)) == n.args[1] {
		return n.args[1]
	}
	return by
}
