package amdisa

import (
	"math"
	"strings"

	"optcheck/isa"
)

// tsFloat lists ALU operations on R600 to Cayman whose values are not modelled:
// the destination is an unknown function of the sources.
var tsFloat = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`ADD MUL MUL_IEEE MULADD MULADD_IEEE MULADD_D2 MULADD_M2 MULADD_M4 MULADD_e MUL_PREV MULADD_PREV MUL_IEEE_PREV MULADD_IEEE_PREV FMA MIN MAX MIN_DX10 MAX_DX10
		SETE SETGT SETGE SETNE SETE_DX10 SETGT_DX10 SETGE_DX10 SETNE_DX10 FRACT TRUNC CEIL RNDNE FLOOR CNDE CNDGT CNDGE DOT4 DOT4_IEEE DOT DOT_IEEE CUBE MAX4 DOT4_PREV
		EXP_IEEE LOG_IEEE LOG_CLAMPED RECIP_CLAMPED RECIP_FF RECIP_IEEE RECIPSQRT_CLAMPED RECIPSQRT_FF RECIPSQRT_IEEE SQRT_IEEE SIN COS RSQ_IEEE RCP_IEEE RSQ RCP LOG EXP RSQ_CLAMPED
		FLT_TO_INT FLT_TO_UINT INT_TO_FLT UINT_TO_FLT FLT_TO_INT_RPI FLT_TO_INT_FLOOR FLT_TO_INT_TRUNC UBYTE0_FLT UBYTE1_FLT UBYTE2_FLT UBYTE3_FLT FLT16_TO_FLT32 FLT32_TO_FLT16 FLT32_TO_FLT64 FLT64_TO_FLT32
		FREXP_64 LDEXP_64 ADD_64 MUL_64 FMA_64 MULADD_64 MIN_64 MAX_64 SETE_64 SETGT_64 SETGE_64 SETNE_64 FRACT_64 RECIP_64 RECIPSQRT_64 SQRT_64 RECIP_CLAMPED_64 RECIPSQRT_CLAMPED_64
		RECIP_INT RECIP_UINT MULHI_INT MULHI_UINT MULHI_UINT24 MUL_UINT24 MULADD_UINT24 MUL_INT24 MULADD_INT24 MULHI_INT24 MULADD_INT MULADD_UINT MUL_LIT MUL_LIT_D2 MUL_LIT_M2 MUL_LIT_M4
		ADDC_UINT SUBB_UINT BFM_INT BFREV_INT FFBH_UINT FFBH_INT FFBL_INT BCNT_INT BCNT_ACCUM_PREV_INT MBCNT_32HI_INT MBCNT_32LO_ACCUM_PREV_INT MBCNT_64 BYTE_ALIGN_INT SAD SAD_HI SAD_ACCUM_PREV_UINT
		SAD_ACCUM_HI_UINT SAD_ACCUM_UINT LERP_UINT OFFSET_TO_FLT INTERP_XY INTERP_ZW INTERP_X INTERP_Z INTERP_LOAD_P0 INTERP_LOAD_P10 INTERP_LOAD_P20 BFI_INT_64 MUL_e ADD_e
		RECIPSQRT_e RECIP_e MIN_UINT_e DOT4_e CUBE_e CUBE_r600 DOT4_r600 STORE_FLAGS LOAD_STORE_FLAGS PRED_INV PRED_CLR PRED_RESTORE SQRT SET_CF_IDX0 SET_CF_IDX1`) {
		m[s] = true
	}
	return m
}()

var tsCmp = map[string]string{"E": "EQ", "NE": "NE", "GT": "GT", "GE": "GE", "LT": "LT", "LE": "LE"}

