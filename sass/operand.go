package sass

import (
	"math"
	"strconv"
	"strings"

	"optcheck/isa"
)

// isBlank reports whether a byte is a space or tab.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// trim cuts blanks off both ends.
func trim(s string) string {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// splitOperands cuts s at commas outside brackets and quotes, and a register
// followed by a blank and something else ("R20 `(k)", "UR4 -0x90") in two.
func splitOperands(s string, out []string) []string {
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, trim(s[start:i]))
				start = i + 1
			}
		case ' ', '\t':
			if depth == 0 && i > start && (s[start] == 'R' || s[start] == 'U') && i+1 < len(s) && (s[i+1] == '`' || s[i+1] == '-' || s[i+1] == '0') {
				out = append(out, trim(s[start:i]))
				start = i + 1
			} else if depth == 0 && i == start {
				start++
			}
		}
		if len(out) >= maxOperands {
			break
		}
	}
	if t := trim(s[min(start, len(s)):]); t != "" {
		out = append(out, t)
	}
	return out
}

// atoiReg reads the decimal number at the start of s and returns what follows.
func atoiReg(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 4 && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, s[i:], i > 0 && n < 1024
}

// parseReg reads a register name: R12, RZ, UR4, URZ, P0, PT, UP0, UPT, B3, and
// what follows it.
func parseReg(s string) (r isa.Reg, zero bool, rest string, ok bool) {
	if s == "" {
		return r, false, s, false
	}
	class, z := isa.ClassNone, byte('Z')
	t := s
	switch s[0] {
	case 'R':
		class, t = isa.ClassGPR, s[1:]
	case 'P', 'p':
		class, z, t = isa.ClassPred, 'T', s[1:]
	case 'B':
		class, z, t = isa.ClassBarrier, 0, s[1:]
	case 'U':
		if len(s) > 1 && s[1] == 'R' {
			class, t = isa.ClassUGPR, s[2:]
		} else if len(s) > 1 && s[1] == 'P' {
			class, z, t = isa.ClassUPred, 'T', s[2:]
		}
	}
	if class == isa.ClassNone || t == "" {
		return r, false, s, false
	}
	if t[0] == z || (t[0] == 't' && z == 'T') {
		r.Class, zero, rest, ok = class, true, t[1:], true
	} else {
		var n int
		n, rest, ok = atoiReg(t)
		r = isa.Reg{Class: class, Num: uint16(n)}
	}
	if ok && rest != "" && rest[0] != '.' && rest[0] != '|' {
		ok = false
	}
	return r, zero, rest, ok
}

// suffix drops "reuse" from a register suffix (".H1_H1.reuse" gives "H1_H1").
func suffix(s string) string {
	s = strings.TrimPrefix(s, ".")
	if s == "" || s == "reuse" {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSuffix(s, ".reuse"), "reuse.")
}

// parseInt reads 0x12, -0x12 or a decimal integer.
func parseInt(s string) (int64, bool) {
	neg := strings.HasPrefix(s, "-")
	u := strings.TrimPrefix(s, "-")
	var v uint64
	var err error
	if strings.HasPrefix(u, "0x") {
		v, err = strconv.ParseUint(u[2:], 16, 64)
	} else {
		v, err = strconv.ParseUint(u, 10, 63)
	}
	if err != nil {
		return 0, false
	}
	if neg {
		return -int64(v), true
	}
	return int64(v), true
}

// parseOperand reads one operand. An operand that it does not know becomes OpdSpecial with the
// text in Sym; ok is false only for malformed text.
func parseOperand(text string) (o isa.Operand, ok bool) {
	o.Text, o.Words = text, 1
	s := text
	for s != "" {
		switch {
		case s[0] == '!':
			o.Not = true
		case s[0] == '~':
			o.Not = true
		case s[0] == '|':
			o.Abs = true
		case s[0] == '-' && len(s) > 1 && (s[1] == 'R' || s[1] == 'U' || s[1] == 'c' || s[1] == '|'):
			o.Neg = true
		case s[0] == ' ':
		default:
			return parseBare(o, s)
		}
		s = s[1:]
	}
	return o, false
}

