package optcheck

import (
	"fmt"
	"math"
	"slices"

	"optcheck/litmus"
)

// operand emits the value of one operand, given by its words.
func (l *threadLifter) operand(words []*expr, t litmus.Type) (litmus.Operand, error) {
	if len(words) != 2 {
		return l.value(words[0], t)
	}
	lo, hi := words[0], words[1]
	switch {
	case lo.op == exLoad && hi.op == exLoad && lo.read == hi.read && lo.word == 0 && hi.word == 1:
		return litmus.Reg(l.read(lo.read)), nil
	case lo.op == exConst && hi.op == exConst:
		return litmus.Const(int64(hi.k<<32 | lo.k)), nil
	case lo.op == exParam && hi.op == exParam && hi.k == lo.k+4:
		if v := l.values[int64(lo.k)]; v.Bytes == 8 {
			return litmus.Const(v.Const), nil
		}
	}
	return litmus.Operand{}, fmt.Errorf("a 64-bit value whose words are computed apart")
}

// fitting returns a machine word as a constant of a type.
func fitting(k uint32, t litmus.Type) int64 {
	if t == litmus.B32 || t == litmus.U32 {
		return int64(k)
	}
	return int64(int32(k))
}

// value emits the computation of a word and returns its register or constant.
func (l *threadLifter) value(e *expr, t litmus.Type) (litmus.Operand, error) {
	switch e.op {
	case exConst:
		return litmus.Const(fitting(uint32(e.k), t)), nil
	case exParam:
		return l.param(int64(e.k))
	case exLoad:
		r := l.readWord(e.read, e.word)
		if l.code.reads[e.read].split {
			return litmus.Reg(r), nil
		}
		if !l.code.reads[e.read].wide {
			if e.word > 0 {
				return litmus.Operand{}, fmt.Errorf("the upper word of a 32-bit value")
			}
			return litmus.Reg(r), nil
		}
		if e.word > 0 {
			s := l.fresh("r", litmus.U64)
			l.emit(litmus.Instr{Op: litmus.OpShr, Type: litmus.U64, Dst: s, Src: []litmus.Operand{litmus.Reg(r), litmus.Const(32)}})
			r = s
		}
		c := l.fresh("r", litmus.U32)
		l.emit(litmus.Instr{Op: litmus.OpCvt, Type: litmus.U32, FromType: litmus.U64, Dst: c, Src: []litmus.Operand{litmus.Reg(r)}})
		return litmus.Reg(c), nil
	case exAdd:
		return l.arith(litmus.OpAdd, litmus.S32, e.args)
	case exMul:
		return l.arith(litmus.OpMul, litmus.S32, e.args)
	case exShl:
		return l.arith(litmus.OpShl, litmus.B32, e.args)
	case exShr:
		return l.arith(litmus.OpShr, litmus.U32, e.args)
	case exSel:
		return l.sel(e)
	case exBits:
		if !e.isPred() {
			return l.bits(uint8(e.k), e.args)
		}
	}
	p, err := l.predicate(e) // a predicate as a word: all ones or none
	if err != nil {
		return litmus.Operand{}, err
	}
	r := l.fresh("r", litmus.S32)
	l.emit(litmus.Instr{Op: litmus.OpSelp, Type: litmus.S32, Dst: r, Src: []litmus.Operand{litmus.Const(-1), litmus.Const(0), litmus.Reg(p)}})
	return litmus.Reg(r), nil
}

// param returns the constant of the test that a parameter stands for.
func (l *threadLifter) param(off int64) (litmus.Operand, error) {
	if v, ok := l.values[off]; ok {
		if v.Bytes == 8 {
			return litmus.Const(int64(int32(v.Const))), nil
		}
		return litmus.Const(v.Const), nil
	}
	if v := l.values[off-4]; v.Bytes == 8 {
		return litmus.Const(v.Const >> 32), nil
	}
	return litmus.Operand{}, fmt.Errorf("a value is the parameter at offset %d, which stands for none of the test's constants", off)
}

