package amdisa

import (
	"strings"

	"optcheck/isa"
)

// tsFloat lists ALU operations on R600 to Cayman whose values are not modelled:
// the destination is an unknown function of the sources.
var tsFloat = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`ADD MUL MUL_IEEE MULADD MULADD_IEEE MULADD_D2 MULADD_M2 MULADD_M4 MULADD_e MUL_PREV MULADD_PREV
		MUL_IEEE_PREV MULADD_IEEE_PREV FMA MIN MAX MIN_DX10 MAX_DX10
		SETE SETGT SETGE SETNE SETE_DX10 SETGT_DX10 SETGE_DX10 SETNE_DX10 FRACT TRUNC CEIL RNDNE FLOOR CNDE CNDGT CNDGE DOT4 DOT4_IEEE DOT
		DOT_IEEE CUBE MAX4 DOT4_PREV
		EXP_IEEE LOG_IEEE LOG_CLAMPED RECIP_CLAMPED RECIP_FF RECIP_IEEE RECIPSQRT_CLAMPED RECIPSQRT_FF RECIPSQRT_IEEE SQRT_IEEE SIN COS RSQ_IEEE
		RCP_IEEE RSQ RCP LOG EXP RSQ_CLAMPED
		FLT_TO_INT FLT_TO_UINT INT_TO_FLT UINT_TO_FLT FLT_TO_INT_RPI FLT_TO_INT_FLOOR FLT_TO_INT_TRUNC UBYTE0_FLT UBYTE1_FLT UBYTE2_FLT
		UBYTE3_FLT FLT16_TO_FLT32 FLT32_TO_FLT16 FLT32_TO_FLT64 FLT64_TO_FLT32
		FREXP_64 LDEXP_64 ADD_64 MUL_64 FMA_64 MULADD_64 MIN_64 MAX_64 SETE_64 SETGT_64 SETGE_64 SETNE_64 FRACT_64 RECIP_64 RECIPSQRT_64 SQRT_64
		RECIP_CLAMPED_64 RECIPSQRT_CLAMPED_64
		RECIP_INT RECIP_UINT MULHI_INT MULHI_UINT MULHI_UINT24 MUL_UINT24 MULADD_UINT24 MUL_INT24 MULADD_INT24 MULHI_INT24 MULADD_INT
		MULADD_UINT MUL_LIT MUL_LIT_D2 MUL_LIT_M2 MUL_LIT_M4
		ADDC_UINT SUBB_UINT BFM_INT BFREV_INT FFBH_UINT FFBH_INT FFBL_INT BCNT_INT BCNT_ACCUM_PREV_INT MBCNT_32HI_INT MBCNT_32LO_ACCUM_PREV_INT
		MBCNT_64 BYTE_ALIGN_INT SAD SAD_HI SAD_ACCUM_PREV_UINT
		SAD_ACCUM_HI_UINT SAD_ACCUM_UINT LERP_UINT OFFSET_TO_FLT INTERP_XY INTERP_ZW INTERP_X INTERP_Z INTERP_LOAD_P0 INTERP_LOAD_P10
		INTERP_LOAD_P20 BFI_INT_64 MUL_e ADD_e
		RECIPSQRT_e RECIP_e MIN_UINT_e DOT4_e CUBE_e CUBE_r600 DOT4_r600 STORE_FLAGS LOAD_STORE_FLAGS PRED_INV PRED_CLR PRED_RESTORE SQRT
		SET_CF_IDX0 SET_CF_IDX1`) {
		m[s] = true
	}
	return m
}()

var tsCmp = map[string]string{"E": "EQ", "NE": "NE", "GT": "GT", "GE": "GE", "LT": "LT", "LE": "LE"}

// group turns a VLIW group into one instruction.
func (b *tsBuilder) group(cl *clause, g *group) {
	b.line = g.line
	var texts []string
	for i := range g.slots {
		texts = append(texts, g.slots[i].text)
	}
	x := &tsGroup{b: b, cl: cl, g: g, in: isa.Inst{Text: strings.Join(texts, " :: "), Op: g.slots[0].op, Role: isa.RoleALU,
		Guard: isa.Guard{Reg: isa.RegExec}}}
	used := [5]bool{}
	for i := range g.slots {
		s := &g.slots[i]
		x.last = i == len(g.slots)-1
		if !x.slot(s, &used) {
			b.unknownCF(x.in.Text, x.why)
			return
		}
	}
	if x.in.Role != isa.RoleALU {
		x.opaque()
	}
	if x.mask && len(x.in.Micro) > 0 || x.in.Role == isa.RoleBarrier || x.in.Role == isa.RoleNop {
		x.in.Guard = isa.Guard{}
	}
	b.learn(&x.in)
	b.add(x.in)
}