// group makes one instruction of a VLIW group.
func (b *tsBuilder) group(cl *clause, g *group) {
	b.line = g.line
	var texts []string
	for i := range g.slots {
		texts = append(texts, g.slots[i].text)
	}
	x := &tsGroup{b: b, cl: cl, g: g, in: isa.Inst{Text: strings.Join(texts, " :: "), Op: g.slots[0].op, Role: isa.RoleALU, Guard: isa.Guard{Reg: isa.RegExec}}}
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

// opaque gives definitions beside a load an explicit unknown value, so that they
// are not taken for loaded ones.
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

// learn keeps track of registers with constant values, which name the
// arguments that fetches read.
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

// results fills the registers that a slot writes: its destination and the
// forwarding register PV or PS.
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

// transOnly tells operations that only the t slot of VLIW5 performs.
func (x *tsGroup) transOnly(op string) bool {
	return strings.HasPrefix(op, "MULLO_") || strings.HasPrefix(op, "MULHI_") || strings.HasPrefix(op, "RECIP") || strings.HasPrefix(op, "INT_TO_FLT") || strings.HasPrefix(op, "UINT_TO_FLT") ||
		strings.HasPrefix(op, "SIN") || strings.HasPrefix(op, "COS") || strings.HasPrefix(op, "LOG_") || strings.HasPrefix(op, "EXP_") || strings.HasPrefix(op, "SQRT") || op == "FLT_TO_UINT"
}

func (x *tsGroup) targets(r isa.Reg) {
	x.in.Defs = appendReg(x.in.Defs, r)
	x.pending = append(x.pending, r)
}

// operands reads the operand texts of a slot: destination and sources.
func (x *tsGroup) operands(s *slot) (dest [2]int, srcs []isa.Operand, write, ok bool) {
	x.pending = x.pending[:0]
	d, _ := cutWord(s.args[0])
	from := 1
	switch {
	case d == "____" || strings.HasPrefix(s.args[0], "ExecMask") || strings.HasPrefix(s.args[0], "PredicateBit"):
		dest[1] = unitChannel(s.unit)
		for from < len(s.args) && strings.HasPrefix(s.args[from], "PredicateBit") {
			from++
		}
	case strings.HasPrefix(s.op, "MOVA") || strings.HasPrefix(s.op, "KILL"):
		if num, ch, okR := gprs(d); okR && len(ch) == 1 && len(s.args) > 1 {
			dest = [2]int{num, ch[0]}
		} else if len(s.args) < 2 {
			from = 0
		}
	default:
		num, ch, okR := gprs(d)
		if !okR || len(ch) != 1 {
			if d == "AR.x" || d == "AR.X" {
				break
			}
			x.why = "destination not understood"
			return dest, nil, false, false
		}
		dest = [2]int{num, ch[0]}
		write = !strings.Contains(s.args[0], "(MASKED)")
	}
	for _, a := range s.args[from:] {
		if a == "" {
			continue
		}
		o, okO := x.operand(a, s)
		if !okO {
			x.why = "operand not understood: " + a
			return dest, nil, false, false
		}
		if o.Kind != isa.OpdNone {
			srcs = append(srcs, o)
		}
	}
	return dest, srcs, write, true
}

func unitChannel(u byte) int {
	if i := strings.IndexByte("xyzw", u); i >= 0 && u != 0 {
		return i
	}
	return 0
}

// operand reads one source.
func (x *tsGroup) operand(text string, s *slot) (isa.Operand, bool) {
	o := isa.Operand{Text: text, Words: 1}
	t, tail := cutWord(text)
	for tail != "" { // CLAMP, VEC_021, BS:VEC_120/SCL_212, UPDATE_PRED …
		var w string
		w, tail = cutWord(tail)
		s.flags = append(s.flags, w)
	}
	if strings.HasPrefix(t, "BS:") || t == "CLAMP" || strings.HasPrefix(t, "Pred_sel") || strings.HasPrefix(t, "VEC_") || strings.HasPrefix(t, "SCL_") || strings.HasPrefix(t, "UPDATE_") {
		s.flags = append(s.flags, t)
		return isa.Operand{}, true
	}
	if len(t) > 1 && t[0] == '-' && !isDigit(t[1]) {
		o.Neg, t = true, t[1:]
	}
	if len(t) > 2 && t[0] == '|' && t[len(t)-1] == '|' {
		o.Abs, t = true, t[1:len(t)-1]
	}
	if len(t) > 1 && t[0] == '-' && !isDigit(t[1]) {
		o.Neg, t = !o.Neg, t[1:]
	}
	if num, ch, ok := gprs(t); ok && len(ch) == 1 && strings.Contains(t, ".") {
		o.Kind, o.Reg = isa.OpdReg, tsReg(num, ch[0])
		return o, true
	}
	low := strings.ToLower(t)
	switch {
	case strings.HasPrefix(low, "literal."):
		i := strings.IndexByte("xyzw", low[len(low)-1])
		if i < 0 || i >= len(x.g.literals) {
			return o, false
		}
		o.Kind, o.Imm = isa.OpdImm, int64(x.g.literals[i])
		return o, true
	case strings.HasPrefix(low, "pv"):
		i := strings.IndexByte("xyzw", low[len(low)-1])
		if i < 0 {
			return o, false
		}
		o.Kind, o.Reg = isa.OpdReg, isa.Reg{Class: isa.ClassSpecial, Num: uint16(isa.SpecPV + i)}
		return o, true
	case low == "ps" || strings.HasPrefix(low, "ps") && isDigit(low[2]):
		o.Kind, o.Reg = isa.OpdReg, isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecPS}
		return o, true
	case t == "OQAP" || strings.HasPrefix(t, "LDS_OQ_A_POP") || t == "QA.pop":
		return x.pop(o)
	case strings.HasPrefix(t, "KC"):
		return x.constant(o, t)
	case strings.HasPrefix(low, "ar.") && len(low) == 4:
		i := strings.IndexByte("xyzw", low[3])
		o.Kind, o.Reg = isa.OpdReg, isa.Reg{Class: isa.ClassSpecial, Num: uint16(isa.SpecAR + max(i, 0))}
		return o, true
	case strings.HasPrefix(t, "(0x"): // (0x40000000, 2.0f).x
		h := t[3:]
		if j := strings.IndexAny(h, ",)"); j > 0 {
			h = h[:j]
		}
		v, ok := parseHex(trim(h))
		o.Kind, o.Imm = isa.OpdImm, int64(uint32(v))
		return o, ok && v <= math.MaxUint32
	case t[0] == 'C' && len(t) > 1 && isDigit(t[1]), strings.HasPrefix(t, "CB"):
		return x.fileConstant(o, t)
	case strings.HasPrefix(t, "Param"), strings.HasPrefix(t, "ALU_"), strings.HasPrefix(t, "I_"), strings.HasPrefix(t, "LDS_"), t == "TIME_HI", t == "TIME_LO", t == "MASK_HI", t == "MASK_LO",
		t == "HW_WAVE_ID", t == "SIMD_ID", t == "SE_ID", t == "HW_THREADGRP_ID", t == "WAVE_ID_IN_GRP", t == "NUM_THREADGRP_WAVES", strings.HasPrefix(t, "PRIM_MASK"):
		o.Kind, o.Sym = isa.OpdSpecial, t
		return o, true
	}
	return x.numberOperand(o, t)
}

