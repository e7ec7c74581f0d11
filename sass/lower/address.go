package lower

import (
	"strings"

	"optcheck/ir"
	"optcheck/isa"
)

// term is a summand of an address: a register, or a number.
type term struct {
	class isa.Class // ClassNone: a number
	num   int
	zero  bool
	part  string // 64, U32, X4 …
	off   int64
}

// addressTerms reads the summands between the last brackets of an operand: desc[UR4][R2.64+UR6+-0x8], c[0x3][R0+0x10].
// Numbers are added up in the last term, which is there if they are not zero.
func addressTerms(text string) (out []term, ok bool) {
	end := strings.LastIndexByte(text, ']')
	begin := strings.LastIndexByte(text[:max(end, 0)], '[')
	if begin < 0 {
		return nil, false
	}
	off := int64(0)
	for _, t := range strings.Split(text[begin+1:end], "+") {
		t = strings.TrimSuffix(strings.TrimSpace(t), ".reuse")
		if v, ok := parseInt(t); ok {
			off += v
			continue
		}
		x, ok := registerTerm(t)
		if !ok {
			return nil, false
		}
		out = append(out, x)
	}
	if off != 0 {
		out = append(out, term{off: off})
	}
	return out, true
}

// registerTerm reads R2.64, UR4, RZ.
func registerTerm(t string) (x term, ok bool) {
	name, part, _ := strings.Cut(t, ".")
	x.part = part
	switch {
	case strings.HasPrefix(name, "UR"):
		x.class, name = isa.ClassUGPR, name[2:]
	case strings.HasPrefix(name, "R"):
		x.class, name = isa.ClassGPR, name[1:]
	default:
		return x, false
	}
	if name == "Z" {
		x.zero = true
		return x, true
	}
	n, ok := parseInt(name)
	x.num = int(n)
	return x, ok && n >= 0 && n < 255
}

// parseInt reads 0x10, -0x10 or a decimal number.
func parseInt(s string) (int64, bool) {
	t := strings.TrimPrefix(s, "-")
	base, digits := 10, t
	if strings.HasPrefix(t, "0x") {
		base, digits = 16, t[2:]
	}
	if digits == "" || len(digits) > 8 {
		return 0, false
	}
	v := int64(0)
	for i := 0; i < len(digits); i++ {
		d := strings.IndexByte("0123456789abcdef", digits[i])
		if d < 0 || d >= base {
			return 0, false
		}
		v = v*int64(base) + int64(d)
	}
	if len(t) < len(s) {
		v = -v
	}
	return v, true
}

// termReg is word n of the register of a term.
func (s *step) termReg(t term, n int) ir.Reg {
	if t.zero {
		return s.k(0)
	}
	return s.u.reg(isa.Reg{Class: t.class, Num: uint16(t.num + n)})
}

// address sets Addr, AddrBits and Offset of an access.
func (s *step) address(a *ir.Access, o *isa.Operand) {
	text, v := s.linkedPart(o.Text)
	terms, ok := addressTerms(text)
	if !ok || len(terms) > 3 || o.Part != "" && o.Kind == isa.OpdConst {
		s.fail("address %s", o.Text)
		return
	}
	a.AddrBits = 32
	if a.Space == ir.Generic || a.Space == ir.Global {
		a.AddrBits = 64
	}
	a.Addr, a.Offset = s.sum(terms, a.AddrBits, o.Text)
	switch {
	case v == ir.None:
	case s.is(a.Addr, 0):
		a.Addr = v
	default:
		a.Addr = s.op(ir.Add, ir.Unsigned(a.AddrBits), a.Addr, v)
	}
}

// linkedPart is the part of an address that the linker fills in, `((symbol + 0x4)), and the address without.
func (s *step) linkedPart(text string) (rest string, v ir.Reg) {
	from, to := strings.IndexByte(text, '`'), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return text, ir.None
	}
	v, ok := s.sharedSymbol(text[from : to+1])
	if !ok {
		return text, ir.None
	}
	return text[:from] + "0" + text[to+1:], v
}

// sum adds up the registers of an address, and its numbers.
func (s *step) sum(terms []term, bits int, text string) (base ir.Reg, off int64) {
	base = ir.None
	uniform := false
	for _, t := range terms {
		uniform = uniform || t.class == isa.ClassUGPR
	}
	for _, t := range terms {
		if t.class == isa.ClassNone {
			off = t.off
			continue
		}
		v, ok := s.term(t, bits, uniform)
		if !ok {
			s.fail("address %s", text)
			return s.k(0), 0
		}
		switch {
		case base == ir.None || s.is(base, 0):
			base = v
		case !s.is(v, 0):
			base = s.op(ir.Add, ir.Unsigned(bits), base, v)
		}
	}
	if base == ir.None {
		base = s.k(0)
	}
	return base, off
}

// term is the value of a register in an address of so many bits. A register of the lanes in a 64-bit address is a pair,
// unless it says .U32; a uniform one always.
func (s *step) term(t term, bits int, uniform bool) (ir.Reg, bool) {
	scale := map[string]uint64{"X4": 2, "X8": 3, "X16": 4}
	switch {
	case bits == 32 && t.part == "":
		return s.termReg(t, 0), true
	case bits == 32 && scale[t.part] != 0 && t.class == isa.ClassGPR:
		return s.op(ir.Shl, ir.U32, s.termReg(t, 0), s.k(scale[t.part])), true
	case bits == 32:
		return ir.None, false
	case t.zero && (t.part == "" || t.part == "64" || t.part == "U32"):
		return s.k(0), true
	case t.class == isa.ClassUGPR && (t.part == "" || t.part == "64"), t.part == "64", t.part == "" && !uniform:
		if t.num%2 != 0 {
			return ir.None, false
		}
		return s.op(ir.Join, ir.U64, s.termReg(t, 0), s.termReg(t, 1)), true
	case t.part == "U32" && t.class == isa.ClassGPR:
		return s.termReg(t, 0), true
	}
	return ir.None, false
}
