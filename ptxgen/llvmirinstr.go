package ptxgen

import (
	"fmt"

	"optcheck/litmus"
	"optcheck/spec"
)

func irCmp(c litmus.Cmp, signed bool) string {
	switch c {
	case litmus.CmpEq, litmus.CmpNe:
		return c.String()
	}
	if signed {
		return "s" + c.String()
	}
	return "u" + c.String()
}

// cast converts a value to another width.
func (k *irBody) cast(v irValue, to string, signed bool) irValue {
	if v.typ == to {
		return v
	}
	op := "trunc"
	switch {
	case v.typ[0] == 'p':
		op = "ptrtoint"
	case to == "i64" && signed && v.typ != "i1":
		op = "sext"
	case to == "i64" || v.typ == "i1":
		op = "zext"
	}
	n := k.fresh("c")
	k.ir("%s = %s %s %s to %s", n, op, k.spell(v.typ), v.name, to)
	return irValue{to, n}
}

// operandAs returns an operand in a type; constants stay constants.
func (k *irBody) operandAs(o litmus.Operand, typ string) (string, error) {
	switch o.Kind {
	case litmus.OperandConst:
		if typ == "i32" {
			return fmt.Sprint(int32(o.Value)), nil
		}
		return fmt.Sprint(o.Value), nil
	case litmus.OperandReg:
		v, ok := k.env[o.Name]
		if !ok {
			return "", unsupported("register %s may be read before it is written", o.Name)
		}
		return k.cast(v, typ, true).name, nil
	}
	return "", unsupported("a location's address as a value")
}

// emit emits one instruction without its guard.
func (k *irBody) emit(in *litmus.Instr, ents []*spec.Entry) error {
	switch {
	case in.Op == litmus.OpNop:
		return nil
	case in.Op.IsAccess():
		return k.irAccess(in, ents)
	case in.Op == litmus.OpFence:
		sem, scope := in.Order(), k.syncScope(in.Scope)
		if in.Scope == litmus.ScopeNone {
			scope = `syncscope("workgroup") `
		}
		k.ir("fence %s%s", scope, irOrders[sem])
		return nil
	case in.Op == litmus.OpBar:
		k.ir(`fence syncscope("workgroup") release`)
		k.ir("call void @llvm.amdgcn.s.barrier()")
		k.ir(`fence syncscope("workgroup") acquire`)
		return nil
	}
	return k.compute(in)
}

var irOrders = map[litmus.Sem]string{litmus.SemRelaxed: "monotonic", litmus.SemAcquire: "acquire", litmus.SemRelease: "release",
	litmus.SemAcqRel: "acq_rel", litmus.SemSC: "seq_cst"}

func (k *irBody) syncScope(s litmus.Scope) string {
	names := syncScopes
	if k.nv {
		names = nvScopes
	}
	if n := names[s]; n != "" {
		return fmt.Sprintf("syncscope(%q) ", n)
	}
	return ""
}

var irOps = map[litmus.Op]string{litmus.OpAdd: "add", litmus.OpSub: "sub", litmus.OpMul: "mul", litmus.OpDiv: "sdiv", litmus.OpAnd: "and",
	litmus.OpOr: "or", litmus.OpXor: "xor", litmus.OpShl: "shl", litmus.OpShr: "ashr"}

