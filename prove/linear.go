package prove

import (
	"math/bits"
	"slices"
)

// linear is a sum that is being made, modulo 2^w.
type linear struct {
	x     *terms
	w     int
	c     uint64
	args  []term
	coefs []uint64
}

// add is a sum of terms of one width.
func (x *terms) add(args ...term) term {
	if x.width(args[0]) == 1 {
		return x.xor(args...)
	}
	l := &linear{x: x, w: x.width(args[0])}
	for _, a := range args {
		l.add(a, 1)
	}
	return l.term()
}

func (x *terms) sub(a, b term) term {
	if x.width(a) == 1 {
		return x.xor(a, b)
	}
	l := &linear{x: x, w: x.width(a)}
	l.add(a, 1)
	l.add(b, ^uint64(0))
	return l.term()
}

// scale is a multiple of a term.
func (x *terms) scale(a term, k uint64) term {
	l := &linear{x: x, w: x.width(a)}
	l.add(a, k)
	return l.term()
}

func (l *linear) put(t term, k uint64) {
	if k &= ones(l.w); k == 0 {
		return
	}
	if i := slices.Index(l.args, t); i >= 0 {
		if l.coefs[i] = (l.coefs[i] + k) & ones(l.w); l.coefs[i] == 0 {
			l.args, l.coefs = slices.Delete(l.args, i, i+1), slices.Delete(l.coefs, i, i+1)
		}
		return
	}
	l.args, l.coefs = append(l.args, t), append(l.coefs, k)
}

// add adds k times a term of the width of the sum.
func (l *linear) add(t term, k uint64) {
	x := l.x
	if k &= ones(l.w); k == 0 {
		return
	}
	n := x.at(t)
	switch {
	case n.kind == konst:
		l.c += k * n.value
	case n.kind == sum:
		l.c += k * n.value
		for i, a := range n.args {
			l.put(a, k*n.coefs[i])
		}
	case n.kind == xor && n.value == ones(l.w) && len(n.args) == 1 && l.w > 1: // ~a is -1 - a
		l.c -= k
		l.add(n.args[0], -k)
	case n.kind == cat:
		l.parts(n.args, k)
	case n.kind == product && l.w == 64 && k&ones(32) == 0: // of which only the low half matters
		l.widen(x.product(x.low(n.args, 32)...), k)
	default:
		l.put(t, k)
	}
}

// low are the low bits of terms.
func (x *terms) low(args []term, w int) []term {
	out := make([]term, len(args))
	for i, a := range args {
		out[i] = x.ext(a, 0, w)
	}
	return out
}

// parts adds k times what parts are side by side.
func (l *linear) parts(parts []term, k uint64) {
	at := 0
	for _, p := range slices.Backward(parts) {
		l.widen(p, k<<at)
		at += l.x.width(p)
	}
}

// widen adds k times a term that is narrower than the sum, extended by zeros.
func (l *linear) widen(t term, k uint64) {
	x := l.x
	if k &= ones(l.w); k == 0 {
		return
	}
	n, w := x.at(t), x.width(t)
	if w == l.w {
		l.add(t, k)
		return
	}
	top := k&ones(l.w-w) == 0 // only the low w bits matter
	switch {
	case n.kind == konst:
		l.c += k * n.value
	case n.kind == cat:
		l.parts(n.args, k)
	case n.kind == xor && n.value == ones(w) && len(n.args) == 1:
		l.c += k * ones(w)
		l.widen(n.args[0], -k)
	case n.kind == sum && (top || x.exact(n)):
		l.c += k * uint64(x.base(n))
		for i, a := range n.args {
			l.widen(a, k*uint64(signed(n.coefs[i], w)))
		}
	case n.kind == sext && top:
		l.add(x.sext(n.args[0], l.w), k)
	case n.kind == ext && n.value == 0 && top && x.width(n.args[0]) == l.w:
		l.add(n.args[0], k)
	default:
		l.put(x.intern(node{kind: cat, w: uint8(l.w), args: []term{x.num(l.w-w, 0), t}}), k)
	}
}

// exact reports whether a sum does not wrap.
func (x *terms) exact(n *node) bool {
	lo, hi, ok := x.interval(n)
	return ok && lo >= 0 && uint64(hi) <= ones(int(n.w))
}

// term is the sum.
func (l *linear) term() term {
	defer l.x.deeper()()
	for range 16 {
		if !l.join() {
			break
		}
	}
	return l.made()
}

