package prove

import (
	"optcheck/ir"
)

// op is what an operation computes of terms that are as wide as they happen to be: a register holds 64 bits, and a narrower term has zeros
// above it. What is not said here is a function of which only ir.Eval knows the values: equal operands have equal results.
func (x *terms) op(o *ir.Op, s *[4]term) term {
	if o.Code == ir.Sel && o.Mode&ir.AnyNaN != 0 { // what is chosen is one of the NaNs that it may be
		plain := *o
		plain.Mode &^= ir.AnyNaN
		o = &plain
	}
	r := x.meaning(o, s)
	x.agree(o, s, r)
	return r
}

// agree holds a term against what the emulator computes, in each sample: there is one table of meanings, and this package must not have
// another.
func (x *terms) agree(o *ir.Op, s *[4]term, r term) {
	var args [4][samples]uint64
	for k, t := range s {
		args[k] = x.vals[t]
	}
	for i := range samples {
		v := [4]uint64{args[0][i], args[1][i], args[2][i], args[3][i]}
		if (o.Code == ir.Div || o.Code == ir.Rem) && v[1]&ones(o.Type.Bits()) == 0 {
			continue
		}
		want, got := ir.Eval(o, &v, undefined), x.vals[r][i]
		if want != got && !(o.Type == ir.F64 && commutes(o) && noNumber(want) && noNumber(got)) {
			panic(disagreement{o, v, got})
		}
	}
}

// noNumber reports whether a word of 64 bits is no number. Which one it is, an operation on two of them leaves open.
func noNumber(v uint64) bool { return v<<1 > 0x7ff<<53 }

// disagreement is the panic of a term that is not what the emulator computes.
type disagreement struct {
	op   *ir.Op
	args [4]uint64
	got  uint64
}

// meaning is the value of an operation as a term.
func (x *terms) meaning(o *ir.Op, s *[4]term) term {
	if (o.Code == ir.Add || o.Code == ir.Sub) && o.Mode == ir.Sat && o.Type == ir.S32 {
		return x.clamped(o.Code, x.resize(s[0], 32), x.resize(s[1], 32))
	}
	if o.Code == ir.FCvt && o.Type == ir.BF16 && o.To == ir.F32 && o.Mode == 0 { // the high half of it
		return x.concat(x.resize(s[0], 16), x.num(16, 0))
	}
	if o.Type.Float() || o.To.Float() || o.Mode&^(ir.Wrap|ir.High|ir.Left) != 0 {
		return x.unknown(o, s)
	}
	n := o.Type.Bits()
	cut := func(k int) term { return x.resize(s[k], n) }
	switch o.Code {
	case ir.Mov:
		return cut(0)
	case ir.Add:
		return x.add(cut(0), cut(1))
	case ir.Sub:
		return x.sub(cut(0), cut(1))
	case ir.Neg:
		return x.sub(x.num(n, 0), cut(0))
	case ir.Mul:
		return x.product(cut(0), cut(1))
	case ir.And:
		return x.and(cut(0), cut(1))
	case ir.Or:
		return x.or(cut(0), cut(1))
	case ir.Xor:
		return x.xor(cut(0), cut(1))
	case ir.Not:
		return x.not(cut(0))
	case ir.Lop3:
		return x.lop(uint8(o.Imm), cut(0), cut(1), cut(2))
	case ir.Ext:
		a, to := cut(0), min(o.To.Bits(), 64)
		if o.Type.Signed() && to > n {
			return x.sext(a, to)
		}
		return x.resize(a, to)
	case ir.Shl, ir.Shr, ir.Funnel:
		return x.shifts(o, s)
	case ir.Div, ir.Rem:
		return x.divide(o, cut(0), cut(1))
	case ir.Sel, ir.Cmp, ir.Min, ir.Max, ir.Abs:
		return x.chosen(o, s, cut)
	case ir.Join, ir.HighWord, ir.Carry, ir.Borrow:
		return x.wordsOf(o, s, cut)
	case ir.MulHi, ir.Popc, ir.Clz:
		if r, ok := x.counted(o, n, cut); ok {
			return r
		}
	default:
		if r, ok := x.pieces(o, s); ok {
			return r
		}
	}
	return x.unknown(o, s)
}

// chosen is the value of an operation that compares.
func (x *terms) chosen(o *ir.Op, s *[4]term, cut func(int) term) term {
	switch o.Code {
	case ir.Sel:
		return x.ite(x.isTrue(s[0]), cut(1), cut(2))
	case ir.Cmp:
		return x.cmp(o, cut(0), cut(1))
	case ir.Min, ir.Max:
		a, b := cut(0), cut(1)
		less := x.less(o.Type, a, b)
		if o.Code == ir.Max {
			a, b = b, a
		}
		return x.ite(less, a, b)
	default: // ir.Abs
		a := cut(0)
		if !o.Type.Signed() {
			return a
		}
		none := x.num(o.Type.Bits(), 0)
		return x.ite(x.slt(a, none), x.sub(none, a), a)
	}
}

