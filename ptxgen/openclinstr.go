package ptxgen

import (
	"fmt"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// statements emits the thread's instructions.
func (k *clBody) statements() error {
	k.initials, k.at = map[string]string{}, -1
	needs := k.readFirst()
	first := map[string]int64{}
	for _, d := range k.th.Regs {
		switch d.Init.Kind {
		case litmus.OperandConst:
			needs[d.Name] = true
			first[d.Name] = d.Init.Value
		case litmus.OperandLoc:
			k.address(k.loc(d.Init.Name)) // marks it used
			delete(needs, d.Name)
		}
	}
	for _, n := range sortedNames(k.regs) {
		if !needs[n] {
			continue
		}
		if _, isPtr := k.ptr[n]; isPtr {
			return unsupported("register %s may be read before it holds an address", n)
		}
		k.setting = n
		v := k.value0(k.regs[n], first[n])
		if k.regs[n] == litmus.Pred {
			v += " != 0"
		}
		k.initials[n] = v
	}
	entries := k.entries()
	for i := range k.th.Body {
		k.at, k.setting = i, ""
		in := &k.th.Body[i]
		for _, l := range in.Labels {
			fmt.Fprintf(&k.code, "L_%s: ;\n", l)
		}
		k.countRound()
		if err := k.statement(in, entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// value0 returns a fresh opaque value that stands for the constant c.
func (k *clBody) value0(t litmus.Type, c int64) string {
	if t == litmus.Pred || t.Bits() < 32 {
		t = litmus.U32
	}
	return fmt.Sprintf("v%d", k.stand(t, c))
}

func (k *clBody) statement(in *litmus.Instr, ents []*spec.Entry) error {
	var lines []string
	var err error
	switch {
	case in.Op == litmus.OpNop:
	case in.Op.IsAccess():
		lines, err = k.clAccess(in, ents)
	case in.Op.IsFence():
		lines, err = k.clFence(in)
	case in.Op == litmus.OpBar:
		lines = k.clBarrier(in)
	case in.Op == litmus.OpBra:
		lines, err = k.clBranch(in)
	default:
		var v string
		if v, err = k.clValue(in); err == nil {
			lines = []string{clReg(in.Dst) + " = " + v + ";"}
		}
	}
	if err != nil || len(lines) == 0 {
		return err
	}
	line := LineOther
	if len(ents) > 0 {
		line = ents[0].Line()
	}
	k.lineDirective(&k.code, line)
	text := strings.Join(lines, " ")
	if g := in.Guard; g != nil {
		neg := ""
		if g.Neg {
			neg = "!"
		}
		text = fmt.Sprintf("if (%s%s) { %s }", neg, clReg(g.Reg), text)
	}
	k.f("%s", text)
	return nil
}

// clOperand returns an operand of arithmetic, in which constants stay.
func (k *clBody) clOperand(o litmus.Operand) (string, error) {
	switch o.Kind {
	case litmus.OperandReg:
		return clReg(o.Name), nil
	case litmus.OperandConst:
		if o.Value < 0 {
			return fmt.Sprintf("(%d)", o.Value), nil
		}
		if o.Value > 1<<31-1 {
			return fmt.Sprintf("0x%xu", uint64(o.Value)), nil
		}
		return fmt.Sprint(o.Value), nil
	case litmus.OperandLoc:
		return k.address(k.loc(o.Name)), nil
	}
	return "", unsupported("a missing operand")
}

var clSigns = map[litmus.Op]string{litmus.OpAdd: "+", litmus.OpSub: "-", litmus.OpMul: "*", litmus.OpDiv: "/", litmus.OpAnd: "&",
	litmus.OpOr: "|", litmus.OpXor: "^", litmus.OpShl: "<<", litmus.OpShr: ">>"}

// clCmp returns the operator of a comparison in C.
func clCmp(c litmus.Cmp) string {
	if c == litmus.CmpEq {
		return "=="
	}
	return c.Sign()
}

// mixes reports whether LLVM would merge an operation's constant with the literal of a marker:
// (x & 0x80000000) + 1, xored, is one xor with another literal.
func mixes(op litmus.Op) bool {
	return op == litmus.OpAdd || op == litmus.OpSub || op == litmus.OpOr || op == litmus.OpXor
}

// clValue returns the right-hand side of a computation.
func (k *clBody) clValue(in *litmus.Instr) (string, error) {
	_, isPtr := k.ptr[in.Dst]
	var src []string
	for _, s := range in.Src {
		v, err := k.clOperand(s)
		if err != nil {
			return "", err
		}
		if s.Kind == litmus.OperandConst && mixes(in.Op) && !isPtr && in.Type != litmus.Pred && !k.counts(in) {
			v = k.value0(in.Type, s.Value)
		}
		src = append(src, v)
	}
	cast := "(" + clType(in.Type, false) + ")"
	if isPtr || in.Type == litmus.Pred {
		cast = ""
	}
	switch in.Op {
	case litmus.OpMov:
		if in.Src[0].Kind == litmus.OperandConst && !isPtr {
			return k.value0(k.regs[in.Dst], in.Src[0].Value), nil
		}
		return src[0], nil
	case litmus.OpCvt:
		return fmt.Sprintf("(%s)(%s)%s", clType(in.Type, false), clType(in.FromType, false), src[0]), nil
	case litmus.OpNot:
		if in.Type == litmus.Pred {
			return "!" + src[0], nil
		}
		return "~" + src[0], nil
	case litmus.OpSetp:
		t := clType(in.Type, false)
		return fmt.Sprintf("(%s)%s %s (%s)%s", t, src[0], clCmp(in.Cmp), t, src[1]), nil
	case litmus.OpSelp:
		return fmt.Sprintf("%s ? %s : %s", src[2], src[0], src[1]), nil
	}
	sign, ok := clSigns[in.Op]
	if !ok {
		return "", unsupported("%v in a kernel", in.Op)
	}
	if isPtr { // the address first: C has no integer + pointer difference in doubt
		if _, first := k.ptr[in.Src[0].Name]; !first && in.Src[0].Kind != litmus.OperandLoc && in.Op == litmus.OpAdd {
			src[0], src[1] = src[1], src[0]
		}
		return fmt.Sprintf("%s %s %s", src[0], sign, src[1]), nil
	}
	return fmt.Sprintf("%s%s %s %s%s", cast, src[0], sign, cast, src[1]), nil
}

func (k *clBody) clBranch(in *litmus.Instr) ([]string, error) {
	jump := "goto L_" + in.Target + ";"
	if in.Cmp == litmus.CmpNone {
		return []string{jump}, nil
	}
	a, err := k.clOperand(in.Src[0])
	if err != nil {
		return nil, err
	}
	b, err := k.clOperand(in.Src[1])
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("if ((int)%s %s (int)%s) %s", a, clCmp(in.Cmp), b, jump)}, nil
}

// Names of orders and scopes: of the atomic built-ins, and of the fence.
var (
	clOrders = map[litmus.Sem]string{litmus.SemRelaxed: "memory_order_relaxed", litmus.SemAcquire: "memory_order_acquire",
		litmus.SemRelease: "memory_order_release", litmus.SemAcqRel: "memory_order_acq_rel", litmus.SemSC: "memory_order_seq_cst"}
	clScopes = map[litmus.Scope]string{litmus.ScopeCTA: "memory_scope_work_group", litmus.ScopeGPU: "memory_scope_device",
		litmus.ScopeSys: "memory_scope_all_svm_devices"}
	fenceOrders = map[litmus.Sem]string{litmus.SemAcquire: "__ATOMIC_ACQUIRE", litmus.SemRelease: "__ATOMIC_RELEASE",
		litmus.SemAcqRel: "__ATOMIC_ACQ_REL", litmus.SemSC: "__ATOMIC_SEQ_CST"}
	syncScopes = map[litmus.Scope]string{litmus.ScopeCTA: "workgroup", litmus.ScopeGPU: "agent", litmus.ScopeSys: ""}
	memFences  = map[litmus.Sem]string{litmus.SemAcqRel: "mem_fence", litmus.SemAcquire: "read_mem_fence",
		litmus.SemRelease: "write_mem_fence"}
)

func clFlags(s litmus.Space) string {
	switch s {
	case litmus.Global:
		return "CLK_GLOBAL_MEM_FENCE"
	case litmus.Shared:
		return "CLK_LOCAL_MEM_FENCE"
	}
	return "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
}

func (k *clBody) clFence(in *litmus.Instr) ([]string, error) {
	if in.Scope == litmus.ScopeNone {
		k.lib = true
		return []string{fmt.Sprintf("%s(%s);", memFences[in.Sem], clFlags(in.Space))}, nil
	}
	if k.r600 {
		return nil, unsupported("r600 has no scoped fences")
	}
	return []string{fmt.Sprintf("__builtin_amdgcn_fence(%s, %q);", fenceOrders[in.Sem], syncScopes[in.Scope])}, nil
}

// clBarrier returns a barrier as the libraries define it: release, barrier, acquire of the
// work-group.
func (k *clBody) clBarrier(in *litmus.Instr) []string {
	if k.r600 {
		k.lib = true
		return []string{"barrier(" + clFlags(in.Space) + ");"}
	}
	return []string{`__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");`, "__builtin_amdgcn_s_barrier();",
		`__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");`}
}

// clData returns the stored or combined values; constants are opaque.
func (k *clBody) clData(in *litmus.Instr) ([]string, error) {
	var out []string
	for _, s := range in.Src {
		switch s.Kind {
		case litmus.OperandReg:
			if _, ok := k.ptr[s.Name]; ok {
				return nil, unsupported("a location's address as a value")
			}
			out = append(out, clReg(s.Name))
		case litmus.OperandConst:
			out = append(out, k.value0(in.Type, s.Value))
		default:
			return nil, unsupported("a location's address as a value")
		}
	}
	return out, nil
}

// clAccess emits a memory access and the copies that its markers speak of.
func (k *clBody) clAccess(in *litmus.Instr, ents []*spec.Entry) ([]string, error) {
	ent := ents[0]
	data, err := k.clData(in)
	if err != nil {
		return nil, err
	}
	wide := ent.Kind.Width == 8
	typ := "int"
	if wide {
		typ = "long"
	}
	if in.Type == litmus.U32 || in.Type == litmus.U64 {
		typ = "u" + typ
	}
	ptr := clReg(in.Addr.Reg)
	if in.Addr.Reg == "" {
		ptr = k.address(ent.Loc)
	}
	k.usedLoc[ent.Loc] = true
	var out []string
	keep := func(c copy, dst, v string) {
		v = "(uint)" + v
		if c.round >= 0 {
			v = fmt.Sprintf("round%d == %d ? %s : %s", c.loop, c.round, v, dst)
		}
		out = append(out, fmt.Sprintf("%s = %s;", dst, v))
	}
	written, read := k.copies(ents)
	for _, c := range written {
		if in.Op == litmus.OpSt || in.Op == litmus.OpRed {
			value := "tok" // nothing of its own: atomic_inc without result
			if len(data) > 0 {
				value = data[0]
			}
			keep(c, fmt.Sprintf("m%d", c.Pos), value)
		}
		for _, i := range c.Operands() {
			switch {
			case i != spec.HighWord:
				keep(c, fmt.Sprintf("o%d_%d", c.Pos, i), data[i])
			case in.Op == litmus.OpSt:
				keep(c, fmt.Sprintf("o%d_%d", c.Pos, i), "((ulong)"+data[0]+" >> 32)")
			}
		}
	}
	code, err := k.operation(in, ent, typ, clSpace(k.spaceOf(ent.Loc)), ptr, data)
	if err != nil {
		return nil, err
	}
	out = append(out, code...)
	if !ent.Reads() {
		return out, nil
	}
	for _, c := range read {
		keep(c, fmt.Sprintf("m%d", c.Pos), clReg(in.Dst))
		if in.Op == litmus.OpLd && wide {
			keep(c, fmt.Sprintf("o%d_%d", c.Pos, spec.HighWord), "((ulong)"+clReg(in.Dst)+" >> 32)")
		}
	}
	return out, nil
}

// operation returns the code of the access itself.
func (k *clBody) operation(in *litmus.Instr, ent *spec.Entry, typ, space, ptr string, data []string) ([]string, error) {
	ordered := in.Sem >= litmus.SemRelaxed
	if in.Op == litmus.OpLd || in.Op == litmus.OpSt {
		vol := ""
		if in.Sem == litmus.SemVolatile {
			vol = "volatile "
		}
		place := fmt.Sprintf("*(%s%s %s *)(%s)", vol, space, typ, ptr)
		switch {
		case !ordered && in.Op == litmus.OpLd:
			return []string{clReg(in.Dst) + " = " + place + ";"}, nil
		case !ordered:
			return []string{fmt.Sprintf("%s = (%s)%s;", place, typ, data[0])}, nil
		}
	}
	if ordered {
		return k.ordered(in, typ, space, ptr, data)
	}
	if ent.Kind.Width == 8 {
		return nil, unsupported("64-bit atomics of OpenCL 1.2 are an extension")
	}
	if in.Op == litmus.OpRed && len(data) == 0 {
		return nil, unsupported("the result of atomic_inc and atomic_dec must be kept: nothing else marks them")
	}
	names := map[litmus.AtomOp]string{litmus.AtomAdd: "add", litmus.AtomExch: "xchg", litmus.AtomCAS: "cmpxchg", litmus.AtomAnd: "and",
		litmus.AtomOr: "or", litmus.AtomXor: "xor", litmus.AtomMin: "min", litmus.AtomMax: "max", litmus.AtomIncOne: "inc",
		litmus.AtomDecOne: "dec"}
	n, ok := names[in.Atom]
	if !ok {
		return nil, unsupported("atomic %v", in.Atom)
	}
	k.lib = true
	args := []string{fmt.Sprintf("(volatile %s %s *)(%s)", space, typ, ptr)}
	for _, d := range data {
		args = append(args, "("+typ+")"+d)
	}
	call := fmt.Sprintf("atomic_%s(%s);", n, strings.Join(args, ", "))
	if in.Dst != "" {
		call = clReg(in.Dst) + " = " + call
	}
	return []string{call}, nil
}

// ordered returns an atomic of OpenCL 2.0 as a call of the compiler's own built-ins.
func (k *clBody) ordered(in *litmus.Instr, typ, space, ptr string, data []string) ([]string, error) {
	if k.r600 {
		return nil, unsupported("r600 has no ordered atomics")
	}
	k.cl2 = true
	k.long = k.long || strings.HasSuffix(typ, "long")
	obj := fmt.Sprintf("(%s atomic_%s *)(%s)", space, typ, ptr)
	tail := fmt.Sprintf("%s, %s)", clOrders[in.Sem], clScopes[in.Scope])
	cast := "(" + typ + ")"
	switch {
	case in.Op == litmus.OpLd:
		return []string{fmt.Sprintf("%s = __opencl_atomic_load(%s, %s;", clReg(in.Dst), obj, tail)}, nil
	case in.Op == litmus.OpSt:
		return []string{fmt.Sprintf("__opencl_atomic_store(%s, %s%s, %s;", obj, cast, data[0], tail)}, nil
	case in.Atom == litmus.AtomCAS:
		fail := in.Sem
		switch in.Sem {
		case litmus.SemRelease:
			fail = litmus.SemRelaxed
		case litmus.SemAcqRel:
			fail = litmus.SemAcquire
		}
		return []string{fmt.Sprintf("{ %s expected = %s%s; __opencl_atomic_compare_exchange_strong(%s, &expected, %s%s, %s, %s, %s); %s = expected; }",
			typ, cast, data[0], obj, cast, data[1], clOrders[in.Sem], clOrders[fail], clScopes[in.Scope], clReg(in.Dst))}, nil
	}
	names := map[litmus.AtomOp]string{litmus.AtomAdd: "fetch_add", litmus.AtomExch: "exchange", litmus.AtomAnd: "fetch_and",
		litmus.AtomOr: "fetch_or", litmus.AtomXor: "fetch_xor", litmus.AtomMin: "fetch_min", litmus.AtomMax: "fetch_max"}
	n, ok := names[in.Atom]
	if !ok {
		return nil, unsupported("atomic %v with an order", in.Atom)
	}
	call := fmt.Sprintf("__opencl_atomic_%s(%s, %s%s, %s;", n, obj, cast, data[0], tail)
	if in.Dst != "" {
		call = clReg(in.Dst) + " = " + call
	}
	return []string{call}, nil
}
