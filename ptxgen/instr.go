package ptxgen

import (
	"fmt"
	"regexp"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// instr emits one instruction of the thread; ents are its specification entries: none, one, or
// one for each iteration of a loop.
func (k *body) instr(in *litmus.Instr, ents []*spec.Entry) error {
	line := LineOther
	if len(ents) > 0 {
		line = ents[0].Line()
	}
	if in.Async != nil {
		line = LineAsync + k.at
	}
	if line != k.line {
		k.c(".loc 1 %d 0", line)
		k.line = line
	}
	if in.Word != nil {
		return k.word(in, ents)
	}
	if in.Op.IsAccess() {
		return k.access(in, ents)
	}
	if in.Async != nil {
		return k.async(in)
	}
	text, err := k.plain(in)
	if err != nil || text == "" {
		return err
	}
	k.perform(in, text, nil)
	return nil
}

// perform emits an instruction, or the call of a function that performs it and returns
// what it reads.
func (k *body) perform(in *litmus.Instr, name string, ops []string) {
	if !in.Call {
		k.c("%s%s;", guard(in), strings.TrimSpace(name+" "+strings.Join(ops, ", ")))
		return
	}
	f := fmt.Sprintf("%s_T%d_F%d", k.e.u.Name, k.th.ID, k.funcs)
	k.funcs++
	var formal, actual []string
	result, returns := "", ""
	for i, op := range ops {
		r := operandReg.FindString(op)
		switch {
		case r == "":
			continue
		case i == 0 && in.Dst != "":
			result, returns = fmt.Sprintf("(.reg .%s %%r) ", bitsOf(k.regs[in.Dst])), "("+r+"), "
			ops[i] = "%r"
			continue
		}
		bits := bitsOf(in.Type)
		if t, ok := k.regs[k.named[r]]; ok {
			bits = bitsOf(t)
		} else if strings.HasPrefix(op, "[") {
			bits = "b64"
		}
		a := fmt.Sprintf("%%a%d", i)
		formal, actual = append(formal, ".reg ."+bits+" "+a), append(actual, r)
		ops[i] = strings.Replace(op, r, a, 1)
	}
	fmt.Fprintf(&k.called, ".func %s%s(%s)\n{\n\t.loc 1 %d 0\n\t%s;\n\tret;\n}\n", result, f, strings.Join(formal, ", "), k.line,
		strings.TrimSpace(name+" "+strings.Join(ops, ", ")))
	args := ""
	if len(actual) > 0 {
		args = ", (" + strings.Join(actual, ", ") + ")"
	}
	k.c("%scall %s%s%s;", guard(in), returns, f, args)
}

var operandReg = regexp.MustCompile(`%[A-Za-z0-9_]+`)

func guard(in *litmus.Instr) string {
	if in.Guard == nil {
		return ""
	}
	if in.Guard.Neg {
		return "@!" + reg(in.Guard.Reg) + " "
	}
	return "@" + reg(in.Guard.Reg) + " "
}

// value returns an operand that is stored or combined; constants become opaque.
func (k *body) value(o litmus.Operand, t litmus.Type) (string, error) {
	switch o.Kind {
	case litmus.OperandReg:
		return reg(o.Name), nil
	case litmus.OperandConst:
		return k.opaque(t, o.Value), nil
	}
	return "", unsupported("a location's address as a value")
}

// plainOperand returns an operand of arithmetic, in which constants stay.
func (k *body) plainOperand(o litmus.Operand) (string, error) {
	switch o.Kind {
	case litmus.OperandReg:
		return reg(o.Name), nil
	case litmus.OperandConst:
		return fmt.Sprint(o.Value), nil
	}
	return "", unsupported("a location's address in arithmetic")
}

// spelled returns an instruction in the form that PTX needs: with the state space of the
// location that it accesses, with a type, and without .weak, which is the default and unknown
// below sm_70.
func spelled(in *litmus.Instr, space litmus.Space) *litmus.Instr {
	out := *in
	if !in.Op.IsAccess() {
		return &out
	}
	out.Space, out.Type = space, accessType(in)
	if in.Sem == litmus.SemWeak {
		out.Sem = litmus.SemNone
	}
	return &out
}

// accessType returns the type with which an access is emitted: for atomics, the one of its
// width that the operation has; for ld and st without a type, 32 bits.
func accessType(in *litmus.Instr) litmus.Type {
	bit, unsigned, signed := litmus.B32, litmus.U32, litmus.S32
	switch in.Type.Bits() {
	case 16:
		bit, unsigned, signed = litmus.B16, litmus.U16, litmus.S16
	case 64:
		bit, unsigned, signed = litmus.B64, litmus.U64, litmus.S64
	}
	switch in.Atom {
	case litmus.AtomNone:
		if in.Type == litmus.TypeNone {
			return bit
		}
		return in.Type
	case litmus.AtomAdd, litmus.AtomInc, litmus.AtomDec:
		return unsigned
	case litmus.AtomMin, litmus.AtomMax:
		if in.Type == unsigned {
			return unsigned
		}
		return signed
	}
	return bit
}

// access emits a memory access and the copy of its register for the marker.
func (k *body) access(in *litmus.Instr, ents []*spec.Entry) error {
	ent := ents[0]
	ops := []string{k.operandAddr(in, ent.Loc)}
	if in.Prefetch > 0 {
		if k.e.space(ent.Loc) == litmus.Shared {
			return unsupported("a prefetch of shared memory")
		}
		k.c("%sprefetch.global.L%d %s;", guard(in), in.Prefetch, ops[0])
	}
	var srcs []string
	for _, s := range in.Src {
		v, err := k.value(s, in.Type)
		if err != nil {
			return err
		}
		srcs = append(srcs, v)
	}
	name := spelled(in, k.e.space(ent.Loc)).Mnemonic()
	if k.far(ent.Loc) {
		name = spelledFar(name)
	}
	snap := in.Dst
	if in.Op == litmus.OpLd || in.Op == litmus.OpAtom {
		ops = append([]string{k.dst(in)}, ops...)
	}
	ops = append(ops, srcs...)
	written, read := k.copies(ents)
	k.inRounds(written)
	k.inRounds(read)
	for _, c := range written {
		if in.Op == litmus.OpSt || in.Op == litmus.OpRed {
			k.keep(c.guard, fmt.Sprintf("%%m%d", c.Pos), srcs[0], in.Type)
		}
		for _, i := range c.Operands() {
			switch {
			case i != spec.HighWord:
				k.keep(c.guard, fmt.Sprintf("%%o%d_%d", c.Pos, i), srcs[i], in.Type)
			case in.Op == litmus.OpSt:
				k.keepHigh(c.guard, c.Pos, srcs[0])
			}
		}
	}
	k.perform(in, name, ops)
	if snap == "" || in.Op != litmus.OpLd && in.Op != litmus.OpAtom {
		return nil
	}
	for _, c := range read {
		k.keep(c.guard, fmt.Sprintf("%%m%d", c.Pos), reg(snap), k.regs[snap])
		if in.Op == litmus.OpLd && c.Kind.Width == 8 {
			k.keepHigh(c.guard, c.Pos, reg(snap))
		}
	}
	return nil
}

// dst returns the destination of a load or atomic. An atomic without one gets PTX's bit bucket,
// which loads do not have.
func (k *body) dst(in *litmus.Instr) string {
	if in.Dst == "_" && in.Op == litmus.OpAtom {
		return "_"
	}
	return reg(in.Dst)
}

// keepHigh copies the high word of a 64-bit value for its marker.
func (k *body) keepHigh(guard string, pos int, src string) {
	k.c("{ .reg .b32 %%low; %smov.b64 {%%low, %%o%d_%d}, %s; }", guard, pos, spec.HighWord, src)
}

// keep copies a register of an access for its marker, because the test may overwrite it later;
// of 64 bits, the low half.
func (k *body) keep(guard, dst, src string, t litmus.Type) {
	if t.Bits() == 64 {
		k.c("%scvt.u32.u64 %s, %s;", guard, dst, src)
		return
	}
	k.c("%smov.b32 %s, %s;", guard, dst, src)
}

func typeOr(t, def litmus.Type) string {
	if t == litmus.TypeNone {
		t = def
	}
	return t.String()
}

// plain returns the text of an instruction that does not access memory.
func (k *body) plain(in *litmus.Instr) (string, error) {
	switch in.Op {
	case litmus.OpNop:
		return "", nil
	case litmus.OpFence:
		if in.Scope == litmus.ScopeNone {
			return "", unsupported("fence without a scope")
		}
		return in.Mnemonic(), nil
	case litmus.OpMembar, litmus.OpFenceProxy:
		return in.Mnemonic(), nil
	case litmus.OpBar:
		return k.barrier(in)
	case litmus.OpBra:
		return k.branch(in)
	case litmus.OpMov:
		return k.mov(in)
	}
	var ops []string
	for _, s := range in.Src {
		o, err := k.plainOperand(s)
		if err != nil {
			return "", err
		}
		ops = append(ops, o)
	}
	args := strings.Join(append([]string{reg(in.Dst)}, ops...), ", ")
	t := typeOr(in.Type, litmus.S32)
	bits := fmt.Sprintf("b%d", in.Type.Bits())
	if in.Type == litmus.Pred {
		bits = "pred"
	}
	switch in.Op {
	case litmus.OpAdd, litmus.OpSub, litmus.OpDiv:
		if strings.HasPrefix(t, "b") {
			t = "u" + t[1:]
		}
		return in.Op.String() + "." + t + " " + args, nil
	case litmus.OpMul:
		return "mul.lo.s" + bits[1:] + " " + args, nil
	case litmus.OpAnd, litmus.OpOr, litmus.OpXor, litmus.OpNot, litmus.OpShl:
		return in.Op.String() + "." + bits + " " + args, nil
	case litmus.OpShr:
		return "shr." + t + " " + args, nil
	case litmus.OpCvt:
		return fmt.Sprintf("cvt.%s.%s %s", unb(typeOr(in.Type, litmus.U32)), unb(typeOr(in.FromType, litmus.U32)), args), nil
	case litmus.OpSetp:
		return fmt.Sprintf("setp.%s.%s %s", in.Cmp, t, args), nil
	case litmus.OpSelp:
		return "selp." + bits + " " + args, nil
	}
	return "", unsupported("%v in a kernel", in.Op)
}

// unb replaces an untyped width by the unsigned type: cvt does not support .b32.
func unb(t string) string {
	if strings.HasPrefix(t, "b") {
		return "u" + t[1:]
	}
	return t
}

func (k *body) mov(in *litmus.Instr) (string, error) {
	t := in.Type
	if t == litmus.TypeNone {
		t = k.regs[in.Dst]
	}
	switch in.Src[0].Kind {
	case litmus.OperandLoc:
		if in.Guard != nil {
			return "", unsupported("a guarded mov of a location's address")
		}
		k.c("%s", k.address(reg(in.Dst), k.loc(in.Src[0].Name), k.regs[in.Dst].Bits()))
		return "", nil
	case litmus.OperandConst:
		if t == litmus.Pred {
			return "", unsupported("mov of a constant to a predicate")
		}
		return "mov." + bitsOf(t) + " " + reg(in.Dst) + ", " + k.opaque(t, in.Src[0].Value), nil
	}
	if t == litmus.Pred {
		return "mov.pred " + reg(in.Dst) + ", " + reg(in.Src[0].Name), nil
	}
	return "mov." + bitsOf(t) + " " + reg(in.Dst) + ", " + reg(in.Src[0].Name), nil
}

func (k *body) branch(in *litmus.Instr) (string, error) {
	if in.Cmp == litmus.CmpNone {
		return "bra $L_" + in.Target, nil
	}
	a, err := k.plainOperand(in.Src[0])
	if err != nil {
		return "", err
	}
	b, err := k.plainOperand(in.Src[1])
	if err != nil {
		return "", err
	}
	t := k.temps
	k.temps++
	k.c("setp.%s.s32 %%t%d, %s, %s;", in.Cmp, t, a, b)
	return fmt.Sprintf("@%%t%d bra $L_%s", t, in.Target), nil
}

func (k *body) barrier(in *litmus.Instr) (string, error) {
	b := in.Barrier
	switch {
	case b.Resource.Kind != litmus.OperandNone:
		return "", unsupported("a barrier with a resource, which is of memory models only")
	case b.ID.Kind != litmus.OperandConst:
		return "", unsupported("a barrier whose number is not constant")
	case b.Quorum.Kind == litmus.OperandReg:
		return "", unsupported("a barrier whose number of threads is not constant")
	case b.Arrive && b.Quorum.Kind == litmus.OperandNone:
		return "", unsupported("bar.arrive without a number of threads")
	}
	op := "bar.sync"
	if b.Arrive {
		op = "bar.arrive"
	}
	if b.Quorum.Kind == litmus.OperandConst {
		return fmt.Sprintf("%s %d, %d", op, b.ID.Value, b.Quorum.Value), nil
	}
	return fmt.Sprintf("%s %d", op, b.ID.Value), nil
}
