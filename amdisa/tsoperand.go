package amdisa

import (
	"math"
	"strings"

	"optcheck/isa"
)

// operands reads the operand texts of a slot: destination and sources.
func (x *tsGroup) operands(s *slot) (dest [2]int, srcs []isa.Operand, write, ok bool) {
	x.pending = x.pending[:0]
	d, _ := cutWord(s.args[0])
	from := 1
	switch {
	case d == "____" || strings.HasPrefix(s.args[0], "ExecMask") || s.args[0] == "Pred" || strings.HasPrefix(s.args[0], "PredicateBit"):
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
	if strings.HasPrefix(t, "BS:") || t == "CLAMP" || strings.HasPrefix(t, "Pred_sel") || strings.HasPrefix(t, "VEC_") ||
		strings.HasPrefix(t, "SCL_") || strings.HasPrefix(t, "UPDATE_") {
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
	case strings.HasPrefix(t, "Param"), strings.HasPrefix(t, "ALU_"), strings.HasPrefix(t, "I_"), strings.HasPrefix(t, "LDS_"), t == "TIME_HI",
		t == "TIME_LO", t == "MASK_HI", t == "MASK_LO",
		t == "HW_WAVE_ID", t == "SIMD_ID", t == "SE_ID", t == "HW_THREADGRP_ID", t == "WAVE_ID_IN_GRP", t == "NUM_THREADGRP_WAVES",
		strings.HasPrefix(t, "PRIM_MASK"):
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

// pop takes the oldest value from the LDS queue.
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
