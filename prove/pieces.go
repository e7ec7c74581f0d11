package prove

import (
	"slices"

	"optcheck/ir"
)

// pieces are operations that take words apart and put them together, by constant numbers.
func (x *terms) pieces(o *ir.Op, s *[4]term) (term, bool) {
	n := o.Type.Bits()
	switch o.Code {
	case ir.Brev:
		a := x.resize(s[0], n)
		var parts []term
		for i := range n {
			parts = append(parts, x.ext(a, i, 1))
		}
		return x.concat(parts...), true
	case ir.Bfe:
		return x.bfe(o, s)
	case ir.Bfi:
		pos, ok1 := x.number(s[2], 8)
		length, ok2 := x.number(s[3], 8)
		if !ok1 || !ok2 {
			return 0, false
		}
		b := x.resize(s[1], n)
		k := min(length, n-pos)
		if k <= 0 {
			return b, true
		}
		var parts []term
		if pos+k < n {
			parts = append(parts, x.ext(b, pos+k, n-pos-k))
		}
		parts = append(parts, x.ext(x.resize(s[0], n), 0, k))
		if pos > 0 {
			parts = append(parts, x.ext(b, 0, pos))
		}
		return x.concat(parts...), true
	case ir.Sgxt:
		k, ok := x.number(s[1], 32)
		if o.Mode&ir.Wrap != 0 {
			k &= 31
		}
		a := x.resize(s[0], 64)
		switch k = min(k, 32); {
		case !ok && (o.Type.Signed() || o.Mode&ir.Wrap != 0):
			return 0, false
		case !ok:
			return x.and(x.resize(s[0], 32), x.lowest(32, x.resize(s[1], 32))), true
		case k == 0:
			return x.num(32, 0), true
		case o.Type.Signed():
			return x.sext(x.ext(a, 0, k), 32), true
		}
		return x.zext(x.ext(a, 0, k), 32), true
	case ir.Perm:
		return x.perm(o, s)
	case ir.Dot4, ir.Dot2:
		return x.dot(o, s), true
	case ir.Sad:
		a, b := x.resize(s[0], n), x.resize(s[1], n)
		return x.add(x.resize(s[2], n), x.ite(x.less(o.Type, a, b), x.sub(b, a), x.sub(a, b))), true
	}
	return 0, false
}

// number is a term as a constant of so many bits, if it is one.
func (x *terms) number(t term, bits int) (int, bool) {
	v, ok := x.constant(x.resize(t, bits))
	return int(v), ok
}

// bfe is a part of a word; where its place is no constant, of unsigned words alone.
func (x *terms) bfe(o *ir.Op, s *[4]term) (term, bool) {
	n := o.Type.Bits()
	pos, ok1 := x.number(s[1], 8)
	length, ok2 := x.number(s[2], 8)
	if !ok1 || !ok2 {
		if o.Type.Signed() {
			return 0, false
		}
		v := x.shift(shr, x.resize(s[0], n), x.zext(x.resize(s[1], 8), 32))
		return x.and(v, x.lowest(n, x.zext(x.resize(s[2], 8), 32))), true
	}
	a := x.resize(s[0], n)
	k := min(length, n-pos)
	switch {
	case length == 0 || k <= 0 && !o.Type.Signed():
		return x.num(n, 0), true
	case k <= 0:
		return x.sext(x.ext(a, n-1, 1), n), true
	case o.Type.Signed():
		return x.sext(x.ext(a, pos, k), n), true
	}
	return x.zext(x.ext(a, pos, k), n), true
}

// lowest has so many ones.
func (x *terms) lowest(w int, n term) term { return x.not(x.shift(shl, x.num(w, ones(w)), n)) }

// perm chooses bytes.
func (x *terms) perm(o *ir.Op, s *[4]term) (term, bool) {
	c, ok := x.constant(x.resize(s[2], 16))
	if !ok || o.Imm != 0 {
		return 0, false
	}
	v := x.concat(x.resize(s[1], 32), x.resize(s[0], 32))
	var parts []term
	for i := range 4 {
		sel := int(c >> (4 * i) & 15)
		b := x.ext(v, 8*(sel&7), 8)
		if sel&8 != 0 {
			b = x.sext(x.ext(b, 7, 1), 8)
		}
		parts = append(parts, b)
	}
	slices.Reverse(parts)
	return x.concat(parts...), true
}

// dot adds products of bytes, or of halves and bytes.
func (x *terms) dot(o *ir.Op, s *[4]term) term {
	part := func(k, bits, i int, sign bool) term {
		t := x.ext(x.resize(s[k], 32), bits*i, bits)
		if sign {
			return x.sext(t, 32)
		}
		return x.zext(t, 32)
	}
	total := []term{x.resize(s[2], 32)}
	n, wide := 4, 8
	if o.Code == ir.Dot2 {
		n, wide = 2, 16
	}
	for i := range n {
		k := i
		if o.Code == ir.Dot2 {
			k += int(o.Imm>>2&1) * 2
		}
		total = append(total, x.product(part(0, wide, i, o.Imm&1 != 0), part(1, 8, k, o.Imm&2 != 0)))
	}
	return x.add(total...)
}