// compute emits an instruction that does not access memory.
func (k *irBody) compute(in *litmus.Instr) error {
	if s, ok := k.ptr[in.Dst]; ok {
		return k.computeAddress(in, s)
	}
	typ := irType(in.Type)
	set := func(format string, args ...any) {
		n := k.fresh("q")
		k.ir("%s = %s", n, fmt.Sprintf(format, args...))
		res := typ
		if in.Op == litmus.OpSetp {
			res = "i1"
		}
		v := irValue{res, n}
		if want := irType(k.regs[in.Dst]); want != res {
			v = k.cast(v, want, true)
		}
		k.env[in.Dst] = v
	}
	var src []string
	for i, o := range in.Src {
		t := typ
		switch {
		case in.Op == litmus.OpCvt:
			t = irType(in.FromType)
		case in.Op == litmus.OpSelp && i == 2:
			t = "i1"
		}
		if o.Kind == litmus.OperandConst && (in.Op == litmus.OpMov || mixes(in.Op) && in.Type != litmus.Pred && !k.counts(in)) {
			src = append(src, k.cast(k.irOpaque(in.Type, o.Value), t, true).name)
			continue
		}
		v, err := k.operandAs(o, t)
		if err != nil {
			return err
		}
		src = append(src, v)
	}
	switch in.Op {
	case litmus.OpMov:
		k.env[in.Dst] = k.cast(irValue{typ, src[0]}, irType(k.regs[in.Dst]), true)
	case litmus.OpCvt:
		k.env[in.Dst] = k.cast(irValue{irType(in.FromType), src[0]}, irType(k.regs[in.Dst]), in.FromType.Signed())
	case litmus.OpNot:
		set("xor %s %s, -1", typ, src[0])
	case litmus.OpSetp:
		set("icmp %s %s %s, %s", irCmp(in.Cmp, in.Type.Signed()), typ, src[0], src[1])
	case litmus.OpSelp:
		set("select i1 %s, %s %s, %s %s", src[2], typ, src[0], typ, src[1])
	default:
		op, ok := irOps[in.Op]
		if !ok {
			return unsupported("%v in a kernel", in.Op)
		}
		if in.Op == litmus.OpShr && !in.Type.Signed() {
			op = "lshr"
		}
		if in.Op == litmus.OpDiv && !in.Type.Signed() {
			op = "udiv"
		}
		set("%s %s %s, %s", op, typ, src[0], src[1])
	}
	return nil
}

// computeAddress emits a computation whose result is an address.
func (k *irBody) computeAddress(in *litmus.Instr, s litmus.Space) error {
	base, index := irValue{}, ""
	for _, o := range in.Src {
		v := irValue{}
		if o.Kind == litmus.OperandLoc {
			v = k.location(k.loc(o.Name))
		} else if o.Kind == litmus.OperandReg {
			v = k.env[o.Name]
		}
		switch {
		case v.name != "" && v.typ[0] == 'p' && base.name == "":
			base = v
		case o.Kind == litmus.OperandConst:
			index = fmt.Sprintf("i64 %d", o.Value)
		case v.name != "":
			index = v.typ + " " + v.name
		}
	}
	if base.name == "" || in.Op == litmus.OpSub || in.Op == litmus.OpSelp {
		return unsupported("%v of an address", in.Op)
	}
	if index != "" {
		base.name = k.gep(s, base.name, index)
	}
	k.env[in.Dst] = base
	return nil
}

// typedPtr casts an address to a pointer to the accessed type.
func (k *irBody) typedPtr(v irValue, elem string) string {
	to := k.pointer(spaceOfType(v.typ), elem)
	if !k.typed {
		return to + " " + v.name
	}
	n := k.fresh("a")
	k.ir("%s = bitcast %s %s to %s", n, k.spell(v.typ), v.name, to)
	return to + " " + n
}

var irRMW = map[litmus.AtomOp]string{litmus.AtomAdd: "add", litmus.AtomExch: "xchg", litmus.AtomAnd: "and", litmus.AtomOr: "or",
	litmus.AtomXor: "xor", litmus.AtomMin: "min", litmus.AtomMax: "max", litmus.AtomIncOne: "add", litmus.AtomDecOne: "sub"}

