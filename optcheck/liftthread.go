package optcheck

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"optcheck/litmus"
)

// op emits one operation.
func (l *threadLifter) op(o *liftOp) error {
	in := o.raw
	if o.entry >= 0 {
		in = *l.source(o.entry)
		in.Labels, in.Guard = nil, nil
		in.Src = slices.Clone(in.Src)
		if in.Atom == litmus.AtomMin || in.Atom == litmus.AtomMax {
			in.Type = withSign(in.Type, o.unsigned)
		}
		if r := o.raised; r != nil {
			in.Sem, in.Scope, in.Cache = r.Sem, r.Scope, r.Cache
		}
	}
	if o.entry < 0 && in.Op.IsAccess() && o.like >= 0 && o.group == 0 {
		if t := l.source(o.like).Type; t.Bits() == in.Type.Bits() && suits(in.Op, in.Atom, t) {
			in.Type = t
		}
	}
	g, err := l.guard(o)
	if errors.Is(err, errNever) && o.read < 0 {
		return nil // nobody sees anything of it
	}
	if err != nil {
		return err
	}
	in.Guard = g
	if !in.Op.IsAccess() {
		l.emit(in)
		return nil
	}
	if in.Addr, err = l.address(o); err != nil {
		return err
	}
	if o.entry < 0 {
		in.Src = make([]litmus.Operand, len(o.data))
	}
	if len(in.Src) > len(o.data) {
		return fmt.Errorf("%s has %d operands in machine code", &in, len(o.data))
	}
	if o.half != noHalf && in.Op == litmus.OpSt {
		if len(o.guard) > 0 {
			return fmt.Errorf("a conditional store of one half of a location")
		}
		if in.Src[0], err = l.stored(o); err == nil {
			l.emit(in)
		}
		return err
	}
	for i := range in.Src {
		if in.Src[i], err = l.operand(o.data[i], in.Type); err != nil {
			return err
		}
		if i == 0 && len(o.dataDeps) > 0 {
			in.Src[0] = l.depends(in.Src[0], in.Type, o.dataDeps)
		}
	}
	if in.Op != litmus.OpLd {
		if err := l.keep(o); err != nil {
			return err
		}
	}
	in.Dst = ""
	switch {
	case in.Op != litmus.OpLd && in.Op != litmus.OpAtom:
	case o.read >= 0:
		in.Dst = l.readWord(o.read, o.word)
	default:
		in.Dst = l.fresh("r", in.Type) // a reduction where nobody observes the result
	}
	l.emit(in)
	return nil
}

// zero returns a register that is always zero and depends on a read.
func (l *threadLifter) zero(read int) string {
	r, t := l.read(read), litmus.B32
	if l.code.reads[read].wide {
		t = litmus.B64
	}
	z := l.fresh("r", t)
	l.emit(litmus.Instr{Op: litmus.OpXor, Type: t, Dst: z, Src: []litmus.Operand{litmus.Reg(r), litmus.Reg(r)}})
	return z
}

// depends makes an operand depend on reads without changing its value.
func (l *threadLifter) depends(o litmus.Operand, t litmus.Type, reads []int) litmus.Operand {
	bits := litmus.B32
	if t.Bits() == 64 {
		bits = litmus.B64
	}
	for _, r := range reads {
		z := l.sized(l.zero(r), l.code.reads[r].wide, bits)
		sum := l.fresh("r", bits)
		l.emit(litmus.Instr{Op: litmus.OpAdd, Type: signedOf(bits), Dst: sum, Src: []litmus.Operand{litmus.Reg(z), o}})
		o = litmus.Reg(sum)
	}
	return o
}

func signedOf(t litmus.Type) litmus.Type {
	if t.Bits() == 64 {
		return litmus.S64
	}
	return litmus.S32
}

// suits reports whether an access may take another type of its width: the machine code shows the type only where it
// matters.
func suits(op litmus.Op, atom litmus.AtomOp, t litmus.Type) bool {
	bits := t == litmus.B32 || t == litmus.B64
	switch {
	case op == litmus.OpLd || op == litmus.OpSt:
		return true
	case atom == litmus.AtomAdd:
		return !bits && t != litmus.S64 // PTX has no atom.add.s64
	case atom == litmus.AtomExch || atom == litmus.AtomCAS || atom == litmus.AtomAnd || atom == litmus.AtomOr || atom == litmus.AtomXor:
		return bits
	}
	return false
}

// withSign returns the integer type of t's width with the wanted signedness.
func withSign(t litmus.Type, unsigned bool) litmus.Type {
	switch wide := t.Bits() == 64; {
	case wide && unsigned:
		return litmus.U64
	case wide:
		return litmus.S64
	case unsigned:
		return litmus.U32
	}
	return litmus.S32
}

