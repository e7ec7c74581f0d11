package refine

import (
	"hash/maphash"

	"optcheck/ir"
)

// saying is a way to ask what a comparison asks. Of several parts, which are about the high and the low words, each is asked. They hold if the
// comparison does; with not, if it does not.
type saying struct {
	parts []relation
	not   bool
}

// sayings are the ways to ask what a comparison of two numbers asks, its own first.
func sayings(o *ir.Op, a, b uint64) []saying {
	r := relate(o.Cond, o.Type, a, b)
	negated := o.Cond == ir.NE || o.Cond == ir.GE || o.Cond == ir.LE
	if r.float {
		return []saying{{parts: []relation{r}, not: o.Cond == ir.GEU || o.Cond == ir.LEU || o.Cond == ir.GTU || o.Cond == ir.LTU || o.Cond == ir.NEU}}
	}
	m := ^uint64(0) >> (64 - o.Type.Bits())
	list := []saying{{parts: []relation{r}, not: negated}}
	one := func(r relation, not bool) { list = append(list, saying{[]relation{r}, not}) }
	if r.equal {
		one(relate(ir.EQ, o.Type, (a-b)&m, 0), negated)
		one(relate(ir.EQ, o.Type, (a^b)&m, 0), negated)
		if r.a == 0 && !o.Type.Signed() {
			one(relation{a: 0, b: r.b}, !negated) // 0 < b
		}
	} else { // a < b if a <= b-1, and if a+1 <= b.
		one(relation{signed: r.signed, a: r.b - 1, b: r.a}.plain(), !negated)
		one(relation{signed: r.signed, a: r.b, b: r.a + 1}.plain(), !negated)
	}
	if o.Type.Bits() == 64 {
		high, low := ir.U32, uint64(0xffffffff)
		if o.Type.Signed() && !r.equal {
			high = ir.S32
		}
		list = append(list, saying{[]relation{relate(o.Cond, high, a>>32, b>>32), relate(o.Cond, ir.U32, a&low, b&low)}, negated})
	}
	return list
}

// relation is a comparison of two numbers without its spelling: whether they are equal, or the first one is less. What holds if another
// does not is the same.
type relation struct {
	equal, signed bool
	float, least  bool // of floating-point numbers; or equal
	a, b          uint64
}

// relate is what a comparison asks.
func relate(c ir.Cond, t ir.Type, a, b uint64) relation {
	if t.Float() {
		return relateFloats(c, plainFloat(t, a), plainFloat(t, b))
	}
	shift := 64 - t.Bits()
	a, b = a<<shift>>shift, b<<shift>>shift
	if t.Signed() {
		a, b = uint64(int64(a<<shift)>>shift), uint64(int64(b<<shift)>>shift)
	}
	switch c {
	case ir.EQ, ir.NE:
		return relation{equal: true, a: min(a, b), b: max(a, b)}
	case ir.GT, ir.LE:
		a, b = b, a
	}
	return relation{signed: t.Signed(), a: a, b: b}.plain()
}

// plainFloat is a floating-point number as comparisons see it: zeros have no sign, and any NaN is one.
func plainFloat(t ir.Type, a uint64) uint64 {
	var infinity uint64
	switch t {
	case ir.F16:
		infinity = 0x7c00
	case ir.BF16:
		infinity = 0x7f80
	case ir.F32:
		infinity = 0x7f800000
	case ir.F64:
		infinity = 0x7ff0000000000000
	default:
		return a
	}
	sign := uint64(1) << (t.Bits() - 1)
	a &= sign<<1 - 1
	switch magnitude := a &^ sign; {
	case magnitude == 0:
		return 0
	case magnitude > infinity:
		return infinity + 1
	}
	return a
}

// relateFloats is relate of floating-point numbers, of which a comparison that holds for unordered ones is another one that does not.
func relateFloats(c ir.Cond, a, b uint64) relation {
	r := relation{float: true, a: a, b: b}
	switch c {
	case ir.LT, ir.GEU:
	case ir.GT, ir.LEU:
		r.a, r.b = b, a
	case ir.LE, ir.GTU:
		r.least = true
	case ir.GE, ir.LTU:
		r.a, r.b, r.least = b, a, true
	case ir.EQ, ir.NEU:
		r.a, r.b, r.equal = min(a, b), max(a, b), true
	default:
		r.a, r.b, r.equal, r.least = min(a, b), max(a, b), true, true
	}
	return r
}

// plain forgets the sign of numbers that have none.
func (r relation) plain() relation {
	r.signed = r.signed && (r.a|r.b)>>63 == 1
	return r
}

var seed = maphash.MakeSeed()

func key(thread int, r relation) uint64 {
	return maphash.Comparable(seed, struct {
		thread int
		relation
	}{thread, r})
}
