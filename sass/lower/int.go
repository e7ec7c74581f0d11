package lower

import "optcheck/ir"

// sum adds words up: those that are negated count as 2^32 - x, so that the carry of a subtraction is right.
type sum struct {
	s     *step
	total ir.Reg
	wide  bool // compute at 64 bits, for carries
}

func (a *sum) add(w ir.Reg, neg bool) {
	s, t := a.s, ir.U32
	if a.wide {
		t = ir.U64
		if neg {
			w, neg = s.op(ir.Sub, t, s.k(1<<32), w), false
		}
	}
	switch {
	case s.is(w, 0):
	case a.total == ir.None && neg:
		a.total = s.op(ir.Sub, t, s.k(0), w)
	case a.total == ir.None:
		a.total = w
	case neg:
		a.total = s.op(ir.Sub, t, a.total, w)
	default:
		a.total = s.op(ir.Add, t, a.total, w)
	}
}

// value is the total; word its low word.
func (a *sum) value() ir.Reg {
	if a.total == ir.None {
		return a.s.k(0)
	}
	return a.total
}

func (a *sum) word() ir.Reg {
	if !a.wide {
		return a.value()
	}
	return a.s.op(ir.Mov, ir.U32, a.value())
}

// carry is 1 if the total is at least n * 2^32.
func (a *sum) carry(n uint64) ir.Reg {
	return a.s.cmp(ir.GE, ir.U64, a.value(), a.s.k(n<<32))
}

// iadd3: IADD3[.X] d, [p, [q,]] a, b, c [, carry, carry].
func iadd3(s *step) {
	if s.mod("64") {
		iadd64(s, 3)
		return
	}
	x, d := s.mod("X"), s.dst()
	p := s.optPredDst()
	q := ir.None
	second := s.isPred()
	if second {
		q = s.predDst()
	}
	a := sum{s: s, total: ir.None, wide: p != ir.None || q != ir.None}
	type addend struct {
		w   ir.Reg
		neg bool
	}
	var negated []addend
	for range 3 {
		w, neg := s.addend()
		if neg && !a.wide {
			negated = append(negated, addend{w, neg})
			continue
		}
		a.add(w, neg)
	}
	for _, n := range negated { // last, so that a subtraction needs no zero
		a.add(n.w, n.neg)
	}
	if x {
		for len(s.args) > 0 && s.why == "" {
			a.add(s.pred(), false)
		}
	}
	s.result(d, a.word())
	if p != ir.None {
		s.setPred(p, a.carry(1))
	}
	if q != ir.None {
		s.setPred(q, a.carry(2))
	}
}

// iadd64: IADD.64 d, a, b and IADD3.64 d, [PT, PT,] a, b, c.
func iadd64(s *step, n int) {
	d := s.dst()
	for s.isPred() {
		if s.predDst() != ir.None {
			s.fail("the carry of a sum of 64 bits")
		}
	}
	total := ir.None
	for range n {
		w, neg := s.pair()
		switch {
		case neg:
			total = s.op(ir.Sub, ir.U64, s.orZero(total), w)
		case total == ir.None:
			total = w
		default:
			total = s.op(ir.Add, ir.U64, total, w)
		}
	}
	s.result64(d, total)
}

// iadd: IADD[.64] d, a, b and VIADD[.16x2] d, a, b.
func iadd(s *step) {
	if s.mod("64") {
		iadd64(s, 2)
		return
	}
	if s.mod("16x2") {
		d := s.dst()
		a, b := s.plain(), s.plain()
		s.result(d, s.halves(func(half func(ir.Reg) ir.Reg) ir.Reg { return s.op(ir.Add, ir.U16, half(a), half(b)) }))
		return
	}
	d := s.dst()
	a := sum{s: s, total: ir.None}
	x, xn := s.addend()
	y, yn := s.addend()
	if xn && !yn {
		x, xn, y, yn = y, yn, x, xn
	}
	a.add(x, xn)
	a.add(y, yn)
	s.result(d, a.value())
}

// imad: IMAD[.WIDE|.HI][.U32][.X] d, [p,] a, b, c [, carry].
func imad(s *step) {
	if s.mod("WIDE") {
		imadWide(s, false)
		return
	}
	if s.mod("HI") {
		imadWide(s, true)
		return
	}
	s.drop("MOV SHL SHR IADD U32 S32")
	x, d := s.mod("X"), s.dst()
	f, g := s.word(), s.word()
	total := sum{s: s, total: ir.None}
	c, neg := s.addend()
	if p := s.product(f, g); !s.is(p, 0) {
		total.add(p, false)
	}
	total.add(c, neg)
	if x {
		total.add(s.pred(), false)
	}
	s.result(d, total.value())
}