// wordsOf is the value of an operation on the words of wider numbers.
func (x *terms) wordsOf(o *ir.Op, s *[4]term, cut func(int) term) term {
	switch o.Code {
	case ir.Join:
		return x.concat(x.resize(s[1], 32), x.resize(s[0], 32))
	case ir.HighWord:
		return x.ext(x.resize(s[0], 64), 32, 32)
	case ir.Carry:
		return x.carry(cut(0), cut(1), x.resize(s[2], 1))
	default: // ir.Borrow: a + ~b + 1 does not carry
		return x.not(x.carry(cut(0), x.not(cut(1)), x.not(x.resize(s[2], 1))))
	}
}

// counted is the value of an operation whose width decides how it is computed; ok is false if it is none that is known.
func (x *terms) counted(o *ir.Op, n int, cut func(int) term) (r term, ok bool) {
	switch o.Code {
	case ir.MulHi:
		if n <= 32 {
			wide := func(k int) term {
				if o.Type.Signed() {
					return x.sext(cut(k), 2*n)
				}
				return x.zext(cut(k), 2*n)
			}
			return x.ext(x.product(wide(0), wide(1)), n, n), true
		} else if !o.Type.Signed() {
			return x.highWord(cut(0), cut(1)), true
		}
	case ir.Popc:
		if n == 64 {
			one := &ir.Op{Code: ir.Popc, Type: ir.U32, To: ir.U32}
			none := x.num(64, 0)
			lo, hi := x.zext(x.ext(cut(0), 0, 32), 64), x.zext(x.ext(cut(0), 32, 32), 64)
			return x.add(x.operation(one, 32, lo, none, none, none), x.operation(one, 32, hi, none, none, none)), true
		}
	case ir.Clz:
		if n == 32 { // 31 less the position of the highest one; -1 if there is none
			find := &ir.Op{Code: ir.Find, Type: ir.U32, To: ir.U32}
			return x.sub(x.num(32, 31), x.operation(find, 32, x.zext(cut(0), 64), x.num(64, 0), x.num(64, 0), x.num(64, 0))), true
		}
	}
	return r, false
}

// highWord is the high half of a product of 64-bit numbers, by words.
func (x *terms) highWord(a, b term) term {
	word := func(t term, i int) term { return x.zext(x.ext(t, 32*i, 32), 64) }
	low := x.product(word(a, 0), word(b, 0))
	p, q := x.product(word(a, 0), word(b, 1)), x.product(word(a, 1), word(b, 0))
	mid := x.add(word(low, 1), word(p, 0), word(q, 0))
	return x.add(x.product(word(a, 1), word(b, 1)), word(p, 1), word(q, 1), word(mid, 1))
}

// clamped is a sum or difference that is clamped to a signed word.
func (x *terms) clamped(c ir.Code, a, b term) term {
	const w = 34
	a, b = x.sext(a, w), x.sext(b, w)
	r := x.add(a, b)
	if c == ir.Sub {
		r = x.sub(a, b)
	}
	least, most := x.num(w, ones(64)<<31), x.num(w, 1<<31-1)
	r = x.ite(x.slt(r, least), least, x.ite(x.slt(most, r), most, r))
	return x.ext(r, 0, 32)
}

// carry is what the sum of two words and a bit carries out.
func (x *terms) carry(a, b, c term) term {
	w := x.width(a)
	if w == 64 {
		c = x.carry(x.ext(a, 0, 32), x.ext(b, 0, 32), c)
		return x.carry(x.ext(a, 32, 32), x.ext(b, 32, 32), c)
	}
	return x.ext(x.add(x.zext(a, w+1), x.zext(b, w+1), x.zext(c, w+1)), w, 1)
}

// unknown is an operation that is not understood further, with as many operands as it has. Their bits above the type are cut off where the
// operation does not look at them.
func (x *terms) unknown(o *ir.Op, s *[4]term) term {
	n := min(o.Type.Bits(), 64)
	w := min(o.To.Bits(), 64)
	var args []term
	for k, t := range s {
		switch {
		case k == 0 && o.Code == ir.Sel:
			t = x.isTrue(t)
		case o.Code == ir.Texel: // the handle of a texture and a coordinate have widths of their own
		case o.Type.Float() || k == 0 && o.Code != ir.Perm && o.Code != ir.Dot2 && o.Code != ir.Dot4 && o.Code != ir.Mask:
			t = x.resize(t, n)
		}
		args = append(args, x.zext(t, 64))
	}
	if o.Code == ir.Cmp && args[0] == args[1] && (o.Cond == ir.LT || o.Cond == ir.GT || o.Cond == ir.NE) { // if it is no number, too
		return x.num(1, 0)
	}
	switch o.Code {
	case ir.Cmp, ir.TestP, ir.Carry, ir.Borrow:
		w = 1
	case ir.Clz, ir.Popc, ir.Find, ir.Nth, ir.Perm, ir.Dot2, ir.Dot4, ir.Mask, ir.Sgxt:
		w = 32
	case ir.FToI, ir.IToF, ir.FCvt, ir.Ext:
	case ir.Join:
		w = 64
	default:
		w = n
	}
	return x.operation(o, w, args...)
}