func (l *threadLifter) arith(op litmus.Op, t litmus.Type, args []*expr) (litmus.Operand, error) {
	var src []litmus.Operand
	for i, a := range args {
		at := t
		if i == 1 && (op == litmus.OpShl || op == litmus.OpShr) {
			at = litmus.B32
		}
		o, err := l.value(a, at)
		if err != nil {
			return o, err
		}
		if o.Kind == litmus.OperandConst && at != litmus.S32 {
			o.Value = fitting(uint32(o.Value), at)
		}
		src = append(src, o)
	}
	r := l.fresh("r", t)
	l.emit(litmus.Instr{Op: op, Type: t, Dst: r, Src: src})
	return litmus.Reg(r), nil
}

func (l *threadLifter) sel(e *expr) (litmus.Operand, error) {
	p, err := l.predicate(e.args[2])
	if err != nil {
		return litmus.Operand{}, err
	}
	a, err := l.value(e.args[0], litmus.S32)
	if err != nil {
		return a, err
	}
	b, err := l.value(e.args[1], litmus.S32)
	if err != nil {
		return b, err
	}
	r := l.fresh("r", litmus.S32)
	l.emit(litmus.Instr{Op: litmus.OpSelp, Type: litmus.S32, Dst: r, Src: []litmus.Operand{a, b, litmus.Reg(p)}})
	return litmus.Reg(r), nil
}

// bits emits a bitwise function: one instruction if that suffices, else a disjunction of its minterms.
func (l *threadLifter) bits(lut uint8, args []*expr) (litmus.Operand, error) {
	var src [3]litmus.Operand
	for i, a := range args {
		o, err := l.value(a, litmus.B32)
		if err != nil {
			return o, err
		}
		if o.Kind == litmus.OperandConst {
			o.Value = int64(uint32(o.Value))
		}
		src[i] = o
	}
	two := func(op litmus.Op, x, y litmus.Operand) litmus.Operand {
		r := l.fresh("r", litmus.B32)
		l.emit(litmus.Instr{Op: op, Type: litmus.B32, Dst: r, Src: []litmus.Operand{x, y}})
		return litmus.Reg(r)
	}
	if len(args) == 2 {
		switch lut {
		case lutAnd:
			return two(litmus.OpAnd, src[0], src[1]), nil
		case lutOr:
			return two(litmus.OpOr, src[0], src[1]), nil
		case lutXor:
			return two(litmus.OpXor, src[0], src[1]), nil
		}
	}
	ones := litmus.Const(math.MaxUint32)
	sum := litmus.Const(0)
	for m := range 1 << len(args) {
		if lut>>(m<<(3-len(args)))&1 == 0 {
			continue
		}
		term := ones
		for i := range args {
			x := src[i]
			if m>>(len(args)-1-i)&1 == 0 {
				x = two(litmus.OpXor, x, ones)
			}
			term = two(litmus.OpAnd, term, x)
		}
		sum = two(litmus.OpOr, sum, term)
	}
	return sum, nil
}

var litmusCmps = [...]litmus.Cmp{litmus.CmpEq, litmus.CmpNe, litmus.CmpLt, litmus.CmpLe, litmus.CmpGt, litmus.CmpGe}

// predicate emits a predicate once and returns its register.
func (l *threadLifter) predicate(e *expr) (string, error) {
	key := string(e.render(nil))
	if p, ok := l.preds[key]; ok {
		return p, nil
	}
	p, err := l.newPredicate(e)
	if err == nil {
		l.preds[key] = p
	}
	return p, err
}