// tsGroup is a group being decoded.
type tsGroup struct {
	b    *tsBuilder
	cl   *clause
	g    *group
	in   isa.Inst
	why  string
	last bool
	mask bool // writes EXEC
	dest isa.Reg
	load []isa.Reg // destinations of an LDS read

	pending []isa.Reg // registers that the slot writes
}

// opaque assigns an explicit unknown value to definitions beside a load, so that they are not
// taken for loaded ones.
func (x *tsGroup) opaque() {
	for _, r := range x.in.Defs {
		known := false
		for _, l := range x.load {
			known = known || l == r
		}
		for k := range x.in.Micro {
			known = known || x.in.Micro[k].Dst == r
		}
		if !known {
			x.in.Micro = append(x.in.Micro, isa.Micro{Op: isa.MicroOpaque, Dst: r})
		}
	}
}

// learn tracks registers with constant values, which identify the arguments that fetches read.
func (b *tsBuilder) learn(in *isa.Inst) {
	for _, r := range in.Defs {
		if r.Class == isa.ClassGPR {
			delete(b.consts, r.Num)
		}
	}
	for _, m := range in.Micro {
		if v, ok := uint32(0), false; m.Op == isa.MicroMov && m.Dst.Class == isa.ClassGPR {
			if v, ok = known(m.Src[0]); ok {
				b.consts[m.Dst.Num] = v
			}
		}
	}
}

// slot decodes one operation.
func (x *tsGroup) slot(s *slot, used *[5]bool) bool {
	if strings.HasPrefix(s.op, "LDS_") && s.op != "LDS_OQ_A_POP" {
		return x.lds(s)
	}
	switch s.op {
	case "GROUP_BARRIER":
		x.in.Role, x.in.Mem.Scope = isa.RoleBarrier, isa.ScopeCTA
		return true
	case "NOP", "GROUP_SEQ_BEGIN", "GROUP_SEQ_END", "SET_MODE":
		if len(x.g.slots) == 1 {
			x.in.Role = isa.RoleNop
		}
		return true
	}
	if len(s.args) < 1 {
		x.why = "number of operands"
		return false
	}
	dests, srcs, write, ok := x.operands(s)
	if !ok {
		return false
	}
	for i := range srcs {
		each(&srcs[i], func(r isa.Reg) { x.in.Uses = appendReg(x.in.Uses, r) })
		if srcs[i].Kind == isa.OpdConst && srcs[i].Reg.Class != isa.ClassNone {
			x.in.Uses = appendReg(x.in.Uses, srcs[i].Reg)
		}
		x.in.Args = append(x.in.Args, srcs[i])
	}
	x.results(s, dests, write, used)
	return x.value(s, srcs)
}

// results sets the registers that a slot writes: its destination and the forwarding register PV
// or PS.
func (x *tsGroup) results(s *slot, num [2]int, write bool, used *[5]bool) {
	ch := num[1]
	x.dest = isa.Reg{Class: isa.ClassSpecial, Num: uint16(isa.SpecPV + ch)}
	trans := s.unit == 't'
	if s.unit == 0 && !x.b.cayman {
		trans = used[ch] || x.last && x.transOnly(s.op)
		for c := ch + 1; c < 4; c++ { // vector slots are in order
			trans = trans || used[c]
		}
	}
	if trans {
		x.dest = isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecPS}
	} else {
		used[ch] = true
	}
	x.targets(x.dest)
	if x.last && !trans && s.unit == 0 {
		x.targets(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecPS})
	}
	if write {
		x.targets(tsReg(num[0], ch))
	}
}

// transOnly reports whether only the t slot of VLIW5 performs an operation.
func (x *tsGroup) transOnly(op string) bool {
	return strings.HasPrefix(op, "MULLO_") || strings.HasPrefix(op, "MULHI_") || strings.HasPrefix(op, "RECIP") ||
		strings.HasPrefix(op, "INT_TO_FLT") || strings.HasPrefix(op, "UINT_TO_FLT") ||
		strings.HasPrefix(op, "SIN") || strings.HasPrefix(op, "COS") || strings.HasPrefix(op, "LOG_") || strings.HasPrefix(op, "EXP_") ||
		strings.HasPrefix(op, "SQRT") || op == "FLT_TO_UINT"
}

