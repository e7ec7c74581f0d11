package lower

import (
	"optcheck/ir"
	"optcheck/isa"
)

// matrices takes the kind of an access of matrices: .16.M88|MT88[.2|.4].
func (s *step) matrices(kind ir.AccessKind) (a *ir.Access, n int) {
	a = s.access(kind, ir.Shared, 16)
	shape := s.oneOf("M88 MT88")
	if !s.mod("16") || shape == "" {
		s.fail("%s of unknown shape", s.in.Op)
	}
	a.Transposed = shape == "MT88"
	a.Data = s.temps(16)
	return a, map[string]int{"": 1, "2": 2, "4": 4}[s.oneOf("2 4")]
}

// fragments takes the registers of matrices.
func (s *step) fragments(a *ir.Access, o isa.Operand, n int) {
	s.block(&o, n)
	for i := range n {
		if r := s.reg(&o, i); r != ir.None || a.Kind == ir.Load {
			a.Fragments = append(a.Fragments, r)
		} else {
			a.Fragments = append(a.Fragments, s.k(0))
		}
	}
}

// ldsm: LDSM d, [address].
func ldsm(s *step) {
	a, n := s.matrices(ir.Load)
	d := s.dst()
	s.memory(a)
	s.fragments(a, d, n)
	s.do(a)
}

// stsm: STSM [address], v.
func stsm(s *step) {
	a, n := s.matrices(ir.Store)
	s.memory(a)
	o := s.next()
	s.bare(&o, false, false, false)
	if !isReg(&o) {
		s.fail("operand %s of STSM", o.Text)
		return
	}
	s.fragments(a, o, n)
	s.do(a)
}

// movm: MOVM.16.MT88 d, a.
func movm(s *step) {
	if !s.mod("16") || !s.mod("MT88") {
		s.fail("MOVM of unknown shape")
	}
	w := warp(ir.Transpose)
	w.Dst = s.warpDst()
	w.Src = s.plain()
	s.do(w)
}

// shapes are the sizes of products, by their names in machine code.
var shapes = map[string][3]int{"16816": {16, 8, 16}, "1688": {16, 8, 8}, "1684": {16, 8, 4}, "16832": {16, 8, 32}, "8816": {8, 8, 16}, "8x8x4": {8, 8, 4}, "884": {8, 8, 4}}

// productKind takes what a product of matrices is one of.
func (s *step) productKind() *ir.Product {
	size, ok := shapes[s.oneOf("16816 1688 1684 16832 8816 8x8x4 884")]
	p := &ir.Product{M: size[0], N: size[1], K: size[2]}
	switch s.in.Op {
	case "DMMA":
		p.A, p.B, p.Acc = ir.F64, ir.F64, ir.F64
	case "IMMA":
		p.A, p.B, p.Acc = intTypes[s.oneOf("U8 S8")], intTypes[s.oneOf("U8 S8")], ir.S32
		p.Sat = s.mod("SAT")
		ok = ok && p.A != 0 && p.B != 0
	default:
		acc := s.oneOf("F16 F32")
		p.Acc = floatTypes[acc]
		p.A = map[string]ir.Type{"": ir.F16, "BF16": ir.BF16, "TF32": ir.TF32}[s.oneOf("BF16 TF32")]
		p.B = p.A
		ok = ok && acc != "" && (p.A == ir.F16 || p.Acc == ir.F32)
	}
	if !ok {
		s.fail("%s of unknown kind", s.in.Op)
	}
	return p
}

// multiply: HMMA, IMMA, DMMA d, a[.ROW], b[.COL], c.
func multiply(s *step) {
	w := warp(ir.Multiply)
	w.Product = s.productKind()
	if s.why != "" {
		return
	}
	na, nb, nc := w.Product.Registers()
	d := s.dst()
	part := func(o isa.Operand, n int, part string) {
		if o.Part == part {
			o.Part = ""
		}
		s.bare(&o, false, false, false)
		if !isReg(&o) {
			s.fail("operand %s of %s", o.Text, s.in.Op)
			return
		}
		for i := range n {
			if w.Product.A == ir.F64 {
				o := o
				o.Reg.Num += uint16(2 * i)
				w.Srcs = append(w.Srcs, s.raw64(&o))
			} else {
				w.Srcs = append(w.Srcs, s.orZero(s.reg(&o, i)))
			}
		}
	}
	part(s.next(), na, "ROW")
	part(s.next(), nb, "COL")
	part(s.next(), nc, "")
	for range nc {
		w.Dsts = append(w.Dsts, s.u.b.Temp())
	}
	s.do(w)
	for i, v := range w.Dsts {
		if w.Product.A == ir.F64 {
			s.half(d, 2*i, v)
		} else if r := s.reg(&d, i); r != ir.None {
			s.sets = append(s.sets, set{r, s.op(ir.Mov, ir.U32, v)})
		}
	}
}
