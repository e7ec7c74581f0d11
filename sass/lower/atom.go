package lower

import (
	"slices"

	"optcheck/ir"
	"optcheck/isa"
)

var atoms = map[string]ir.Atom{"ADD": ir.AtomAdd, "MIN": ir.AtomMin, "MAX": ir.AtomMax, "INC": ir.AtomInc, "DEC": ir.AtomDec,
	"AND": ir.AtomAnd, "OR": ir.AtomOr, "XOR": ir.AtomXor, "EXCH": ir.AtomExch, "CAS": ir.AtomCAS, "CAST": ir.AtomCAS}

// floats are the types of floating-point atomics.
var floats = map[string]ir.Type{"F16": ir.F16x2, "F16x2": ir.F16x2, "BF16_V2": ir.BF16x2, "BF16x2": ir.BF16x2, "F32": ir.F32, "F64": ir.F64}

// integers are the types of integer atomics.
var integers = map[string]ir.Type{"": ir.U32, "32": ir.U32, "U32": ir.U32, "S32": ir.S32, "64": ir.U64, "U64": ir.U64, "S64": ir.S64}

// atomic begins a read-modify-write: its operation, type, strength.
func (s *step) atomic(space ir.Space) *ir.Access {
	s.wide(space)
	if space == ir.Shared && slices.Equal(s.mods, []string{"ARRIVE", "64"}) {
		s.mods = nil
		a := s.access(ir.Atomic, space, 8)
		a.Atom, a.Mbarrier, a.Sem, a.Scope, a.Data = ir.AtomArrive, true, ir.Relaxed, ir.CTA, []ir.Reg{s.k(1)}
		return a
	}
	op := s.oneOf("ADD MIN MAX INC DEC AND OR XOR EXCH CAS CAST POPC")
	a := s.access(ir.Atomic, space, 4)
	a.Atom = atoms[op]
	switch op {
	case "":
		s.fail("%s of unknown operation", s.in.Op)
	case "POPC":
		if !s.mod("INC") {
			s.fail("%s.POPC without .INC", s.in.Op)
		}
		a.Atom, a.Total = ir.AtomAdd, true
	case "CAST":
		s.mod("SPIN")
	}
	if f := s.oneOf("F16x2 BF16_V2 BF16x2 F32 F64"); f != "" {
		a.Type, a.FTZ = floats[f], s.mod("FTZ")
		if !s.mod("RN") || op == "EXCH" {
			s.fail("%s.%s of unknown rounding", s.in.Op, f)
		}
	} else {
		a.Type = integers[s.oneOf("32 U32 S32 64 U64 S64")]
	}
	if s.mod("128") && (op == "EXCH" || op == "CAS") {
		a.Type = ir.B128
	}
	a.Bytes = a.Type.Bits() / 8
	if space == ir.Shared {
		a.Sem, a.Scope = ir.Relaxed, ir.CTA
		return a
	}
	s.strength(a)
	if a.Sem == ir.Weak {
		s.fail("a weak %s", s.in.Op)
	}
	return a
}

// atom: ATOMG, ATOM [p,] d, [address], v; ATOMS d, [address], v; CAS: …, compare, v. The predicate says of CAS whether it
// succeeded, of operations on generic addresses whether it was performed: those of global memory are, and CAS in shared memory, too.
func atom(space ir.Space) func(*step) {
	return func(s *step) {
		cast := slices.Contains(s.in.Mods, "CAST")
		a := s.atomic(space)
		p := s.optPredDst()
		d := isa.Operand{Kind: isa.OpdReg, Zero: true}
		if o := s.peek(); p == ir.None || !cast || o == nil || o.Kind != isa.OpdMem { // from sm_100 on the predicate is all that CAST gives
			d = s.dst()
		}
		s.memory(a)
		switch {
		case a.Total:
			a.Data = []ir.Reg{s.k(1)}
		case a.Atom == ir.AtomArrive:
		case a.Atom == ir.AtomCAS:
			a.Compare = s.data(a.Bytes)
			a.Data = s.data(a.Bytes)
		default:
			a.Data = s.data(a.Bytes)
		}
		if p != ir.None && a.Atom != ir.AtomCAS {
			if space != ir.Generic || a.Total {
				s.fail("the predicate of %s", s.in.Op)
			}
			a.OnlyGlobal = true
		}
		switch {
		case p != ir.None && a.Atom == ir.AtomCAS && space == ir.Generic: // in local memory, where PTX defines none, it would not be
			s.setPred(p, s.k(1))
		case p != ir.None || cast:
			a.Done = s.u.b.Temp()
			s.setPred(p, a.Done)
		}
		s.atomResult(a, d, cast)
	}
}

// atomResult sets the old value, or, of CAST, whether the exchange succeeded.
func (s *step) atomResult(a *ir.Access, d isa.Operand, cast bool) {
	if cast {
		s.do(a)
		s.result(d, a.Done)
		if a.Bytes == 8 && !zeroReg(&d) {
			s.sets = append(s.sets, set{s.reg(&d, 1), s.k(0)})
		}
		return
	}
	if !zeroReg(&d) {
		a.Dst = s.temps(a.Bytes)
	}
	s.do(a)
	if a.Dst != nil {
		s.loaded(d, a.Dst, a.Bytes, false)
	}
}

// red: REDG, RED [address], v.
func red(space ir.Space) func(*step) {
	return func(s *step) {
		a := s.atomic(space)
		s.memory(a)
		a.Data = s.data(a.Bytes)
		s.do(a)
	}
}