// join replaces the high part of a term, times 2^v, by the term less its low part, if that makes the sum shorter or removes a carry; and
// the copies of a sign above a term by the term with its sign.
func (l *linear) join() bool {
	x := l.x
	if l.carried() {
		return true
	}
	for i, a := range l.args {
		n := x.at(a)
		part, k := n, l.coefs[i] // with a factor that leaves no bit above them, signs are a part, too
		if n.kind == cat && len(n.args) == 2 && x.is(n.args[0], 0) {
			part = x.at(n.args[1])
		} else if n.kind != sext {
			continue
		}
		switch {
		case part.kind == ext && part.value > 0:
			b, v := part.args[0], int(part.value)
			if bits.Len64(x.may(b)) > v+int(part.w) || k&ones(v) != 0 || x.width(b) > l.w {
				continue
			}
			c := uint64(signed(k, l.w) >> v)
			low := x.ext(b, 0, v)
			o := l.clone()
			o.put(a, -k)
			o.widen(b, c)
			o.widen(low, -c)
			both := slices.Contains(l.args, x.zext(low, l.w)) && !slices.Contains(o.args, x.zext(low, l.w))
			if both || len(o.args) < len(l.args) || len(o.args) == len(l.args) && x.kind(b) == sum {
				*l = *o
				return true
			}
		case part.kind == sext && x.kind(part.args[0]) == ext:
			bit := x.at(part.args[0])
			y := bit.args[0]
			wy := x.width(y)
			if bit.w != 1 || int(bit.value) != wy-1 || wy+int(part.w) < l.w || wy >= l.w || k&ones(wy) != 0 || part != n && wy+int(part.w) != l.w {
				continue
			}
			c := uint64(signed(k, l.w) >> wy)
			o := l.clone()
			o.put(a, -k)
			o.widen(y, -c)
			o.add(x.sext(y, l.w), c)
			if len(o.args) < len(l.args) {
				*l = *o
				return true
			}
		}
	}
	return false
}

// carried adds to the high part of a term what the low one carries: it is the high part of their sum.
func (l *linear) carried() bool {
	x := l.x
	for i, c := range l.args {
		sum, at, ok := x.carryOf(c)
		if !ok {
			continue
		}
		for k, a := range l.args {
			n := x.at(a)
			if n.kind != ext || int(n.value) != at || l.coefs[k] != l.coefs[i] || x.width(n.args[0]) != at+l.w {
				continue
			}
			whole := n.args[0]
			if rest := x.sub(sum, x.zext(x.ext(whole, 0, at), at+1)); x.may(rest)>>at == 0 {
				coef := l.coefs[i]
				l.put(a, -coef)
				l.put(c, -coef)
				l.add(x.ext(x.add(whole, x.zext(rest, at+l.w)), at, l.w), coef)
				return true
			}
		}
	}
	return false
}

// carryOf is the sum of which a word is what it carries, and the place of the carry.
func (x *terms) carryOf(t term) (sum term, at int, ok bool) {
	n := x.at(t)
	if n.kind != cat || len(n.args) != 2 || !x.is(n.args[0], 0) {
		return 0, 0, false
	}
	if b := x.at(n.args[1]); b.kind == ext && b.w == 1 && int(b.value) == x.width(b.args[0])-1 {
		return b.args[0], int(b.value), true
	}
	return 0, 0, false
}

func (l *linear) clone() *linear {
	o := *l
	o.args, o.coefs = slices.Clone(l.args), slices.Clone(l.coefs)
	return &o
}

// made is the node of the sum as it is.
func (l *linear) made() term {
	x := l.x
	l.c &= ones(l.w)
	switch {
	case len(l.args) == 0:
		return x.num(l.w, l.c)
	case len(l.args) == 1 && l.c == 0 && l.coefs[0] == 1:
		return l.args[0]
	}
	if t, ok := l.sideBySide(); ok {
		return t
	}
	if len(l.args) == 1 && l.c == ones(l.w) && l.coefs[0] == ones(l.w) {
		return x.xor(l.args[0], x.num(l.w, ones(l.w)))
	}
	order := make([]int, len(l.args))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return int(l.args[i]) - int(l.args[k]) })
	n := node{kind: sum, w: uint8(l.w), value: l.c}
	for _, i := range order {
		n.args, n.coefs = append(n.args, l.args[i]), append(n.coefs, l.coefs[i])
	}
	return x.intern(n)
}

