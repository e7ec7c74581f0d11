package lower

import (
	"optcheck/ir"
	"optcheck/ptx"
)

// mov is PTX ISA 9.7.9.3, 9.7.9.4.
func (x *inst) mov() {
	t := x.t()
	from, to := &x.in.Args[1], &x.in.Args[0]
	switch {
	case to.Kind == ptx.Vec && from.Kind == ptx.Vec:
		x.fail("a move from a vector to a vector is not understood")
	case to.Kind == ptx.Vec:
		x.form(" unpack")
		x.unpack(to.Elems, x.words(from, t), t)
	case from.Kind == ptx.Vec:
		x.form(" pack")
		x.pack(to, from.Elems, t)
	case t == ir.B128:
		d := x.dst(0, t)
		for i, r := range x.words(from, t) {
			x.to(d+ir.Reg(i), ir.Mov, ir.U64, r)
		}
	default:
		x.to(x.dst(0, t), ir.Mov, raw(t), x.src(1, t))
	}
}

// words are the registers of a source, two of 128 bits.
func (x *inst) words(o *ptx.Operand, t ir.Type) []ir.Reg { return x.data(o, t) }

// part is the type of an element of a vector.
func (x *inst) part(n int, t ir.Type) ir.Type {
	if n != 2 && n != 4 || t == ir.Pred || t.Bits()/n < 8 {
		x.fail("a vector of %d elements as .%s is not understood", n, t)
	}
	return ir.Unsigned(t.Bits() / n)
}

// unpack cuts words into the elements of a vector, the first the lowest.
func (x *inst) unpack(list []ptx.Operand, words []ir.Reg, t ir.Type) {
	p := x.part(len(list), t)
	parts := make([]ir.Reg, len(list))
	for i := range list {
		bit := i * p.Bits()
		r := words[bit/64]
		if bit%64 > 0 {
			r = x.op(ir.Shr, ir.U64, r, x.imm(uint64(bit%64)))
		}
		parts[i] = x.op(ir.Mov, p, r)
	}
	for i := range list {
		x.to(x.write(&list[i], p), ir.Mov, p, parts[i])
	}
}

// pack makes words of the elements of a vector.
func (x *inst) pack(to *ptx.Operand, list []ptx.Operand, t ir.Type) {
	p := x.part(len(list), t)
	d := x.write(to, t)
	out := make([]ir.Reg, (t.Bits()+63)/64)
	for i := range list {
		bit := i * p.Bits()
		r := x.read(&list[i], p)
		if w := &out[bit/64]; bit%64 == 0 {
			*w = r
		} else {
			*w = x.op(ir.Bfi, ir.U64, r, *w, x.imm(uint64(bit%64)), x.imm(uint64(p.Bits())))
		}
	}
	for i, r := range out {
		x.to(d+ir.Reg(i), ir.Mov, ir.U64, r)
	}
}

// integerLimits are the smallest and largest number of an integer type, as 64 bits.
func integerLimits(t ir.Type) (low, high uint64) {
	if t.Signed() {
		return ^uint64(0) << (t.Bits() - 1), 1<<(t.Bits()-1) - 1
	}
	return 0, ^uint64(0) >> (64 - t.Bits())
}

// cvtInt converts integers to integers: PTX ISA 9.7.9.21. With .sat they are clamped to the type.
func (x *inst) cvtInt() {
	t, s := x.t(), types[x.mods["s"]]
	r, o := x.readWide(&x.in.Args[1], s), &x.in.Args[0]
	if x.is("sat") {
		r = x.clamp(x.ext(s, ir.U64, r), s.Signed(), t)
	} else if t.Bits() > s.Bits() {
		if o.Kind == ptx.Reg && x.width(o.Reg) == t.Bits() {
			x.to(x.write(o, t), ir.Ext, s, r).To = raw(t)
			return
		}
		r = x.ext(s, raw(t), r)
	}
	x.extended(o, t, r)
}

// clamp clamps a number of 64 bits to a type.
func (x *inst) clamp(r ir.Reg, signed bool, t ir.Type) ir.Reg {
	low, high := integerLimits(t)
	switch {
	case !signed:
		return x.op(ir.Min, ir.U64, r, x.imm(high))
	case t == ir.U64:
		return x.op(ir.Max, ir.S64, r, x.imm(0))
	}
	return x.op(ir.Min, ir.S64, x.op(ir.Max, ir.S64, r, x.imm(low)), x.imm(high))
}
