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