// parseBare reads an operand without its prefix operators.
func parseBare(o isa.Operand, s string) (isa.Operand, bool) {
	if r, zero, rest, ok := parseReg(s); ok {
		if i := strings.IndexByte(rest, '|'); i >= 0 {
			rest = rest[:i] + rest[i+1:]
		}
		o.Reg, o.Zero, o.Part, o.Kind = r, zero, suffix(rest), isa.OpdReg
		if r.Class == isa.ClassPred || r.Class == isa.ClassUPred {
			o.Kind = isa.OpdPred
		}
		if zero {
			o.Reg = isa.Reg{Class: r.Class}
		}
		return o, true
	}
	switch s[0] {
	case '[':
		return parseMem(o, s)
	case 'c':
		if strings.HasPrefix(s, "c[") || strings.HasPrefix(s, "c [") || strings.HasPrefix(s, "cx[") {
			return parseConst(o, s)
		}
	case 'd', 'g', 't', 'i', 'a':
		if i := strings.IndexByte(s, '['); i > 0 {
			return parseTagged(o, s, i)
		}
	case '`':
		return parseLabel(o, s)
	case 'C':
		if s == "CC" || strings.HasPrefix(s, "CC.") {
			o.Kind, o.Reg, o.Part = isa.OpdReg, isa.Reg{Class: isa.ClassCC}, suffix(s[2:])
			return o, true
		}
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-', '+', 'I', 'Q', '.':
		return parseNumber(o, s), true
	}
	o.Kind, o.Sym = isa.OpdSpecial, s
	return o, true
}

// parseNumber reads an integer (always hexadecimal in this syntax), a decimal
// float, or a relocation such as 32@lo(sym).
func parseNumber(o isa.Operand, s string) isa.Operand {
	s = trim(s)
	if i := strings.IndexByte(s, '@'); i >= 0 {
		return parseReloc(o, s, i)
	}
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "-0x") {
		if v, ok := parseInt(s); ok {
			o.Kind, o.Imm = isa.OpdImm, v
			return o
		}
	}
	if _, ok := parseFloat(s); ok {
		o.Kind, o.Sym = isa.OpdFloat, s
		return o
	}
	o.Kind, o.Sym = isa.OpdSpecial, s
	return o
}

// parseReloc reads 32@lo(sym), 32@hi(sym), 32@lo((k + .L_x_1@srel)).
func parseReloc(o isa.Operand, s string, at int) isa.Operand {
	o.Kind = isa.OpdSym
	t := s[at+1:]
	if i := strings.IndexByte(t, '('); i >= 0 {
		o.Part, t = t[:i], strings.TrimSuffix(t[i+1:], ")")
	}
	o.Sym = t
	return o
}