// sized converts a zero to the wanted width.
func (l *threadLifter) sized(r string, wide bool, want litmus.Type) string {
	if wide == (want.Bits() == 64) {
		return r
	}
	from := litmus.U32
	to := litmus.U64
	if wide {
		from, to = litmus.U64, litmus.U32
	}
	c := l.fresh("r", to)
	l.emit(litmus.Instr{Op: litmus.OpCvt, Type: to, FromType: from, Dst: c, Src: []litmus.Operand{litmus.Reg(r)}})
	return c
}

// address returns the address operand of an operation.
func (l *threadLifter) address(o *liftOp) (litmus.Addr, error) {
	if o.loc < 0 || o.loc >= len(l.t.Locations) {
		return litmus.Addr{}, fmt.Errorf("location %d of %d", o.loc, len(l.t.Locations))
	}
	name, key := l.t.Locations[o.loc].Name, o.loc
	if o.texture {
		name, key = aliasOf(l.t, o.loc), o.loc+len(l.t.Locations)
	}
	if l.ptx && len(o.addrDeps) == 0 {
		return litmus.Addr{Loc: name}, nil
	}
	reg, ok := l.addrs[key]
	if !ok {
		reg = "rd" + strconv.Itoa(200+key)
		for l.taken[reg] || l.isLocation(reg) {
			reg += "0"
		}
		l.taken[reg] = true
		l.addrs[key] = reg
		l.th.Regs = append(l.th.Regs, litmus.RegDecl{Name: reg, Type: litmus.B64, Init: litmus.Loc(name)})
	}
	if len(o.addrDeps) == 0 {
		return litmus.Addr{Reg: reg}, nil
	}
	t := litmus.B64
	if d := l.th.Decl(reg); d != nil && d.Type != litmus.TypeNone && d.Type.Bits() == 32 {
		t = litmus.B32
	}
	return litmus.Addr{Reg: l.depends(litmus.Reg(reg), t, o.addrDeps).Name}, nil
}

// errNever is the error of an operation whose condition is false in every run.
var errNever = errors.New("an operation that is never performed")

// guard emits the predicate of an operation.
func (l *threadLifter) guard(o *liftOp) (*litmus.Guard, error) {
	if len(o.guard) == 0 {
		return nil, nil
	}
	var all *litmus.Guard
	for _, g := range o.guard {
		e, want := g.e, g.want
		for len(e.args) == 1 && uint8(e.k) == ^uint8(lutA) { // a negation
			e, want = e.args[0], !want
		}
		if e.op == exConst {
			if (e.k != 0) == want {
				continue
			}
			return nil, errNever
		}
		p, err := l.predicate(e)
		if err != nil {
			return nil, err
		}
		next := &litmus.Guard{Reg: p, Neg: !want}
		if all != nil {
			next = l.both(*all, *next)
		}
		all = next
	}
	if all != nil {
		// p or (0 != 0 computed from what it also depends on).
		for _, r := range o.ctrlDeps {
			q := l.fresh("p", litmus.Pred)
			t := litmus.S32
			if l.code.reads[r].wide {
				t = litmus.S64
			}
			l.emit(litmus.Instr{Op: litmus.OpSetp, Cmp: litmus.CmpEq, Type: t, Dst: q,
				Src: []litmus.Operand{litmus.Reg(l.zero(r)), litmus.Const(0)}})
			all = l.both(*all, litmus.Guard{Reg: q})
		}
	}
	return all, nil
}

// both emits the conjunction of two guards.
func (l *threadLifter) both(a, b litmus.Guard) *litmus.Guard {
	word := func(g litmus.Guard) litmus.Operand {
		r := l.fresh("r", litmus.S32)
		yes, no := litmus.Const(1), litmus.Const(0)
		if g.Neg {
			yes, no = no, yes
		}
		l.emit(litmus.Instr{Op: litmus.OpSelp, Type: litmus.S32, Dst: r, Src: []litmus.Operand{yes, no, litmus.Reg(g.Reg)}})
		return litmus.Reg(r)
	}
	x, y := word(a), word(b)
	r, p := l.fresh("r", litmus.S32), l.fresh("p", litmus.Pred)
	l.emit(litmus.Instr{Op: litmus.OpAnd, Type: litmus.B32, Dst: r, Src: []litmus.Operand{x, y}})
	l.emit(litmus.Instr{Op: litmus.OpSetp, Cmp: litmus.CmpNe, Type: litmus.S32, Dst: p, Src: []litmus.Operand{litmus.Reg(r), litmus.Const(0)}})
	return &litmus.Guard{Reg: p}
}
