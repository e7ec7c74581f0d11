package litmus

// Fit truncates k to the width of the type: two's complement, sign-extended for signed types
// and if no type is written, zero-extended otherwise.
func (t Type) Fit(k int64) int64 {
	switch t {
	case TypeNone, S32:
		return int64(int32(k))
	case B32, U32, F32, F16X2, BF16X2:
		return int64(uint32(k))
	case B64, U64, S64, F64:
		return k
	case Pred:
		return b2i(k != 0)
	case S16:
		return int64(int16(k))
	case B16, U16, F16, BF16:
		return int64(uint16(k))
	case S8:
		return int64(int8(k))
	}
	return int64(uint8(k))
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Arith computes a two-operand instruction. Division by zero gives all ones,
// as PTX leaves it unspecified and the hardware does that.
func Arith(op Op, t Type, a, b int64) int64 {
	a, b = t.Fit(a), t.Fit(b)
	var r int64
	switch op {
	case OpAdd:
		r = a + b
	case OpSub:
		r = a - b
	case OpMul:
		r = a * b
	case OpDiv:
		switch {
		case b == 0:
			r = -1
		case t == U64 || t == B64:
			r = int64(uint64(a) / uint64(b))
		default:
			r = a / b
		}
	case OpAnd:
		r = a & b
	case OpOr:
		r = a | b
	case OpXor:
		r = a ^ b
	case OpShl, OpShr:
		r = shift(op, t, a, b)
	}
	return t.Fit(r)
}

// shift clamps the count to the width, as PTX says.
func shift(op Op, t Type, a, b int64) int64 {
	n := uint64(b) & 0xffffffff
	if w := uint64(t.Bits()); n > w {
		n = w
	}
	switch {
	case op == OpShl:
		return a << n
	case t.Signed():
		return a >> n
	}
	return int64(uint64(a) >> n)
}

// Compare reports whether a comparison holds, according to the type: signed types and untyped
// operands compare as signed numbers, the others as unsigned.
func Compare(c Cmp, t Type, a, b int64) bool {
	a, b = t.Fit(a), t.Fit(b)
	if !t.Signed() && t.Bits() == 64 {
		const flip = -1 << 63
		a, b = a^flip, b^flip
	}
	return c.Holds(a, b)
}

// Apply computes an instruction that neither accesses memory nor branches, for
// the values of its sources; a, b, c beyond the sources are ignored. Predicates
// are 1 and 0.
func (in *Instr) Apply(a, b, c int64) int64 {
	switch t := in.Type; in.Op {
	case OpMov, OpCvt:
		if in.Op == OpCvt && in.FromType != TypeNone {
			a = in.FromType.Fit(a)
		}
		if in.Op == OpMov && t == TypeNone {
			return a // as wide as its source
		}
		return t.Fit(a)
	case OpNot:
		if t == Pred {
			return b2i(a == 0)
		}
		return t.Fit(^a)
	case OpSetp:
		return b2i(Compare(in.Cmp, t, a, b))
	case OpSelp:
		if c == 0 {
			a = b
		}
		return t.Fit(a)
	default:
		return Arith(in.Op, t, a, b)
	}
}
