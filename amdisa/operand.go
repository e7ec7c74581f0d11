package amdisa

import (
	"math"
	"strconv"
	"strings"

	"optcheck/isa"
)

// special is a named register: its first word and how many it has.
type special struct {
	num   uint16
	words int
}

var specials = map[string]special{
	"vcc": {isa.SpecVCCLo, 2}, "vcc_lo": {isa.SpecVCCLo, 1}, "vcc_hi": {isa.SpecVCCHi, 1},
	"exec": {isa.SpecExecLo, 2}, "exec_lo": {isa.SpecExecLo, 1}, "exec_hi": {isa.SpecExecHi, 1},
	"scc": {isa.SpecSCC, 1}, "src_scc": {isa.SpecSCC, 1}, "m0": {isa.SpecM0, 1},
	"flat_scratch": {isa.SpecFlatScratchLo, 2}, "flat_scratch_lo": {isa.SpecFlatScratchLo, 1}, "flat_scratch_hi": {isa.SpecFlatScratchHi, 1},
	"xnack_mask": {isa.SpecXnackLo, 2}, "xnack_mask_lo": {isa.SpecXnackLo, 1}, "xnack_mask_hi": {isa.SpecXnackHi, 1},
	"vccz": {isa.SpecVCCZ, 1}, "src_vccz": {isa.SpecVCCZ, 1}, "execz": {isa.SpecExecZ, 1}, "src_execz": {isa.SpecExecZ, 1},
	"tba": {isa.SpecTBALo, 2}, "tba_lo": {isa.SpecTBALo, 1}, "tba_hi": {isa.SpecTBAHi, 1},
	"tma": {isa.SpecTMALo, 2}, "tma_lo": {isa.SpecTMALo, 1}, "tma_hi": {isa.SpecTMAHi, 1},
	// sp3 spellings
	"vcc_scc": {isa.SpecVCCLo, 2},
}

// constants are named values that no instruction of the wave changes.
var constants = map[string]int{
	"src_shared_base": 2, "src_shared_limit": 2, "src_private_base": 2, "src_private_limit": 2,
	"shared_base": 2, "shared_limit": 2, "private_base": 2, "private_limit": 2,
	"src_shared_base_lo": 1, "src_shared_base_hi": 1, "src_private_base_lo": 1, "src_private_base_hi": 1, "src_flat_scratch_base_lo": 1,
	"src_flat_scratch_base_hi": 1, "src_flat_scratch_base": 2, "src_pops_exiting_wave_id": 1, "pops_exiting_wave_id": 1, "src_lds_direct": 1,
	"lds_direct": 1, "src_pc": 1, "attr0.x": 1,
}

// splitArgs splits an operand list at its commas, outside brackets. It returns false if there
// are too many.
func splitArgs(s string, out []string) ([]string, bool) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, trim(s[from:i]))
				from = i + 1
				if len(out) >= maxOperands {
					return out, false
				}
			}
		}
	}
	if last := trim(s[from:]); last != "" || from > 0 {
		out = append(out, last)
	}
	return out, true
}

// cutWord splits s at its first blank outside brackets.
func cutWord(s string) (word, rest string) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '(':
			depth++
		case ']', ')':
			depth--
		case ' ', '\t':
			if depth <= 0 {
				return s[:i], trim(s[i:])
			}
		}
	}
	return s, ""
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