// product is the low word of a product.
func (s *step) product(f, g ir.Reg) ir.Reg {
	switch {
	case s.is(f, 0) || s.is(g, 0):
		return s.k(0)
	case s.is(f, 1):
		return g
	case s.is(g, 1):
		return f
	}
	return s.op(ir.Mul, ir.U32, f, g)
}

// imadWide: the 64-bit sum of a product and a pair, or its high word.
func imadWide(s *step, high bool) {
	unsigned := s.mod("U32")
	s.mod("S32")
	x, d := s.mod("X"), s.dst()
	p := s.optPredDst()
	f, g := s.factor(unsigned), s.factor(unsigned)
	c, neg := s.pair()
	total := s.k(0)
	if !s.is(f, 0) && !s.is(g, 0) {
		total = s.op(ir.Mul, ir.U64, f, g)
	}
	cin := ir.None
	if x {
		cin = s.pred()
	}
	if p != ir.None {
		if neg {
			s.fail("the carry of a negated pair")
		}
		src := []ir.Reg{total, c}
		if cin != ir.None {
			src = append(src, cin)
		}
		s.setPred(p, s.op(ir.Carry, ir.U64, src...))
	}
	switch {
	case s.is(c, 0):
	case neg:
		total = s.op(ir.Sub, ir.U64, total, c)
	case s.is(total, 0):
		total = c
	default:
		total = s.op(ir.Add, ir.U64, total, c)
	}
	if cin != ir.None {
		total = s.op(ir.Add, ir.U64, total, cin)
	}
	if !high {
		s.result64(d, total)
		return
	}
	s.result(d, s.op(ir.HighWord, ir.U64, total))
}

// factor takes a factor and extends it to 64 bits.
func (s *step) factor(unsigned bool) ir.Reg {
	w := s.word()
	if unsigned {
		return w
	}
	if v, ok := s.constant(w); ok {
		return s.k(uint64(int64(int32(v))))
	}
	return s.opTo(ir.Ext, ir.S32, func(o *ir.Op) { o.To = ir.S64 }, w)
}

// lea: LEA d, [p,] a, b, n: (a << n) + b; LEA.HI d, [p,] a, b, c, n: the high word of {c, a} << n, plus b; with .SX32
// a is extended by its sign instead of by c. A negated a negates the shifted word. .X adds a carry.
func lea(s *step) {
	hi, x, signed := s.mod("HI"), s.mod("X"), s.mod("SX32")
	d := s.dst()
	p := s.optPredDst()
	a, neg := s.addend()
	b, bneg := s.addend()
	if (neg || bneg) && x || neg && bneg {
		s.fail("a negated operand of LEA.X, or two of LEA")
	}
	var v ir.Reg
	switch {
	case hi && signed:
		n := s.imm(32)
		v = s.opTo(ir.Ext, ir.S32, func(o *ir.Op) { o.To = ir.S64 }, a)
		v = s.op(ir.HighWord, ir.U64, s.op(ir.Shl, ir.U64, v, s.k(n)))
	case hi:
		c := s.plain()
		n := s.imm(32)
		v = s.op(ir.HighWord, ir.U64, s.op(ir.Shl, ir.U64, s.op(ir.Join, ir.U64, a, c), s.k(n)))
	case signed:
		s.fail("LEA.SX32 without .HI")
		return
	default:
		v = s.op(ir.Shl, ir.U32, a, s.k(s.imm(32)))
	}
	total := sum{s: s, total: ir.None, wide: p != ir.None}
	if neg {
		total.add(b, false)
		total.add(v, true)
	} else {
		total.add(v, false)
		total.add(b, bneg)
	}
	if x {
		total.add(s.pred(), false)
	}
	s.result(d, total.word())
	if p != ir.None {
		s.setPred(p, total.carry(1))
	}
}

// iabs: IABS d, a.
func iabs(s *step) {
	d := s.dst()
	s.result(d, s.op(ir.Abs, ir.S32, s.word()))
}

// choose is p ? a : b.
func (s *step) choose(p, a, b ir.Reg) ir.Reg {
	switch {
	case s.is(p, 1):
		return a
	case s.is(p, 0):
		return b
	}
	return s.op(ir.Sel, ir.U64, p, a, b)
}

// minmax is the minimum if p is 1, else the maximum.
func (s *step) minmax(p ir.Reg, t ir.Type, a, b ir.Reg) ir.Reg {
	switch {
	case s.is(p, 1):
		return s.op(ir.Min, t, a, b)
	case s.is(p, 0):
		return s.op(ir.Max, t, a, b)
	}
	return s.choose(p, s.op(ir.Min, t, a, b), s.op(ir.Max, t, a, b))
}

// signedness takes the type of 32-bit integers.
func (s *step) signedness() ir.Type {
	if s.mod("U32") {
		return ir.U32
	}
	s.mod("S32")
	return ir.S32
}

