package litmus

import "slices"

// arity returns the number of source operands of an operation.
func arity(in *Instr) int {
	switch in.Op {
	case OpSt, OpMov, OpCvt, OpNot:
		return 1
	case OpAtom, OpRed:
		if in.Atom == AtomCAS && in.Op == OpAtom {
			return 2
		}
		if in.Atom >= AtomIncOne {
			return 0
		}
		return 1
	case OpAdd, OpSub, OpMul, OpDiv, OpAnd, OpOr, OpXor, OpShl, OpShr, OpSetp:
		return 2
	case OpSelp:
		return 3
	case OpBra:
		if in.Cmp != CmpNone {
			return 2
		}
	}
	return 0
}

// instr checks one instruction.
func (c *checker) instr(th *Thread, j int) {
	in := &th.Body[j]
	if in.Op == OpAsync {
		c.async(th, in)
		return
	}
	if in.Word != nil {
		c.word(th, j)
	}
	if len(in.Src) != arity(in) {
		c.errorf(in.Pos, "%s has %d source operands, not %d", in, len(in.Src), arity(in))
		return
	}
	if msg, _ := c.t.Dialect.illegal(in); msg != "" {
		c.errorf(in.Pos, "%s: %s", in, msg)
	}
	switch {
	case in.Call && !in.IsEvent():
		c.errorf(in.Pos, "%s: only accesses, fences and barriers are performed by functions", in)
	case in.Prefetch > 0 && (!in.IsAccess() || in.Prefetch > 2):
		c.errorf(in.Pos, "%s: only the location of an access is prefetched, into level 1 or 2", in)
	case (in.Call || in.Prefetch > 0) && c.t.Dialect == OpenCL:
		c.errorf(in.Pos, "%s: calls and prefetches are of dialects in PTX", in)
	}
	if in.Guard != nil {
		c.reg(th, in, in.Guard.Reg, Pred, exact)
	}
	if in.IsAccess() {
		c.access(th, in, j)
	}
	c.operands(th, in)
}

// How the width of a register must match that of the instruction.
const (
	exact = iota
	wider // as wide or wider: ld and st convert
	any32 // any data register
)

// reg checks one register of an instruction against the type that it should have.
func (c *checker) reg(th *Thread, in *Instr, r string, want Type, match int) {
	d := th.Decl(r)
	if d == nil && r == "_" && in.IsAccess() && r == in.Dst {
		return // nobody observes the result
	}
	if d == nil {
		if c.t.Dialect.declared() {
			c.errorf(in.Pos, "register %s of thread %s is not declared", r, th.Name)
		} else if !regLike(r) && !c.wrote[th.index(c.t)][r] {
			c.errorf(in.Pos, "%s is neither a register of thread %s nor a location", r, th.Name)
		}
		return
	}
	if d.Type == TypeNone && c.t.Dialect == PTX {
		return
	}
	isPred, wantPred := d.Type == Pred, want == Pred
	switch {
	case isPred && !wantPred:
		c.errorf(in.Pos, "%s: predicate %s stands where a data register is needed", in, r)
	case wantPred && !isPred:
		c.errorf(in.Pos, "%s: %s is not a predicate", in, r)
	case isPred || want == TypeNone || match == any32:
	case c.bits(d) < want.Bits() || match == exact && c.bits(d) != want.Bits():
		c.errorf(in.Pos, "%s: register %s has %d bits, the instruction %d", in, r, c.bits(d), want.Bits())
	}
}

// bits returns the width of a declared register; one that has no type and holds an address has
// 64.
func (c *checker) bits(d *RegDecl) int {
	if d.Type == TypeNone && d.Init.Kind == OperandLoc {
		return 64
	}
	return d.Type.Bits()
}

// operands checks destination and sources.
func (c *checker) operands(th *Thread, in *Instr) {
	typ, match := in.Type, exact
	if in.Op == OpLd || in.Op == OpSt {
		match = wider
	}
	dst, src := typ, typ
	switch in.Op {
	case OpSetp:
		dst = Pred
	case OpCvt:
		src, match = in.FromType, exact
	case OpLd, OpAtom, OpMov, OpAdd, OpSub, OpMul, OpDiv, OpAnd, OpOr, OpXor, OpShl, OpShr, OpNot, OpSelp:
	default:
		if in.Dst != "" {
			c.errorf(in.Pos, "%s has a destination", in)
		}
	}
	if in.Dst != "" {
		c.reg(th, in, in.Dst, dst, match)
	} else if in.Op == OpLd || in.Op == OpAtom || in.Op >= OpMov && in.Op <= OpSelp {
		c.errorf(in.Pos, "%s has no destination", in)
	}
	for i, o := range in.Src {
		want := src
		switch {
		case in.Op == OpSelp && i == 2:
			want = Pred
		case (in.Op == OpShl || in.Op == OpShr) && i == 1:
			want = B32 // the shift count has 32 bits whatever the type
		}
		c.source(th, in, o, want, match)
	}
	if in.Op == OpBar {
		c.bar(th, in)
	}
}