func trim(s string) string {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	for s != "" && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseOperand reads one operand. Its meaning beyond the register (address,
// branch target) depends on the instruction.
func parseOperand(text string) (o isa.Operand, ok bool) {
	o.Text, o.Words = text, 1
	s := text
	for {
		switch {
		case len(s) > 1 && s[0] == '-' && !isDigit(s[1]) && s[1] != '.':
			o.Neg = !o.Neg
			s = s[1:]
			continue
		case len(s) > 2 && s[0] == '|' && s[len(s)-1] == '|':
			o.Abs = true
			s = s[1 : len(s)-1]
			continue
		case strings.HasPrefix(s, "abs(") && s[len(s)-1] == ')':
			o.Abs = true
			s = s[4 : len(s)-1]
			continue
		case strings.HasPrefix(s, "neg(") && s[len(s)-1] == ')':
			o.Neg = !o.Neg
			s = s[4 : len(s)-1]
			continue
		case strings.HasPrefix(s, "sext(") && s[len(s)-1] == ')':
			o.Part = "sext"
			s = s[5 : len(s)-1]
			continue
		}
		break
	}
	if s == "" {
		return o, false
	}
	if c := s[0]; isDigit(c) || c == '-' || c == '.' && len(s) > 1 && isDigit(s[1]) {
		return number(o, s)
	}
	if ok := register(&o, s); ok {
		return o, true
	}
	return named(o, s)
}

// number reads an integer or a floating-point number.
func number(o isa.Operand, s string) (isa.Operand, bool) {
	if strings.HasPrefix(s, "lit(") || strings.HasPrefix(s, "lit64(") {
		s = s[strings.IndexByte(s, '(')+1:]
		s = strings.TrimSuffix(s, ")")
	}
	if v, ok := integer(s); ok {
		o.Kind, o.Imm = isa.OpdImm, v
		return o, true
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "f"), 64)
	if err != nil || len(s) > 40 {
		return o, false
	}
	o.Kind, o.Imm = isa.OpdFloat, int64(math.Float64bits(f))
	return o, true
}

// integer reads a decimal or hexadecimal number of up to 64 bits.
func integer(s string) (int64, bool) {
	neg := false
	t := s
	if t != "" && t[0] == '-' {
		neg, t = true, t[1:]
	}
	base := 10
	if len(t) > 2 && t[0] == '0' && (t[1] == 'x' || t[1] == 'X') {
		base, t = 16, t[2:]
	}
	if t == "" || len(t) > 20 {
		return 0, false
	}
	v, err := strconv.ParseUint(t, base, 64)
	if err != nil {
		return 0, false
	}
	if neg {
		return -int64(v), true
	}
	return int64(v), true
}

// register reads v0, s[4:7], a1, ttmp3, vcc, v5.l, and lists like [s0,s1].
func register(o *isa.Operand, s string) bool {
	if sp, ok := specials[s]; ok {
		o.Kind, o.Reg, o.Words = isa.OpdReg, isa.Reg{Class: isa.ClassSpecial, Num: sp.num}, sp.words
		return true
	}
	switch s {
	case "off", "null", "src_null", "sgpr_null":
		o.Kind, o.Zero = isa.OpdReg, true
		return true
	}
	if s[0] == '[' && s[len(s)-1] == ']' { // [s4,s5]
		list, ok := splitArgs(s[1:len(s)-1], nil)
		if !ok || len(list) == 0 || list[0] == "" || list[0][0] == '[' || !register(o, list[0]) || o.Words != 1 {
			return false
		}
		o.Words = len(list)
		return true
	}
	class, max := isa.ClassNone, 0
	n := 1
	switch {
	case s[0] == 'v':
		class, max = isa.ClassGPR, 1024
	case strings.HasPrefix(s, "ttmp"):
		class, max, n = isa.ClassSpecial, 16, 4
	case s[0] == 's':
		class, max = isa.ClassUGPR, 128
	case s[0] == 'a':
		class, max = isa.ClassAcc, 256
	default:
		return false
	}
	rest := s[n:]
	if i := strings.IndexByte(rest, '.'); i > 0 { // v0.l, v0.h: halves
		switch rest[i+1:] {
		case "l", "h":
			o.Part = rest[i+1:]
		default:
			return false
		}
		rest = rest[:i]
	}
	lo, words, ok := regRange(rest)
	if !ok || lo+words > max {
		return false
	}
	if n == 4 {
		lo += isa.SpecTTMP
	}
	o.Kind, o.Reg, o.Words = isa.OpdReg, isa.Reg{Class: class, Num: uint16(lo)}, words
	return true
}

// regRange reads 12 or [4:7] or [4].
func regRange(s string) (lo, words int, ok bool) {
	if s == "" {
		return 0, 0, false
	}
	if s[0] != '[' {
		lo, ok = small(s)
		return lo, 1, ok
	}
	if s[len(s)-1] != ']' {
		return 0, 0, false
	}
	a, b, two := strings.Cut(s[1:len(s)-1], ":")
	lo, ok = small(trim(a))
	if !ok {
		return 0, 0, false
	}
	hi := lo
	if two {
		if hi, ok = small(trim(b)); !ok || hi < lo || hi-lo >= 32 {
			return 0, 0, false
		}
	}
	return lo, hi - lo + 1, true
}

// small reads a decimal number below 10000.
func small(s string) (int, bool) {
	if s == "" || len(s) > 4 {
		return 0, false
	}
	v := 0
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return 0, false
		}
		v = v*10 + int(s[i]-'0')
	}
	return v, true
}

// named reads symbols: constants of the wave, relocations, labels, function-like
// operands (hwreg(…), sendmsg(…)) and literals.
func named(o isa.Operand, s string) (isa.Operand, bool) {
	if n, ok := constants[s]; ok {
		o.Kind, o.Sym, o.Words = isa.OpdSpecial, s, n
		return o, true
	}
	if strings.HasPrefix(s, "lit(") || strings.HasPrefix(s, "lit64(") {
		return number(o, s)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', isDigit(c), c >= 0x80:
		case strings.IndexByte("_.$@+-()*/&, :\"<>[]", c) >= 0:
		default:
			return o, false
		}
	}
	o.Kind, o.Sym = isa.OpdSym, s
	// symbol@rel32@lo+4
	if i := strings.IndexByte(s, '@'); i > 0 {
		o.Sym = s[:i]
		switch {
		case strings.Contains(s[i:], "hi"):
			o.Part = "hi"
		case strings.Contains(s[i:], "lo"):
			o.Part = "lo"
		}
		if strings.Contains(s[i:], "got") {
			o.Sym += "@got" // the address of a table entry, not of the symbol
		}
		if j := strings.LastIndexByte(s, '+'); j > i {
			if v, ok := integer(s[j+1:]); ok {
				o.Off = v
			}
		}
	}
	return o, true
}

// floatBits returns the bits of a floating-point literal in the format of an
// operand of the given width.
func floatBits(o *isa.Operand, bits int) uint64 {
	f := math.Float64frombits(uint64(o.Imm))
	switch bits {
	case 64:
		return uint64(o.Imm)
	case 16:
		return uint64(half(f))
	}
	return uint64(math.Float32bits(float32(f)))
}

// half rounds to a half-precision number; the inline constants are exact.
func half(f float64) uint16 {
	b := math.Float32bits(float32(f))
	sign := uint16(b >> 16 & 0x8000)
	exp := int(b>>23&0xff) - 127 + 15
	man := b >> 13 & 0x3ff
	switch {
	case f == 0:
		return sign
	case exp <= 0:
		return sign
	case exp >= 31:
		return sign | 0x7c00
	}
	// 1/(2*pi) is not exact: round to nearest.
	if b&0x1000 != 0 {
		return sign | uint16(exp)<<10 + uint16(man) + 1
	}
	return sign | uint16(exp)<<10 | uint16(man)
}
