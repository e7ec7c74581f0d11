package fakeptxas

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// inst is one statement of a kernel's body: an instruction, a label, or a
// directive. It is never changed, so that copies of a body can share it.
type inst struct {
	loc   string   // the line directive in force
	label string   // not "": a label, and nothing else
	guard string   // "@%p" or "@!%p", or ""
	op    string   // the mnemonic with all modifiers; "" for a directive
	args  []string // operands
	raw   string   // the text as it stood; "" if a pass made the instruction
	moved bool     // a pass has done its work on it
}

// body is what stands between the braces of an entry.
type body struct {
	sm    int // of the target
	code  []*inst
	fresh []string // declarations of registers that passes made
	a     *analysis
}

var (
	register   = regexp.MustCompile(`%[A-Za-z_][A-Za-z0-9_$]*`)
	labelStart = regexp.MustCompile(`^[A-Za-z_$%][A-Za-z0-9_$]*:$`)
	inBraces   = regexp.MustCompile(`^\{\s*\.reg[^;]*;\s*([^;{}]*(?:\{[^}]*\}[^;{}]*)?);\s*\}$`)
)

// parseBody reads the text between the braces of an entry.
func parseBody(text string) (*body, error) {
	b := &body{}
	loc, pending := "", ""
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "//")
		code = strings.TrimSpace(code)
		if pending != "" {
			code = pending + " " + code
		}
		switch {
		case code == "":
			continue
		case strings.HasPrefix(code, ".loc"):
			loc = code
			continue
		case labelStart.MatchString(code):
			b.code = append(b.code, &inst{label: strings.TrimSuffix(code, ":"), raw: line})
			continue
		case code == "{" || code == "}" || strings.HasPrefix(code, ".") && strings.HasSuffix(code, ";"):
			b.code = append(b.code, &inst{raw: "\t" + code + "\n"})
			pending = ""
			continue
		case !strings.HasSuffix(code, ";") && !strings.HasSuffix(code, "}"):
			pending = code
			continue
		}
		pending = ""
		in, err := parseInst(code)
		if err != nil {
			return nil, err
		}
		in.loc, in.raw = loc, "\t"+code+"\n"
		b.code = append(b.code, in)
	}
	if pending != "" {
		return nil, fmt.Errorf("%q does not end", pending)
	}
	return b, nil
}

// parseInst reads one instruction; one in braces of its own, with registers of
// its own, counts as that instruction.
func parseInst(code string) (*inst, error) {
	if m := inBraces.FindStringSubmatch(code); m != nil {
		code = m[1] + ";"
	}
	s := strings.TrimSpace(strings.TrimSuffix(code, ";"))
	if strings.ContainsAny(s, ";") {
		return nil, fmt.Errorf("several instructions in the line %q", code)
	}
	in := &inst{}
	if strings.HasPrefix(s, "@") {
		guard, rest, ok := strings.Cut(s, " ")
		if !ok {
			return nil, fmt.Errorf("no instruction behind the predicate of %q", code)
		}
		in.guard, s = guard, strings.TrimSpace(rest)
	}
	in.op = s
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		in.op, in.args = s[:i], splitArgs(s[i:])
	}
	return in, nil
}

// splitArgs splits operands at the commas outside of brackets and braces.
func splitArgs(s string) (out []string) {
	depth, at := 0, 0
	for i, c := range s {
		switch c {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth == 0 {
				out, at = append(out, strings.TrimSpace(s[at:i])), i+1
			}
		}
	}
	if s = strings.TrimSpace(s[at:]); s != "" {
		out = append(out, s)
	}
	return out
}

// String returns the body's text with the line directives where they are needed.
func (b *body) String() string {
	var w strings.Builder
	for _, d := range b.fresh {
		w.WriteString("\t" + d + "\n")
	}
	loc := ""
	for _, in := range b.code {
		if in.op != "" && in.loc != loc {
			loc = in.loc
			w.WriteString("\t" + loc + "\n")
		}
		w.WriteString(in.String())
	}
	return w.String()
}