// irAccess emits a memory access and the copies that its markers speak of.
func (k *irBody) irAccess(in *litmus.Instr, ents []*spec.Entry) error {
	ent := ents[0]
	typ, align := irType(in.Type), ent.Kind.Width
	var data []irValue
	for _, o := range in.Src {
		if o.Kind == litmus.OperandConst {
			data = append(data, k.cast(k.irOpaque(in.Type, o.Value), typ, true))
			continue
		}
		v, err := k.operandAs(o, typ)
		if err != nil {
			return err
		}
		data = append(data, irValue{typ, v})
	}
	addr, ok := k.env[in.Addr.Reg]
	if in.Addr.Reg == "" || !ok || addr.typ[0] != 'p' {
		addr = k.location(ent.Loc)
	}
	k.usedLoc[ent.Loc] = true
	if (in.Op == litmus.OpSt || in.Op == litmus.OpRed) && len(data) == 0 {
		return unsupported("the result of atomic_inc and atomic_dec must be kept: nothing else marks them")
	}
	written, read := k.copies(ents)
	for _, c := range written {
		if in.Op == litmus.OpSt || in.Op == litmus.OpRed {
			k.keep(c, fmt.Sprintf(" m%d", c.Pos), data[0], false)
		}
		for _, i := range c.Operands() {
			switch {
			case i != spec.HighWord:
				k.keep(c, fmt.Sprintf(" o%d_%d", c.Pos, i), data[i], false)
			case in.Op == litmus.OpSt:
				k.keep(c, fmt.Sprintf(" o%d_%d", c.Pos, i), data[0], true)
			}
		}
	}
	ptr := k.typedPtr(addr, typ)
	order, scope := irOrders[in.Sem], k.syncScope(in.Scope)
	vol := ""
	if in.Sem == litmus.SemVolatile {
		vol = "volatile "
	}
	res := irValue{typ, k.fresh("q")}
	switch {
	case in.Op == litmus.OpLd && order != "":
		k.ir("%s = load atomic %s, %s %s%s, align %d", res.name, typ, ptr, scope, order, align)
	case in.Op == litmus.OpLd:
		k.ir("%s = load %s%s, %s, align %d", res.name, vol, typ, ptr, align)
	case in.Op == litmus.OpSt && order != "":
		k.ir("store atomic %s %s, %s %s%s, align %d", typ, data[0].name, ptr, scope, order, align)
	case in.Op == litmus.OpSt:
		k.ir("store %s%s %s, %s, align %d", vol, typ, data[0].name, ptr, align)
	default:
		if order == "" { // an atomic of OpenCL 1.2 is relaxed, for the device
			order, scope = "monotonic", k.syncScope(litmus.ScopeGPU)
		}
		k.irRMW(in, res, typ, ptr, scope, order, data)
	}
	if in.Op == litmus.OpLd || in.Op == litmus.OpAtom {
		k.env[in.Dst] = k.cast(res, irType(k.regs[in.Dst]), true)
		for _, c := range read {
			k.keep(c, fmt.Sprintf(" m%d", c.Pos), res, false)
			if in.Op == litmus.OpLd && align == 8 {
				k.keep(c, fmt.Sprintf(" o%d_%d", c.Pos, spec.HighWord), res, true)
			}
		}
	}
	return nil
}

// keep copies the lower or higher word of a value for a marker.
func (k *irBody) keep(c copy, name string, v irValue, high bool) {
	if high {
		n := k.fresh("h")
		k.ir("%s = lshr i64 %s, 32", n, v.name)
		v = irValue{"i64", n}
	}
	v = k.cast(v, "i32", false)
	if c.round >= 0 {
		v = k.inRound(c, v, k.env[name])
	}
	k.env[name] = v
}

func (k *irBody) irRMW(in *litmus.Instr, res irValue, typ, ptr, scope, order string, data []irValue) {
	if in.Atom == litmus.AtomCAS {
		fail := order
		switch in.Sem {
		case litmus.SemRelease:
			fail = "monotonic"
		case litmus.SemAcqRel:
			fail = "acquire"
		}
		pair := k.fresh("q")
		k.ir("%s = cmpxchg %s, %s %s, %s %s %s%s %s", pair, ptr, typ, data[0].name, typ, data[1].name, scope, order, fail)
		k.ir("%s = extractvalue { %s, i1 } %s, 0", res.name, typ, pair)
		return
	}
	op, value := irRMW[in.Atom], "1"
	if len(data) > 0 {
		value = data[0].name
	}
	if !in.Type.Signed() && (in.Atom == litmus.AtomMin || in.Atom == litmus.AtomMax) {
		op = "u" + op
	}
	k.ir("%s = atomicrmw %s %s, %s %s %s%s", res.name, op, ptr, typ, value, scope, order)
}