// packed takes whether words are two halves, and their type, signed unless it says .U32 or .U16x2. RELU, of signed numbers,
// makes negative results zero.
type packed struct {
	t            ir.Type
	halves, relu bool
}

func (s *step) packed() packed {
	k := packed{relu: s.mod("RELU")}
	switch s.oneOf("U16x2 S16x2") {
	case "U16x2":
		k.t, k.halves = ir.U16, true
	case "S16x2":
		k.t, k.halves = ir.S16, true
	default:
		k.t = s.signedness()
	}
	if k.relu && !k.t.Signed() {
		s.fail("%s.RELU of unsigned numbers", s.in.Op)
	}
	return k
}

// each computes the word, or both halves, of a result from those of words.
func (s *step) each(k packed, f func(part func(ir.Reg) ir.Reg) ir.Reg) ir.Reg {
	of := func(part func(ir.Reg) ir.Reg) ir.Reg {
		v := f(part)
		if k.relu {
			v = s.op(ir.Max, k.t, v, s.k(0))
		}
		return v
	}
	if k.halves {
		return s.halves(of)
	}
	return of(func(r ir.Reg) ir.Reg { return r })
}

// vimnmx: IMNMX, VIMNMX[.type][.RELU] d, a, b, p: p ? min : max.
func vimnmx(s *step) {
	k := s.packed()
	d := s.dst()
	a, b := s.word(), s.word()
	p := s.pred()
	s.result(d, s.each(k, func(part func(ir.Reg) ir.Reg) ir.Reg { return s.minmax(p, k.t, part(a), part(b)) }))
}

// halves computes both halves of a word from those of others.
func (s *step) halves(f func(half func(ir.Reg) ir.Reg) ir.Reg) ir.Reg {
	lo := f(func(r ir.Reg) ir.Reg { return s.op(ir.Mov, ir.U16, r) })
	hi := f(func(r ir.Reg) ir.Reg { return s.op(ir.Shr, ir.U32, r, s.k(16)) })
	return s.pack(lo, hi)
}

// pack makes a word of two halves, whose upper bits are zero.
func (s *step) pack(lo, hi ir.Reg) ir.Reg {
	return s.op(ir.Or, ir.U32, lo, s.op(ir.Shl, ir.U32, hi, s.k(16)))
}

// vimnmx3: VIMNMX3[.type][.RELU] d, a, b, c, p.
func vimnmx3(s *step) {
	k := s.packed()
	d := s.dst()
	a, b, c := s.word(), s.word(), s.word()
	p := s.pred()
	s.result(d, s.each(k, func(part func(ir.Reg) ir.Reg) ir.Reg {
		return s.minmax(p, k.t, s.minmax(p, k.t, part(a), part(b)), part(c))
	}))
}

// viaddmnmx: VIADDMNMX[.type][.RELU] d, a, b, c, p: p ? min : max of a + b and c.
func viaddmnmx(s *step) {
	k := s.packed()
	d := s.dst()
	a, b, c := s.word(), s.word(), s.word()
	p := s.pred()
	s.result(d, s.each(k, func(part func(ir.Reg) ir.Reg) ir.Reg {
		return s.minmax(p, k.t, s.op(ir.Add, k.t, part(a), part(b)), part(c))
	}))
}

// vabsdiff: VABSDIFF d, a, b, c: |a - b| + c.
func vabsdiff(s *step) {
	t := s.signedness()
	d := s.dst()
	a, b, c := s.plain(), s.plain(), s.plain()
	s.result(d, s.op(ir.Sad, t, a, b, c))
}

// idp: IDP.4A.ta.tb d, a, b, c; IDP.2A.LO|HI.ta.tb.
func idp(s *step) {
	kind := s.oneOf("4A 2A")
	half := s.oneOf("LO HI")
	types := map[string][2]string{"4A": {"S8 U8", "S8 U8"}, "2A": {"S16 U16", "S8 U8"}}[kind]
	ta, tb := s.oneOf(types[0]), s.oneOf(types[1])
	if ta == "" || tb == "" || (kind == "2A") != (half != "") {
		s.fail("IDP of unknown types")
		return
	}
	bits := map[bool]uint64{true: 1}[ta[0] == 'S'] | map[bool]uint64{true: 2}[tb[0] == 'S'] | map[bool]uint64{true: 4}[half == "HI"]
	d := s.dst()
	a, b, c := s.plain(), s.plain(), s.plain()
	code := ir.Dot4
	if kind == "2A" {
		code = ir.Dot2
	}
	t := ir.U32
	if bits&3 != 0 {
		t = ir.S32
	}
	s.result(d, s.opTo(code, t, func(o *ir.Op) { o.Imm = bits }, a, b, c))
}