// isTrue is whether a word is not 0.
func (x *terms) isTrue(t term) term {
	if x.width(t) == 1 {
		return t
	}
	return x.not(x.eq(t, x.num(x.width(t), 0)))
}

// lop is the exclusive or of the products of operands that a table of three comes to.
func (x *terms) lop(lut uint8, a, b, c term) term {
	w := x.width(a)
	f := lut
	for i, m := range [...]uint8{0x55, 0x33, 0x0f} { // Möbius transform
		f ^= f & m << (1 << i)
	}
	var out []term
	for i := range 8 {
		if f>>i&1 == 0 {
			continue
		}
		p := []term{x.num(w, ones(w))}
		for k, t := range []term{c, b, a} {
			if i>>k&1 == 1 {
				p = append(p, t)
			}
		}
		out = append(out, x.and(p...))
	}
	if len(out) == 0 {
		return x.num(w, 0)
	}
	return x.xor(out...)
}

func (x *terms) less(t ir.Type, a, b term) term {
	if t.Signed() {
		return x.slt(a, b)
	}
	return x.ult(a, b)
}

func (x *terms) cmp(o *ir.Op, a, b term) term {
	switch o.Cond {
	case ir.EQ:
		return x.eq(a, b)
	case ir.NE:
		return x.not(x.eq(a, b))
	case ir.LT:
		return x.less(o.Type, a, b)
	case ir.GE:
		return x.not(x.less(o.Type, a, b))
	case ir.GT:
		return x.less(o.Type, b, a)
	case ir.LE:
		return x.not(x.less(o.Type, b, a))
	case ir.Always:
		return x.num(1, 1)
	}
	return x.num(1, 0)
}

// shifts are Shl, Shr and Funnel.
func (x *terms) shifts(o *ir.Op, s *[4]term) term {
	n := o.Type.Bits()
	if o.Code == ir.Funnel {
		v, by := x.concat(x.resize(s[1], 32), x.resize(s[0], 32)), x.resize(s[2], 32)
		if o.Mode&ir.Wrap != 0 {
			by = x.zext(x.ext(by, 0, 5), 32)
		} else {
			by = x.ite(x.ult(x.num(32, 32), by), x.num(32, 32), by)
		}
		k, at := shr, 0
		if o.Mode&ir.Left != 0 {
			k = shl
		}
		if o.Mode&ir.High != 0 {
			at = 32
		}
		return x.ext(x.shift(k, v, by), at, 32)
	}
	v, by := x.resize(s[0], n), x.resize(s[1], 32)
	if o.Mode&ir.Wrap != 0 {
		by = x.and(by, x.num(32, uint64(n-1)))
	}
	switch {
	case o.Code == ir.Shl:
		return x.shift(shl, v, by)
	case o.Type.Signed():
		return x.shift(sar, v, by)
	}
	return x.shift(shr, v, by)
}

// divide is Div and Rem. What a division by zero gives is undefined: what machine code gives is as good as anything.
func (x *terms) divide(o *ir.Op, a, b term) term {
	w := x.width(a)
	v, fixed := x.constant(b)
	if fixed && v != 0 && v&(v-1) == 0 && o.Code == ir.Rem && !o.Type.Signed() {
		return x.and(a, x.num(w, v-1))
	}
	n, d := a, b
	if o.Type.Signed() {
		n, d = x.abs(a), x.abs(b)
	}
	q := x.udiv(n, d)
	sign := x.xor(x.slt(a, x.num(w, 0)), x.slt(b, x.num(w, 0)))
	if o.Code == ir.Rem {
		q, sign = x.sub(n, x.product(q, d)), x.slt(a, x.num(w, 0))
	}
	if o.Type.Signed() {
		q = x.ite(sign, x.sub(x.num(w, 0), q), q)
	}
	if fixed && v != 0 {
		return q
	}
	return x.ite(x.eq(b, x.num(w, 0)), x.num(w, ones(w)), q)
}

// quotient is a word divided by a constant d: the high bits of its product with m = ceil(2^(32+s)/d), if m*d - 2^(32+s) is at most 2^s
// (Granlund and Montgomery, 1994, theorem 4.2).
func (x *terms) quotient(a term, d uint64) (term, bool) {
	for s := 0; x.width(a) == 32 && d > 1 && s < 31; s++ {
		m := (uint64(1)<<(32+s) + d - 1) / d
		if m < 1<<32 && m*d-1<<(32+s) <= 1<<s {
			return x.zext(x.ext(x.scale(x.zext(a, 64), m), 32+s, 32-s), 32), true
		}
	}
	return 0, false
}
