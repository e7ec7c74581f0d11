package prove

import (
	"math"
	"math/bits"

	"optcheck/ir"
	"optcheck/ir/fp"
)

// Machine code divides a word n by a word d that is not 0 so (as nvdisasm shows it):
//
//	m = trunc(bits(1/d) + 0xffffffe)   2^32/d as a number, a little less
//	e = m + hi(m * -(m*d))             a step of Newton's
//	q = hi(e * n)
//	r = n - q*d; twice: if r >= d { r -= d; q++ }
//
// For each d, e*d is at most 2^32 and at least 2^32 - 2d, whatever the reciprocal is within its documented error (PTX ISA, rcp.approx.ftz.f32:
// 2^-23); TestEstimate goes through all d. So q is n/d, or less than it by at most mostLess, and the corrections lead to n/d and to the remainder.
const mostLess = 2

// divided is what a term comes to where a condition does not hold, if that is that a divisor is 0: its divisions are Div operations.
func (x *terms) divided(zero, t term) term {
	if x.dividing {
		return t
	}
	x.dividing = true
	defer func() { x.dividing = false }()
	for x.at(t).divides && (x.kind(zero) == eq || x.kind(zero) == konst) {
		now, ok := x.dividedOnce(zero, t)
		if !ok {
			break
		}
		t = now
	}
	return t
}

// dividedOnce has one division more: that comes of its estimate, however much it is less than the quotient.
func (x *terms) dividedOnce(zero, t term) (same term, ok bool) {
	var e *estimate
	for less := range mostLess + 1 {
		c := &quotients{x: x, zero: zero, less: uint64(less), made: map[term]term{}, of: e}
		now := c.term(t)
		if e = c.of; c.fails || e == nil || now == t || less > 0 && now != same {
			return 0, false
		}
		same = now
	}
	for i, z := range x.vals[zero] {
		if z == 0 && x.vals[same][i] != x.vals[t][i] {
			return 0, false
		}
	}
	return same, true
}

// quotients makes terms again with an estimate of a quotient that is less than it by a number.
type quotients struct {
	x     *terms
	zero  term // the condition that the divisor is 0, which does not hold
	less  uint64
	made  map[term]term
	of    *estimate // the first one that is found
	fails bool      // a term that is not understood
}

// estimate is a quotient that machine code estimates.
type estimate struct{ n, d, q term }

// term is a term made again.
func (c *quotients) term(t term) term {
	x := c.x
	n := *x.at(t)
	if !n.divides || c.fails {
		return t
	}
	if r, ok := c.made[t]; ok {
		return r
	}
	defer x.deeper()()
	r, ok := c.quotient(t)
	if !ok {
		r = c.again(&n)
	}
	c.made[t] = r
	return r
}

// again makes a node of other arguments.
func (c *quotients) again(n *node) term {
	x := c.x
	args := make([]term, len(n.args))
	for i, a := range n.args {
		args[i] = c.term(a)
	}
	if c.fails {
		return none
	}
	w := int(n.w)
	switch n.kind {
	case sum:
		l := &linear{x: x, w: w, c: n.value}
		for i, a := range args {
			l.add(a, n.coefs[i])
		}
		return l.term()
	case product:
		return x.product(args...)
	case and:
		return x.and(args...)
	case xor:
		return x.xor(append(args, x.num(w, n.value))...)
	case cat:
		return x.concat(args...)
	case ext:
		return x.ext(args[0], int(n.value), w)
	case sext:
		return x.sext(args[0], w)
	case ite:
		return x.ite(args[0], args[1], args[2])
	case eq:
		return x.eq(args[0], args[1])
	case slt:
		return x.slt(args[0], args[1])
	case ult:
		return c.below(args[0], args[1])
	case opaque:
		return x.operation(&x.ops[n.value], w, args...)
	}
	c.fails = true
	return none
}

// quotient is an estimate of one.
func (c *quotients) quotient(t term) (term, bool) {
	x := c.x
	n, d, ok := x.estimated(t)
	if !ok || !c.isZero(d) {
		return 0, false
	}
	e := estimate{n, d, x.udiv(n, d)}
	if c.of == nil {
		c.of = &e
	}
	return x.sub(e.q, x.num(32, c.less)), e == *c.of
}

// isZero reports whether a divisor, or what it is the absolute value of, is what is not 0.
func (c *quotients) isZero(d term) bool {
	x := c.x
	if x.eq(d, x.num(32, 0)) == c.zero { // false for a constant
		return true
	}
	n := x.at(d)
	return n.kind == ite && d == x.abs(n.args[2]) && x.eq(n.args[2], x.num(32, 0)) == c.zero
}