func (l *threadLifter) newPredicate(e *expr) (string, error) {
	p := ""
	set := func(cmp litmus.Cmp, t litmus.Type, a, b litmus.Operand) string {
		r := l.fresh("p", litmus.Pred)
		l.emit(litmus.Instr{Op: litmus.OpSetp, Cmp: cmp, Type: t, Dst: r, Src: []litmus.Operand{a, b}})
		return r
	}
	if e.op != exCmp {
		if e.op == exBits && e.isPred() {
			o, err := l.bits(uint8(e.k), e.args)
			if err != nil {
				return p, err
			}
			return set(litmus.CmpNe, litmus.U32, o, litmus.Const(0)), nil
		}
		if e.op == exParam { // setp.ne of an initial value
			o, err := l.value(e, litmus.U32)
			if err != nil {
				return p, err
			}
			return set(litmus.CmpNe, litmus.U32, o, litmus.Const(0)), nil
		}
		return p, fmt.Errorf("a predicate that is no comparison")
	}
	t := litmus.U32
	if e.k&cmpSigned != 0 {
		t = litmus.S32
	}
	a, err := l.value(e.args[0], t)
	if err != nil {
		return p, err
	}
	b, err := l.value(e.args[1], t)
	if err != nil {
		return p, err
	}
	for _, o := range []*litmus.Operand{&a, &b} {
		if o.Kind == litmus.OperandConst {
			o.Value = fitting(uint32(o.Value), t)
		}
	}
	return set(litmusCmps[e.k&0xff], t, a, b), nil
}

// tail sets the test's registers to the values that they have in the machine code: what the accesses read, and what
// the test computes from it. It returns what became of registers whose access is gone or shared.
func (l *threadLifter) tail() ([]string, error) {
	var equal []string
	code := make([]*litmus.Instr, len(l.src.Body))
	for i := range l.src.Body {
		in := l.src.Body[i]
		in.Labels = slices.Clone(in.Labels)
		in.Src = slices.Clone(in.Src)
		if in.Op.IsAccess() || in.Op.IsFence() || in.Op == litmus.OpBar || in.Op == litmus.OpNop {
			in = litmus.Instr{Labels: in.Labels, Op: litmus.OpNop}
		}
		code[i] = &in
	}
	for _, e := range l.in.Spec.Entries {
		x, ok := l.code.regs[e.Pos]
		if e.IsFence() || !ok {
			continue
		}
		in := &l.src.Body[e.Instr]
		if in.Dst == "" {
			continue
		}
		if x.op == exLoad && x.word == 0 && l.direct[x.read] && l.regs[x.read] == in.Dst {
			continue // the access itself sets it
		}
		code[e.Instr] = &litmus.Instr{Labels: code[e.Instr].Labels, Guard: in.Guard, Op: litmus.OpMov, Type: l.movType(in), Dst: in.Dst}
		code[e.Instr].Src = []litmus.Operand{{}} // filled below, if it is needed
	}
	keep := l.needed(code)
	for i, in := range code {
		if !keep[i] {
			continue
		}
		if in.Op == litmus.OpMov && in.Src[0].Kind == litmus.OperandNone {
			e := l.entryAt(i)
			o, err := l.whole(l.code.regs[e], in.Type)
			if err != nil {
				return nil, err
			}
			in.Src[0] = o
			if x := l.code.regs[e]; x.op != exLoad || l.code.reads[x.read].entry != e && !l.code.reads[x.read].split {
				equal = append(equal, l.equals(in.Dst, o))
			}
		}
		l.emit(*in)
	}
	return equal, nil
}

// whole is value for a register of the test, which may be as wide as what was read.
func (l *threadLifter) whole(e *expr, t litmus.Type) (litmus.Operand, error) {
	if e.op == exLoad && e.word == 0 && t.Bits() == 64 {
		return litmus.Reg(l.readWord(e.read, 0)), nil
	}
	if e.op == exPair {
		lo, err := l.value(e.args[0], litmus.U32)
		if err != nil {
			return lo, err
		}
		hi, err := l.value(e.args[1], litmus.U32)
		return l.pair(lo, hi), err
	}
	return l.value(e, t)
}