// sideBySide is a sum whose parts do not overlap. One that is subtracted is the complement, less a constant.
func (l *linear) sideBySide() (term, bool) {
	x, busy, c := l.x, uint64(0), l.c
	type piece struct {
		at int
		t  term
	}
	var list []piece
	for i, a := range l.args {
		n, k := x.at(a), l.coefs[i]
		if n.kind != cat || len(n.args) != 2 || !x.is(n.args[0], 0) {
			return 0, false
		}
		p := piece{bits.TrailingZeros64(k), n.args[1]}
		w := x.width(p.t)
		switch {
		case p.at+w > l.w || busy&(ones(w)<<p.at) != 0:
			return 0, false
		case bits.OnesCount64(k) == 1:
		case bits.OnesCount64(-k&ones(l.w)) == 1:
			p.t = x.not(p.t)
			c -= ones(w) << p.at
		default:
			return 0, false
		}
		busy |= ones(w) << p.at
		list = append(list, p)
	}
	if c &= ones(l.w); c&busy != 0 {
		return 0, false
	}
	slices.SortFunc(list, func(a, b piece) int { return a.at - b.at })
	var parts []term // the lowest first
	at := 0
	gap := func(to int) {
		if to > at {
			parts = append(parts, x.num(to-at, c>>at))
		}
	}
	for _, p := range list {
		gap(p.at)
		parts = append(parts, p.t)
		at = p.at + x.width(p.t)
	}
	gap(l.w)
	slices.Reverse(parts)
	return x.side(parts), true
}

// product is the product of terms of one width, as a sum of products of what is neither constant nor a sum, as long as that is short.
func (x *terms) product(args ...term) term {
	out := args[0]
	for _, a := range args[1:] {
		out = x.times(out, a)
	}
	return out
}

// most terms of a product that is multiplied out.
const mostTerms = 16

func (x *terms) times(a, b term) term {
	w := x.width(a)
	if w == 1 {
		return x.and(a, b)
	}
	l, r := &linear{x: x, w: w}, &linear{x: x, w: w}
	l.add(a, 1)
	r.add(b, 1)
	if w == 64 {
		x.halves(l)
		x.halves(r)
	}
	if (len(l.args)+1)*(len(r.args)+1) > mostTerms {
		if len(l.args) == 0 || len(r.args) == 0 {
			return x.scaled(l, r)
		}
		return x.multiplied(a, b)
	}
	o := &linear{x: x, w: w, c: l.c * r.c}
	for i, s := range l.args {
		o.add(s, l.coefs[i]*r.c)
		for k, t := range r.args {
			o.add(x.multiplied(s, t), l.coefs[i]*r.coefs[k])
		}
	}
	for k, t := range r.args {
		o.add(t, r.coefs[k]*l.c)
	}
	return o.term()
}

// scaled is the product of sums of which one is constant.
func (x *terms) scaled(l, r *linear) term {
	if len(l.args) == 0 {
		l, r = r, l
	}
	o := &linear{x: x, w: l.w, c: l.c * r.c}
	for i, t := range l.args {
		o.add(t, l.coefs[i]*r.c)
	}
	return o.term()
}

// halves divides the terms of 64 bits of a sum into words, as machine code multiplies them. What they make together may be one term again.
func (x *terms) halves(l *linear) {
	left := mostTerms
	for i := 0; i < len(l.args) && left > 0; i++ {
		t, k := l.args[i], l.coefs[i]
		if x.may(t)>>32 == 0 || x.kind(t) == sext || x.kind(t) == cat {
			continue
		}
		l.put(t, -k)
		i--
		left--
		l.widen(x.ext(t, 0, 32), k)
		l.widen(x.ext(t, 32, 32), k<<32)
	}
}

// multiplied is a product of two terms that are not multiplied out.
func (x *terms) multiplied(a, b term) term {
	var args []term
	for _, t := range []term{a, b} {
		if n := x.at(t); n.kind == product {
			args = append(args, n.args...)
		} else {
			args = append(args, t)
		}
	}
	w, need := x.width(a), 0
	for _, t := range args {
		need += bits.Len64(x.may(t))
	}
	if need < w {
		return x.zext(x.multiplied(x.ext(a, 0, need), x.ext(b, 0, need)), w)
	}
	return x.fold(node{kind: product, w: uint8(w), args: sorted(args)})
}