// below compares: a remainder is less than the divisor, and one that is too large is not. It is no larger than the dividend, so nothing wraps.
func (c *quotients) below(a, b term) term {
	x := c.x
	if e := c.of; e != nil && b == e.d {
		r := x.sub(e.n, x.product(e.q, e.d))
		for k := range c.less + 1 {
			if a == x.add(r, x.scale(e.d, k)) {
				return x.truth(k == 0)
			}
		}
	}
	return x.ult(a, b)
}

// abs is the absolute value of a signed word.
func (x *terms) abs(a term) term {
	w := x.width(a)
	return x.ite(x.slt(a, x.num(w, 0)), x.sub(x.num(w, 0), a), a)
}

// udiv is the quotient of unsigned words.
func (x *terms) udiv(n, d term) term {
	w, none := x.width(n), x.num(64, 0)
	if v, ok := x.constant(d); ok && v != 0 {
		if v&(v-1) == 0 {
			return x.shift(shr, n, x.num(32, uint64(bits.TrailingZeros64(v))))
		}
		if q, ok := x.quotient(n, v); ok {
			return q
		}
	}
	t := map[int]ir.Type{8: ir.U8, 16: ir.U16, 32: ir.U32, 64: ir.U64}[w]
	return x.operation(&ir.Op{Code: ir.Div, Type: t, To: t}, w, x.zext(n, 64), x.zext(d, 64), none, none)
}

// estimated finds of what words a term estimates the quotient: it is hi(e * n).
func (x *terms) estimated(t term) (n, d term, ok bool) {
	q := x.at(t)
	if q.kind == cat && len(q.args) == 2 && x.is(q.args[0], 0) { // of small numbers
		q = x.at(q.args[1])
	}
	if x.width(t) != 32 || q.kind != ext {
		return 0, 0, false
	}
	p := x.at(q.args[0])
	if p.kind == cat && x.is(p.args[0], 0) {
		p = x.at(p.args[len(p.args)-1])
	}
	if p.kind != product || len(p.args) != 2 {
		return 0, 0, false
	}
	for i := range 2 {
		e, n := x.word(p.args[i]), x.word(p.args[1-i])
		if d, ok := x.reciprocal(e); ok && t == x.high(n, e) {
			return n, d, true
		}
	}
	return 0, 0, false
}

// word is what a term extends by zeros, as a word.
func (x *terms) word(t term) term { return x.ext(x.zext(t, 64), 0, 32) }

// high is the high word of the product of two.
func (x *terms) high(a, b term) term {
	return x.ext(x.product(x.zext(a, 64), x.zext(b, 64)), 32, 32)
}

// reciprocal finds of what a term estimates 2^32/d: it is m + hi(m * -(m*d)).
func (x *terms) reciprocal(e term) (d term, ok bool) {
	s := x.at(e)
	if s.kind != sum || len(s.args) != 2 {
		return 0, false
	}
	for _, m := range s.args {
		d, ok := x.inverse(m)
		if ok && e == x.add(m, x.high(m, x.sub(x.num(32, 0), x.product(m, d)))) {
			return d, true
		}
	}
	return 0, false
}

// inverse finds the word of whose reciprocal m is made.
func (x *terms) inverse(m term) (d term, ok bool) {
	a, ok := x.operand(m, func(o *ir.Op) bool {
		return o.Code == ir.FToI && o.Type == ir.F32 && o.To == ir.U32 && o.Mode&^ir.FTZ == ir.Mode(fp.RZ)
	})
	if !ok {
		return 0, false
	}
	s := x.at(a)
	if s.kind != sum || s.value != 0xffffffe || len(s.args) != 1 || s.coefs[0] != 1 {
		return 0, false
	}
	a, ok = x.operand(s.args[0], func(o *ir.Op) bool { return o.Code == ir.Approx && o.Type == ir.F32 && o.Imm == uint64(ir.ApproxRcp) })
	if v, fixed := x.constant(a); fixed { // of a number that is exact
		f := math.Float32frombits(uint32(v))
		return x.num(32, uint64(f)), ok && f >= 1 && f < 1<<24 && f == float32(uint64(f))
	}
	if !ok || x.kind(a) != opaque {
		return 0, false
	}
	one := x.at(a) // which makes a subnormal operand zero
	if o := &x.ops[one.value]; o.Code != ir.FMul || o.Type != ir.F32 || o.Mode != ir.FTZ {
		return 0, false
	}
	for i := range 2 {
		if !x.is(one.args[i], 0x3f800000) {
			continue
		}
		return x.operand(x.word(one.args[1-i]), func(o *ir.Op) bool {
			return o.Code == ir.IToF && (o.Type == ir.U32 || o.Type == ir.S32) && o.To == ir.F32 && o.Mode == ir.Mode(fp.RP)
		})
	}
	return 0, false
}

// operand is the word that an operation of a kind is performed on.
func (x *terms) operand(t term, is func(o *ir.Op) bool) (term, bool) {
	n := x.at(t)
	if n.kind != opaque || !is(&x.ops[n.value]) {
		return 0, false
	}
	return x.word(n.args[0]), true
}