func (x *tsGroup) targets(r isa.Reg) {
	x.in.Defs = appendReg(x.in.Defs, r)
	x.pending = append(x.pending, r)
}

// value sets a slot's micro-operations.
func (x *tsGroup) value(s *slot, src []isa.Operand) bool {
	op := strings.TrimSuffix(strings.TrimSuffix(s.op, "_eg"), "_r600")
	plain := true
	for _, f := range s.flags {
		if f == "CLAMP" || strings.HasPrefix(f, "*") || strings.HasPrefix(f, "/") || strings.HasPrefix(f, "Pred_sel") ||
			strings.HasPrefix(f, "PRED_SEL") {
			plain = false
		}
	}
	for i := range src {
		if src[i].Abs || src[i].Neg {
			plain = false // floating-point modifiers
		}
	}
	a := func(i int) isa.Operand {
		if i < len(src) {
			return word(src[i], 0, 32)
		}
		return isa.Operand{Kind: isa.OpdSpecial, Sym: "?missing", Words: 1}
	}
	// constants of the buffers keep their bank
	for i := range src {
		if src[i].Kind == isa.OpdConst {
			k, old := i, a
			a = func(i int) isa.Operand {
				if i == k {
					return isa.Operand{Kind: isa.OpdConst, Bank: src[k].Bank, Off: src[k].Off, Reg: src[k].Reg, Words: 1}
				}
				return old(i)
			}
		}
	}
	switch {
	case strings.HasPrefix(op, "PRED_SET"):
		return x.predicate(op[len("PRED_SET"):], s, a, plain)
	case strings.HasPrefix(op, "KILL"):
		x.mask = true
		x.in.Defs = appendReg(x.in.Defs, isa.RegExec)
		return true
	case strings.HasPrefix(op, "MOVA"):
		for c := 0; c < 4; c++ {
			x.in.Defs = appendReg(x.in.Defs, isa.Reg{Class: isa.ClassSpecial, Num: uint16(isa.SpecAR + c)})
		}
		return true
	}
	need, ok := tsArity(op)
	if !ok {
		x.why = "unknown opcode"
		return false
	}
	if need > 0 && len(src) != need {
		x.why = "number of operands"
		return false
	}
	if !plain || need == 0 {
		return true
	}
	for _, r := range x.pending {
		x.lower(op, r, a)
	}
	return true
}

// tsArity returns the number of sources of an operation that lower knows, 0 for others that are
// known by name.
func tsArity(op string) (int, bool) {
	switch op {
	case "MOV", "NOT_INT":
		return 1, true
	case "AND_INT", "OR_INT", "XOR_INT", "ADD_INT", "SUB_INT", "LSHL", "LSHR", "ASHR", "LSHL_INT", "LSHR_INT", "ASHR_INT", "MULLO_INT",
		"MULLO_UINT",
		"MIN_INT", "MAX_INT", "MIN_UINT", "MAX_UINT",
		"SETE_INT", "SETNE_INT", "SETGT_INT", "SETGE_INT", "SETGT_UINT", "SETGE_UINT", "SETLT_UINT", "SETLE_UINT":
		return 2, true
	case "CNDE_INT", "CNDGT_INT", "CNDGE_INT", "CMOVE_INT", "CMOVGT_INT", "CMOVGE_INT", "BFE_INT", "BFE_UINT", "BFI_INT", "BIT_ALIGN_INT":
		return 3, true
	}
	return 0, tsFloat[op] || tsFloat[strings.TrimSuffix(op, "_IEEE")]
}