func (c *checker) source(th *Thread, in *Instr, o Operand, want Type, match int) {
	switch o.Kind {
	case OperandReg:
		c.reg(th, in, o.Name, want, match)
	case OperandConst:
		if want == Pred {
			c.errorf(in.Pos, "%s: a constant stands where a predicate is needed", in)
		} else if want != TypeNone && !fits(o.Value, want) {
			c.errorf(in.Pos, "%s: %d does not fit type %s", in, o.Value, want)
		}
	case OperandLoc:
		switch {
		case c.t.Location(o.Name) == nil:
			c.errorf(in.Pos, "%s: there is no location %s", in, o.Name)
		case want != TypeNone && want.Bits() != 64:
			c.errorf(in.Pos, "%s: the address of %s does not fit type %s", in, o.Name, want)
		}
	default:
		c.errorf(in.Pos, "%s lacks an operand", in)
	}
}

func (c *checker) bar(th *Thread, in *Instr) {
	b := &in.Barrier
	for i, o := range [...]Operand{b.ID, b.Resource, b.Quorum} {
		switch {
		case o.Kind == OperandReg:
			c.reg(th, in, o.Name, TypeNone, any32)
		case o.Kind == OperandLoc || o.Kind == OperandNone && i == 0:
			c.errorf(in.Pos, "%s: a barrier is named by a number or a register", in)
		}
	}
	if msg := c.t.Dialect.IllegalBarrier(b); msg != "" {
		c.errorf(in.Pos, "%s: %s", in, msg)
	}
}

// access checks the address of a memory access and its state space.
func (c *checker) access(th *Thread, in *Instr, j int) {
	base := c.bases[th.index(c.t)][j]
	a := in.Addr
	switch {
	case a.Reg != "" && a.Loc != "" || a.Reg == "" && a.Loc == "":
		c.errorf(in.Pos, "%s needs one address", in)
		return
	case a.Loc != "" && c.t.Location(a.Loc) == nil:
		c.errorf(in.Pos, "%s: there is no location %s", in, a.Loc)
		return
	case a.Reg != "":
		d := th.Decl(a.Reg)
		c.reg(th, in, a.Reg, TypeNone, any32)
		if d == nil && c.t.Dialect.declared() || d != nil && d.Type == Pred {
			return
		}
		if !c.addrs[th.index(c.t)][a.Reg] {
			c.errorf(in.Pos, "%s: register %s holds no location", in, a.Reg)
			return
		}
		l := c.t.Location(base)
		if d != nil && d.Type != TypeNone && c.bits(d) != 64 && !c.short(l) {
			c.errorf(in.Pos, "%s: address register %s has %d bits, not 64", in, a.Reg, c.bits(d))
		}
	}
	if l := c.t.Location(base); l != nil {
		c.place(in, l)
	}
}

// short reports whether a 32-bit address can be that of the location: it is in shared memory
// or, if it is not known, some location is.
func (c *checker) short(l *Location) bool {
	if l != nil {
		return l.Space == Shared
	}
	return slices.ContainsFunc(c.t.Locations, func(l Location) bool { return l.Space == Shared })
}

// place checks space and extent of an access to a known location.
func (c *checker) place(in *Instr, l *Location) {
	space := l.Space
	if space == Generic {
		space = Global
	}
	if in.Space != Generic && in.Space != space {
		c.errorf(in.Pos, "%s: location %s is in %s memory", in, l.Name, space)
	}
	size, width := max(c.size[l.Name], 4), max(int64(in.Type.Bits()/8), 1)
	if off := in.Addr.Offset; off < 0 || off+width > size {
		c.errorf(in.Pos, "%s reaches outside of location %s, which has %d bytes", in, l.Name, size)
	} else if (l.Offset+off)%width != 0 {
		c.errorf(in.Pos, "%s is not aligned to its %d bytes", in, width)
	}
}

// index returns the thread's index in the test.
func (th *Thread) index(t *Test) int {
	for i := range t.Threads {
		if &t.Threads[i] == th {
			return i
		}
	}
	return 0
}

// fits reports whether a constant can be written as a value of the type,
// signed or as a bit pattern.
func fits(v int64, t Type) bool {
	n := t.Bits()
	return n == 64 || v >= -1<<(n-1) && v < 1<<n
}