// parseFloat reads a decimal float, infinity or not-a-number as printed.
func parseFloat(s string) (float64, bool) {
	switch strings.TrimLeft(s, "+-") {
	case "INF":
		if s[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	case "QNAN", "SNAN", "NAN":
		return math.NaN(), true
	}
	if s == "" || len(s) > 64 || strings.ContainsAny(s, "xX_pPnNiI") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// parseLabel reads `(.L_x_1).
func parseLabel(o isa.Operand, s string) (isa.Operand, bool) {
	o.Kind = isa.OpdLabel
	t := strings.TrimPrefix(s, "`")
	if strings.HasPrefix(t, "(") && strings.HasSuffix(t, ")") {
		t = t[1 : len(t)-1]
	}
	o.Sym = t
	return o, t != ""
}

// parseConst reads c[0x0][0x160], c [0x0] [0x24], c[0x0][R2+0x160], cx[UR4][0x8].
func parseConst(o isa.Operand, s string) (isa.Operand, bool) {
	o.Kind = isa.OpdConst
	i := strings.IndexByte(s, '[')
	j := strings.IndexByte(s[i:], ']')
	if j < 0 {
		return o, false
	}
	bank := trim(s[i+1 : i+j])
	rest := s[i+j+1:]
	if r, zero, _, ok := parseReg(bank); ok {
		o.Bank = -1
		if !zero {
			o.Desc = r
		}
	} else if v, ok := parseInt(bank); ok {
		o.Bank = int(v)
	} else if strings.HasPrefix(bank, "`") { // a constant that the linker places: c[`(k.const_opt.0.8)]
		o.Kind, o.Sym = isa.OpdSpecial, s
		return o, trim(rest) == ""
	} else {
		return o, false
	}
	k := strings.IndexByte(rest, '[')
	l := strings.LastIndexByte(rest, ']')
	if k < 0 || l < k {
		return o, false
	}
	if t := strings.TrimSuffix(rest[l+1:], "|"); t != "" {
		o.Part = suffix(t)
	}
	part := o.Part
	ok := parseAddress(&o, rest[k+1:l])
	if o.Reg.Class == isa.ClassNone && o.Base2.Class != isa.ClassNone {
		o.Reg, o.Base2 = o.Base2, isa.Reg{}
	}
	o.Part = part
	return o, ok
}

// parseMem reads [R2.64+UR4+0x8].
func parseMem(o isa.Operand, s string) (isa.Operand, bool) {
	o.Kind = isa.OpdMem
	j := strings.IndexByte(s, ']')
	if j < 0 {
		return o, false
	}
	return o, parseAddress(&o, s[1:j])
}

// parseTagged reads desc[UR4][R2.64+0x4], gdesc[UR8], tmem[UR4], a[0x80].
func parseTagged(o isa.Operand, s string, i int) (isa.Operand, bool) {
	o.Kind = isa.OpdMem
	tag := s[:i]
	j := strings.IndexByte(s, ']')
	if j < i {
		return o, false
	}
	rest := trim(s[j+1:])
	if !strings.HasPrefix(rest, "[") {
		o.Sym = tag
		return o, parseAddress(&o, s[i+1:j])
	}
	r, zero, _, ok := parseReg(trim(s[i+1 : j]))
	if ok && !zero {
		o.Desc = r
	}
	k := strings.IndexByte(rest, ']')
	if !ok || k < 0 {
		return o, false
	}
	return o, parseAddress(&o, rest[1:k])
}

// parseAddress reads the terms between brackets into Reg, Base2, Off, Sym.
func parseAddress(o *isa.Operand, s string) bool {
	reloc := false
	for s != "" {
		term := s
		if i := strings.IndexByte(s, '+'); i >= 0 {
			term, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		term = trim(term)
		if reloc = reloc || term != "" && term[0] == '`'; reloc { // `((symbol + 0x20))
			term = strings.Trim(term, "`() ")
		}
		if term == "" {
			continue
		}
		neg := false
		if term[0] == '-' && len(term) > 1 && (term[1] == 'R' || term[1] == 'U') {
			neg, term = true, term[1:]
		}
		if r, zero, rest, ok := parseReg(term); ok && r.Class != isa.ClassPred {
			sfx := suffix(rest)
			switch {
			case zero:
				o.Zero = true
				if r.Class == isa.ClassGPR {
					o.Part = sfx
				}
			case r.Class == isa.ClassUGPR:
				o.Base2 = r
				o.Neg = o.Neg || neg
			default:
				o.Reg, o.Part = r, sfx
				o.Neg = o.Neg || neg
			}
			continue
		}
		if v, ok := parseInt(term); ok {
			o.Off += v
			continue
		}
		if !symbolic(term) {
			return false
		}
		o.Sym = term
	}
	return true
}

// symbolic reports whether a term of an address is a relocation, symbol or attribute name.
func symbolic(t string) bool {
	c := t[0]
	return strings.IndexByte(t, '@') >= 0 || c == '`' || c == '(' || c == '.' || c == '$' || c == '_' || c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z'
}