func (in *inst) String() string {
	if in.raw != "" {
		return in.raw
	}
	if in.label != "" {
		return in.label + ":\n"
	}
	s := in.op
	if in.guard != "" {
		s = in.guard + " " + s
	}
	if len(in.args) > 0 {
		s += " " + strings.Join(in.args, ", ")
	}
	return "\t" + s + ";\n"
}

// name returns the operation without modifiers.
func (in *inst) name() string {
	n, _, _ := strings.Cut(in.op, ".")
	return n
}

// changed returns a copy that prints its fields.
func (in *inst) changed(f func(*inst)) *inst {
	out := *in
	out.raw, out.args = "", slices.Clone(in.args)
	f(&out)
	return &out
}

// pred returns the register of the predicate, "" without one.
func (in *inst) pred() string { return strings.TrimLeft(in.guard, "@!") }

// noResult are the operations that define no register.
var noResult = map[string]bool{"st": true, "red": true, "bra": true, "brx": true, "ret": true, "exit": true, "fence": true, "membar": true,
	"trap": true, "brkpt": true, "nanosleep": true, "prefetch": true, "prefetchu": true, "discard": true, "cp": true, "pmevent": true}

// defs lists the registers that an instruction may define.
func (in *inst) defs() []string {
	n := in.name()
	switch {
	case in.op == "" || len(in.args) == 0 || noResult[n]:
		return nil
	case n == "bar" || n == "barrier":
		if !strings.Contains(in.op, ".red.") {
			return nil
		}
	case n == "call":
		return register.FindAllString(strings.Join(in.args, " "), -1)
	}
	return register.FindAllString(in.args[0], -1)
}

// uses lists the registers whose value matters to an instruction: r xor r, r and
// 0, r times 0 use nothing.
func (in *inst) uses() []string {
	if in.op == "" {
		return nil
	}
	args := in.args
	if len(in.defs()) > 0 && in.name() != "call" || in.name() == "atom" {
		args = args[1:]
	}
	if in.annihilates() {
		args = nil
	}
	out := register.FindAllString(strings.Join(args, " "), -1)
	if in.guard != "" {
		out = append(out, in.pred())
	}
	return out
}

// annihilates reports whether the result of an instruction is 0 whatever its
// operands are.
func (in *inst) annihilates() bool {
	if len(in.args) != 3 {
		return false
	}
	switch in.name() {
	case "and", "mul":
		return in.args[1] == "0" || in.args[2] == "0"
	case "xor", "sub":
		return in.args[1] == in.args[2]
	}
	return false
}

// pure reports whether an instruction does nothing but define its results.
func (in *inst) pure() bool {
	switch n := in.name(); n {
	case "", "ldu", "atom", "bar", "barrier", "call":
		return false
	case "ld":
		return strings.HasPrefix(in.op, "ld.param")
	default:
		return !noResult[n]
	}
}

func (b *body) clone() *body {
	return &body{sm: b.sm, code: slices.Clone(b.code), fresh: slices.Clone(b.fresh), a: b.a}
}

// replace puts instructions in the place of number i.
func (b *body) replace(i int, by ...*inst) {
	b.code = slices.Insert(slices.Delete(slices.Clone(b.code), i, i+1), i, by...)
	b.a = nil
}

// insert puts instructions before number i.
func (b *body) insert(i int, these ...*inst) {
	b.code = slices.Insert(slices.Clone(b.code), i, these...)
	b.a = nil
}

// move takes instruction number from before number to.
func (b *body) move(from, to int) {
	in := b.code[from]
	b.code = slices.Delete(slices.Clone(b.code), from, from+1)
	if to > from {
		to--
	}
	b.code = slices.Insert(b.code, to, in)
	b.a = nil
}

// register declares a register of a type.
func (b *body) register(typ string) string {
	name := fmt.Sprintf("%%opt%d", len(b.fresh))
	b.fresh = append(b.fresh, fmt.Sprintf(".reg .%s %s;", typ, name))
	return name
}

// make builds an instruction that belongs to the line of another one.
func (in *inst) make(op string, args ...string) *inst {
	return &inst{loc: in.loc, guard: in.guard, op: op, args: args}
}
