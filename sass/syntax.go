package sass

import (
	"strings"

	"optcheck/isa"
)

// cutInstruction separates the instruction from what follows its end: ';', or
// the '}' of a dual-issue pair. Scheduling annotations are dropped.
func cutInstruction(s string) (text, tail string, ok bool) {
	if strings.HasPrefix(s, "{") {
		s = trim(s[1:])
	}
	end := -1
scan:
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ';':
			end = i
			break scan
		case '/':
			if i+1 < len(s) && (s[i+1] == '*' || s[i+1] == '/') {
				end = i
				break scan
			}
		}
	}
	if end < 0 {
		end = len(s)
	}
	text, tail = trim(s[:end]), s[end:]
	if !strings.HasPrefix(tail, ";") {
		if !strings.HasSuffix(text, "}") || strings.Count(text, "{") >= strings.Count(text, "}") {
			return text, tail, false
		}
		text = trim(text[:len(text)-1])
	}
	if i := annotation(text); i >= 0 {
		text = trim(text[:i])
	}
	return text, tail, true
}

// annotation returns the index at which " &req={1} ?WAIT5" starts, -1 if there is none.
func annotation(s string) int {
	for i := 1; i+1 < len(s); i++ {
		if (s[i] == '&' || s[i] == '?') && isBlank(s[i-1]) && (s[i+1] >= 'a' && s[i+1] <= 'z' || s[i+1] >= 'A' && s[i+1] <= 'Z') {
			return i
		}
	}
	return -1
}

// newTemplate decodes an instruction text.
func (p *parser) newTemplate(text string) *template {
	if len(p.tmpls) == cap(p.tmpls) {
		p.tmpls = make([]template, 0, 64)
	}
	p.tmpls = append(p.tmpls, template{})
	t := &p.tmpls[len(p.tmpls)-1]
	in := &t.in
	in.Text, in.Target = text, -1
	body, notes := cutNotes(text)
	t.notes = notes
	if !p.syntax(in, body) {
		in.Role = isa.RoleUnknown
		return t
	}
	p.decode(in, p.sm)
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == isa.OpdLabel && t.label == "" {
			t.label = o.Sym
		}
	}
	return t
}

// cutNotes removes (*"BRANCH_TARGETS .L_1"*) from an instruction.
func cutNotes(s string) (body, notes string) {
	i := strings.Index(s, "(*")
	if i < 0 {
		return s, ""
	}
	j := strings.Index(s[i+2:], "*)")
	if j < 0 {
		return s, ""
	}
	j += i + 2
	return trim(s[:i] + s[j+2:]), s[i+2 : j]
}

// syntax reads guard, opcode, modifiers and operands.
func (p *parser) syntax(in *isa.Inst, s string) bool {
	if strings.HasPrefix(s, "@") {
		i := strings.IndexAny(s, " \t")
		if i < 0 {
			return false
		}
		g := s[1:i]
		s = trim(s[i:])
		if strings.HasPrefix(g, "!") {
			in.Guard.Neg, g = true, g[1:]
		}
		r, zero, rest, ok := parseReg(g)
		if !ok || rest != "" || r.Class != isa.ClassPred && r.Class != isa.ClassUPred {
			return false
		}
		if zero {
			in.Guard = isa.Guard{Never: in.Guard.Neg}
		} else {
			in.Guard.Reg = r
		}
	}
	op, rest := s, ""
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		op, rest = s[:i], trim(s[i+1:])
	}
	if op == "" || op[0] < 'A' || op[0] > 'Z' {
		return false
	}
	root, mods := op, ""
	if i := strings.IndexByte(op, '.'); i >= 0 {
		root, mods = op[:i], op[i+1:]
	}
	in.Op, in.Mods = root, p.splitMods(mods)
	return p.operands(in, rest)
}

func (p *parser) splitMods(s string) []string {
	if s == "" {
		return nil
	}
	n := strings.Count(s, ".") + 1
	if cap(p.strArena)-len(p.strArena) < n {
		p.strArena = make([]string, 0, 512+n)
	}
	start := len(p.strArena)
	for s != "" {
		m := s
		if i := strings.IndexByte(s, '.'); i >= 0 {
			m, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		if m != "" {
			p.strArena = append(p.strArena, m)
		}
	}
	return p.strArena[start:len(p.strArena):len(p.strArena)]
}

// operands reads the operand list.
func (p *parser) operands(in *isa.Inst, s string) bool {
	// A few instructions print the issue slot after their operands.
	if i := strings.LastIndex(s, "SLOT "); i >= 0 && i+6 >= len(s) {
		s = trim(s[:i])
	}
	if s == "" {
		return true
	}
	p.ops = splitOperands(s, p.ops[:0])
	n := len(p.ops)
	if n > maxOperands {
		return false
	}
	if cap(p.argArena)-len(p.argArena) < n {
		p.argArena = make([]isa.Operand, 0, 256+n)
	}
	start := len(p.argArena)
	good := true
	for _, t := range p.ops {
		o, ok := parseOperand(t)
		good = good && ok
		p.argArena = append(p.argArena, o)
	}
	in.Args = p.argArena[start:len(p.argArena):len(p.argArena)]
	return good
}