// lower emits dst = op(a…).
func (x *tsGroup) lower(op string, dst isa.Reg, a func(int) isa.Operand) {
	emit := func(mop isa.MicroOp, src ...isa.Operand) *isa.Micro {
		x.in.Micro = append(x.in.Micro, isa.Micro{Op: mop, Dst: dst, Src: src})
		return &x.in.Micro[len(x.in.Micro)-1]
	}
	lop := func(lut uint8, src ...isa.Operand) {
		for len(src) < 3 {
			src = append(src, imm(0))
		}
		emit(isa.MicroLop3, src...).LUT = lut
	}
	signed := strings.HasSuffix(op, "_INT")
	switch op {
	case "MOV":
		emit(isa.MicroMov, a(0))
	case "NOT_INT":
		lop(lutNotA, a(0))
	case "AND_INT":
		lop(lutAnd, a(0), a(1))
	case "OR_INT":
		lop(lutOr, a(0), a(1))
	case "XOR_INT":
		lop(lutXor, a(0), a(1))
	case "ADD_INT":
		emit(isa.MicroAdd, a(0), a(1))
	case "SUB_INT":
		emit(isa.MicroAdd, a(0), negated(a(1)))
	case "LSHL", "LSHL_INT", "LSHR", "LSHR_INT", "ASHR", "ASHR_INT":
		if k, ok := known(a(1)); ok {
			mop := isa.MicroShr
			if strings.HasPrefix(op, "LSHL") {
				mop = isa.MicroShl
			}
			emit(mop, a(0), imm(k&31)).Signed = strings.HasPrefix(op, "ASHR")
		}
	case "MULLO_INT", "MULLO_UINT":
		emit(isa.MicroMul, a(0), a(1))
	case "MIN_INT", "MIN_UINT":
		emit(isa.MicroMin, a(0), a(1)).Signed = signed
	case "MAX_INT", "MAX_UINT":
		emit(isa.MicroMax, a(0), a(1)).Signed = signed
	case "CNDE_INT", "CMOVE_INT", "CNDGT_INT", "CMOVGT_INT", "CNDGE_INT", "CMOVGE_INT":
		m := emit(isa.MicroSelCmp, a(1), a(2), a(0))
		m.Cmp, m.Signed = "EQ", true
		if strings.Contains(op, "GT_") {
			m.Cmp = "GT"
		} else if strings.Contains(op, "GE_") {
			m.Cmp = "GE"
		}
	case "BFE_INT", "BFE_UINT":
		if k, ok := known(a(1)); ok {
			if w, ok := known(a(2)); ok {
				emit(isa.MicroBfe, a(0), imm(k&31), imm(w&31)).Signed = signed
			}
		}
	case "BFI_INT":
		lop(0xca, a(0), a(1), a(2))
	case "BIT_ALIGN_INT":
		if k, ok := known(a(2)); ok {
			emit(isa.MicroShfLo, a(1), a(0), imm(k&31))
		}
	default: // SETcc
		cmp := strings.TrimPrefix(op[:strings.LastIndexByte(op, '_')], "SET")
		m := emit(isa.MicroSetp, a(0), a(1), truth())
		m.Cmp, m.Bool, m.Signed = tsCmp[cmp], "AND", signed
	}
}

// predicate decodes PRED_SETE_INT and the like, which narrow EXEC.
func (x *tsGroup) predicate(rest string, s *slot, a func(int) isa.Operand, plain bool) bool {
	updates := strings.Contains(strings.Join(s.args, " "), "ExecMask")
	for _, f := range s.flags {
		updates = updates || strings.HasPrefix(f, "UPDATE_EXEC")
	}
	pred := isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecPred}
	x.in.Defs = appendReg(x.in.Defs, pred)
	if updates {
		x.mask = true
		x.in.Defs = appendReg(x.in.Defs, isa.RegExec)
		x.in.Uses = appendReg(x.in.Uses, isa.RegExec)
	}
	cond, typ, _ := strings.Cut(rest, "_")
	cmp, ok := tsCmp[cond]
	if !ok {
		return tsPredicates[rest]
	}
	if typ != "INT" && typ != "UINT" || !plain {
		return true // floating point: the mask is an unknown function
	}
	for _, r := range []isa.Reg{pred, isa.RegExec} {
		if r == isa.RegExec && !updates {
			break
		}
		x.in.Micro = append(x.in.Micro, isa.Micro{Op: isa.MicroSetp, Dst: r,
			Src: []isa.Operand{a(0), a(1), {Kind: isa.OpdPred, Reg: isa.RegExec, Words: 1}},
			Cmp: cmp, Bool: "AND", Signed: typ == "INT"})
	}
	return true
}

// tsPredicates lists predicates that are not plain comparisons.
var tsPredicates = map[string]bool{"_INV": true, "_POP": true, "_CLR": true, "_RESTORE": true, "GT_PUSH": true, "GE_PUSH": true,
	"E_PUSH": true, "NE_PUSH": true}