func (x *tsGroup) numberOperand(o isa.Operand, t string) (isa.Operand, bool) {
	if !isDigit(t[0]) && t[0] != '-' && t[0] != '.' {
		return o, false
	}
	if i := strings.IndexByte(t, '('); i > 0 { // 2(2.802597e-45)
		t = t[:i]
	}
	n, ok := number(isa.Operand{Text: o.Text, Words: 1, Neg: o.Neg, Abs: o.Abs}, t)
	if !ok {
		return o, false
	}
	if n.Kind == isa.OpdFloat {
		n.Kind, n.Imm = isa.OpdImm, int64(floatBits(&n, 32))
	}
	return n, true
}

// pop takes the oldest value of the LDS queue.
func (x *tsGroup) pop(o isa.Operand) (isa.Operand, bool) {
	if x.b.oqPop >= x.b.oqPush || x.b.oqPop >= oqCount {
		return o, false
	}
	o.Kind, o.Reg = isa.OpdReg, isa.Reg{Class: isa.ClassGPR, Num: uint16(oqFirst + x.b.oqPop)}
	x.b.oqPop++
	return o, true
}

// constant reads KC0[2].Y.
func (x *tsGroup) constant(o isa.Operand, t string) (isa.Operand, bool) {
	if len(t) < 6 || t[2] < '0' || t[2] > '3' || t[3] != '[' {
		return o, false
	}
	j := strings.IndexByte(t, ']')
	if j < 0 || j+2 >= len(t) {
		return o, false
	}
	k := x.cl.kcache[t[2]-'0']
	c := strings.IndexByte("xyzw", t[j+2]|0x20)
	if c < 0 {
		return o, false
	}
	o.Kind = isa.OpdConst
	o.Bank = k.buf
	if x.b.amd {
		o.Bank += isa.ConstBuffer
	}
	idx := t[4:j]
	if n, ok := small(idx); ok {
		o.Off = int64(16*(n+k.base) + 4*c)
		return o, true
	}
	if strings.Contains(idx, "AR") {
		o.Reg = isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecAR}
		return o, true
	}
	return o, false
}