// pair emits the 64-bit value with the given words.
func (l *threadLifter) pair(lo, hi litmus.Operand) litmus.Operand {
	if lo.Kind == litmus.OperandConst && hi.Kind == litmus.OperandConst {
		return litmus.Const(hi.Value<<32 | lo.Value&math.MaxUint32)
	}
	emit := func(op litmus.Op, t litmus.Type, src ...litmus.Operand) litmus.Operand {
		in := litmus.Instr{Op: op, Type: t, Dst: l.fresh("r", t), Src: src}
		if op == litmus.OpCvt {
			in.FromType = litmus.U32
		}
		l.emit(in)
		return litmus.Reg(in.Dst)
	}
	wide := func(o litmus.Operand) litmus.Operand {
		if o.Kind == litmus.OperandConst {
			return litmus.Const(o.Value & math.MaxUint32)
		}
		return emit(litmus.OpCvt, litmus.U64, o)
	}
	top := emit(litmus.OpMul, litmus.S64, wide(hi), litmus.Const(1<<32))
	return emit(litmus.OpOr, litmus.B64, top, wide(lo))
}

// stored returns what a store of one half leaves in its location. No other thread may write the location: then what
// this thread has stored is known.
func (l *threadLifter) stored(o *liftOp) (litmus.Operand, error) {
	name := l.t.Locations[o.loc].Name
	for i := range l.t.Threads {
		th := &l.t.Threads[i]
		for k := range th.Body {
			in := &th.Body[k]
			mine := th.ID == l.src.ID && in.Op != litmus.OpAtom && in.Op != litmus.OpRed
			if in.IsAccess() && in.Op != litmus.OpLd && th.AddrLoc(in) == name && !mine {
				return litmus.Operand{}, fmt.Errorf("a store of one half of %s, which other accesses write, too", name)
			}
		}
	}
	w, err := l.value(o.data[0][0], litmus.U32)
	if err != nil {
		return w, err
	}
	now := l.words(o.loc)
	now[o.half-lowHalf] = w
	return l.pair(now[0], now[1]), nil
}

// words returns the current words of a location that no other thread writes.
func (l *threadLifter) words(loc int) *[2]litmus.Operand {
	if l.halves[loc] == nil {
		init := l.t.Locations[loc].Init
		l.halves[loc] = &[2]litmus.Operand{litmus.Const(int64(int32(init))), litmus.Const(init >> 32)}
	}
	return l.halves[loc]
}

// keep refuses an access that writes a whole location of which one half is stored elsewhere: what that leaves is not followed.
func (l *threadLifter) keep(o *liftOp) error {
	if slices.ContainsFunc(l.code.ops, func(x liftOp) bool { return x.half != noHalf && x.read < 0 && x.loc == o.loc }) {
		return fmt.Errorf("a write to a location of which one half is stored elsewhere")
	}
	return nil
}

func (l *threadLifter) equals(reg string, o litmus.Operand) string {
	id := l.src.ID
	if o.Kind == litmus.OperandReg {
		return fmt.Sprintf("%d:%s = %d:%s", id, reg, id, o.Name)
	}
	return fmt.Sprintf("%d:%s = %v", id, reg, o)
}

func (l *threadLifter) movType(in *litmus.Instr) litmus.Type {
	if d := l.src.Decl(in.Dst); d != nil && d.Type != litmus.TypeNone {
		return d.Type
	}
	return in.Type
}

func (l *threadLifter) entryAt(instr int) int {
	for _, e := range l.in.Spec.Entries {
		if e.Instr == instr {
			return e.Pos
		}
	}
	return -1
}

// needed returns which instructions contribute to a register of the test's final state. With branches, all do.
func (l *threadLifter) needed(code []*litmus.Instr) []bool {
	keep := make([]bool, len(code))
	live := map[string]bool{}
	for _, t := range l.t.Terms() {
		if t.Kind == litmus.TermReg && t.Thread == l.src.ID {
			live[t.Name] = true
		}
	}
	branches := slices.ContainsFunc(code, func(in *litmus.Instr) bool { return in.Op == litmus.OpBra })
	for i := len(code) - 1; i >= 0; i-- {
		in := code[i]
		if branches {
			keep[i] = in.Op != litmus.OpNop || len(in.Labels) > 0
			continue
		}
		if in.Op == litmus.OpNop || !live[in.Dst] {
			continue
		}
		keep[i] = true
		for _, r := range in.Reads() {
			live[r] = true
		}
	}
	return keep
}