// fileConstant reads C12.x, C43[AR.x].y and CB1[3].x of graphics shaders.
func (x *tsGroup) fileConstant(o isa.Operand, t string) (isa.Operand, bool) {
	o.Kind, o.Bank = isa.OpdConst, isa.ConstTable
	dot := strings.LastIndexByte(t, '.')
	if dot < 0 || dot+2 != len(t) {
		return o, false
	}
	c := strings.IndexByte("xyzw", t[dot+1]|0x20)
	body := t[1:dot]
	if i := strings.IndexByte(body, '['); i >= 0 {
		o.Reg = isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecAR}
		if n, ok := small(strings.TrimSuffix(body[i+1:], "]")); ok {
			o.Reg, o.Off = isa.Reg{}, int64(16*n)
		}
		body = body[:i]
	}
	n, ok := small(strings.TrimPrefix(body, "B"))
	if !ok || c < 0 {
		return o, false
	}
	if t[1] == 'B' {
		o.Bank = isa.ConstBuffer + n
		o.Off += int64(4 * c)
		return o, true
	}
	o.Off += int64(16*n + 4*c)
	return o, true
}

// value gives a slot's micro-operations.
func (x *tsGroup) value(s *slot, src []isa.Operand) bool {
	op := strings.TrimSuffix(strings.TrimSuffix(s.op, "_eg"), "_r600")
	plain := true
	for _, f := range s.flags {
		if f == "CLAMP" || strings.HasPrefix(f, "*") || strings.HasPrefix(f, "/") || strings.HasPrefix(f, "Pred_sel") || strings.HasPrefix(f, "PRED_SEL") {
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

// tsArity gives the sources of an operation that lower knows, 0 for others that
// are known by name.
func tsArity(op string) (int, bool) {
	switch op {
	case "MOV", "NOT_INT":
		return 1, true
	case "AND_INT", "OR_INT", "XOR_INT", "ADD_INT", "SUB_INT", "LSHL", "LSHR", "ASHR", "LSHL_INT", "LSHR_INT", "ASHR_INT", "MULLO_INT", "MULLO_UINT",
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

// predicate decodes PRED_SETE_INT and its like, which narrow EXEC.
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
		x.in.Micro = append(x.in.Micro, isa.Micro{Op: isa.MicroSetp, Dst: r, Src: []isa.Operand{a(0), a(1), {Kind: isa.OpdPred, Reg: isa.RegExec, Words: 1}},
			Cmp: cmp, Bool: "AND", Signed: typ == "INT"})
	}
	return true
}

// tsPredicates are predicates that are no plain comparison.
var tsPredicates = map[string]bool{"_INV": true, "_POP": true, "_CLR": true, "_RESTORE": true, "GT_PUSH": true, "GE_PUSH": true, "E_PUSH": true, "NE_PUSH": true}

// lds decodes an LDS operation:
//
//	LDS_WRITE * T0.W, T1.X,
//	LDS_READ_RET * OQAP, T0.W
func (x *tsGroup) lds(s *slot) bool {
	if x.in.Role != isa.RoleALU {
		x.why = "two memory operations in one group"
		return false
	}
	var src []isa.Operand
	x.pending = x.pending[:0]
	for _, a := range s.args {
		w, _ := cutWord(a)
		if w == "" || w == "OQAP" || w == "QA" || w == "QAB" || w == "____" || w == "QA.x" {
			continue
		}
		o, ok := x.operand(a, s)
		if !ok {
			x.why = "operand not understood: " + a
			return false
		}
		if o.Kind != isa.OpdNone {
			src = append(src, o)
		}
	}
	op, ret := strings.CutSuffix(strings.TrimPrefix(s.op, "LDS_"), "_RET")
	in := &x.in
	in.Op = s.op
	in.Mem.Space, in.Mem.Width = isa.SpaceShared, 4
	values := 1
	switch op {
	case "READ", "READ_REL", "READ2", "UBYTE_READ", "BYTE_READ", "USHORT_READ", "SHORT_READ":
		in.Role, values = isa.RoleLoad, 0
		if op == "READ2" {
			in.Mem.Width, values = 8, 1
		}
	case "WRITE", "BYTE_WRITE", "SHORT_WRITE":
		in.Role = isa.RoleStore
	case "WRITE_REL", "WRITE2":
		in.Role, values, in.Mem.Width = isa.RoleStore, 2, 8
	default:
		atom := strings.TrimPrefix(op, "ATOMIC_")
		name, ok := ratAtoms[atom]
		switch atom {
		case "WRXCHG", "XCHG":
			name, ok = "EXCH", true
		case "CMP_STORE", "CMP_XCHG", "CMPST":
			name, ok = "CAS", true
		}
		if !ok {
			x.why = "unknown opcode"
			return false
		}
		in.Mem.Atom, in.Role = name, isa.RoleReduction
		if ret {
			in.Role = isa.RoleAtomic
		}
		if name == "CAS" || name == "MSKOR" {
			values = 2
		}
	}
	switch {
	case strings.Contains(op, "BYTE"):
		in.Mem.Width = 1
	case strings.Contains(op, "SHORT"):
		in.Mem.Width = 2
	}
	if len(src) < 1+values {
		x.why = "number of operands"
		return false
	}
	src = src[:1+values]
	addr := isa.Operand{Kind: isa.OpdMem, Words: 1, Text: src[0].Text}
	switch src[0].Kind {
	case isa.OpdReg:
		addr.Reg = src[0].Reg
		in.Addrs = []isa.Reg{addr.Reg}
		in.Uses = appendReg(in.Uses, addr.Reg)
	case isa.OpdImm:
		addr.Off = src[0].Imm
	default:
		x.why = "address not understood"
		return false
	}
	if ret || in.Role == isa.RoleLoad {
		n := 1
		if op == "READ2" {
			n = 2
		}
		for i := 0; i < n; i++ {
			if x.b.oqPush >= oqCount {
				x.why = "lds queue overflows"
				return false
			}
			r := isa.Reg{Class: isa.ClassGPR, Num: uint16(oqFirst + x.b.oqPush)}
			x.b.oqPush++
			in.Defs = appendReg(in.Defs, r)
			x.load = append(x.load, r)
			in.Args = append(in.Args, regOpd(r))
		}
	}
	in.Args = append(in.Args, addr)
	for _, o := range src[1:] {
		each(&o, func(r isa.Reg) {
			in.Uses = appendReg(in.Uses, r)
			in.Data = append(in.Data, r)
		})
		in.Args = append(in.Args, o)
	}
	return true
}
