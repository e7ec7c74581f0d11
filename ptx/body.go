package ptx

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// body reads the statements of a function.
type body struct {
	*parser
	f      *Func
	global map[string]bool
	scopes []scope
	made   int // labels of blocks so far
}

// scope has the names of a block.
type scope struct {
	regs   map[string]int
	ranges []regRange // %r<31>
	labels map[string]string
	vars   map[string]int // numbers in Func.Vars, from 1; 0 for parameters
	from   int            // where its statements begin
}

type regRange struct {
	prefix string
	first  int // of Func.Regs
	n      int
}

// Bounds of a module: of registers, of blocks in blocks, of brackets in brackets.
const (
	maxRegs     = 1 << 21
	maxNested   = 200
	maxBrackets = 8
)

// read reads the body from its opening brace on.
func (b *body) read() error {
	l := b.l
	start := l.at
	for {
		c := l.peek()
		switch {
		case c == 0:
			return l.errorf(start, "the file ends inside of the function %s; is it cut off?", b.f.Name)
		case c == '{':
			l.at++
			if len(b.scopes) == 0 {
				b.f.open = l.at
			} else if len(b.scopes) > maxNested {
				return l.errorf(l.at-1, "blocks are nested more than %d deep", maxNested)
			}
			b.enter()
		case c == '}':
			l.at++
			b.leave()
			if len(b.scopes) == 0 {
				b.f.all.to = l.at
				return nil
			}
		case c == ';':
			l.at++
		case c == '.':
			if err := b.directive(); err != nil {
				return err
			}
		default:
			if err := b.statement(); err != nil {
				return err
			}
		}
	}
}

// enter begins a block. That of the function has its parameters, those that are registers as its first ones.
func (b *body) enter() {
	s := scope{regs: map[string]int{}, labels: map[string]string{}, vars: map[string]int{}, from: len(b.f.Body)}
	if len(b.scopes) == 0 {
		for _, v := range slices.Concat(b.f.Params, b.f.Returns) {
			if v.Space == "reg" {
				s.regs[v.Name] = len(b.f.Regs)
				b.f.Regs = append(b.f.Regs, Register{v.Name, v.Type})
				b.regs++
			} else {
				s.vars[v.Name] = 0
			}
		}
	}
	b.scopes = append(b.scopes, s)
}

// declare notes the variables of a block.
func (b *body) declare(list []Var) {
	for _, v := range list {
		b.f.Vars = append(b.f.Vars, v)
		b.scopes[len(b.scopes)-1].vars[v.Name] = len(b.f.Vars)
	}
}

// variable is the number of the variable that a name stands for, 0 if it is none of the function's blocks.
func (b *body) variable(name string) int {
	for _, s := range slices.Backward(b.scopes) {
		if n, ok := s.vars[name]; ok {
			return n
		}
	}
	return 0
}

// leave ends a block: the names of its labels are made the function's, since a
// jump may stand before its label.
func (b *body) leave() {
	s := b.scopes[len(b.scopes)-1]
	b.scopes = b.scopes[:len(b.scopes)-1]
	if len(b.scopes) == 0 || len(s.labels) == 0 {
		return
	}
	own := func(name string) string {
		if to, ok := s.labels[name]; ok {
			return to
		}
		return name
	}
	for i := s.from; i < len(b.f.Body); i++ {
		st := &b.f.Body[i]
		st.Name = own(st.Name)
		for k := range st.Labels {
			st.Labels[k] = own(st.Labels[k])
		}
		if st.Inst != nil && (st.Inst.Name == "bra" || st.Inst.Name == "brx" || st.Inst.Name == "call") {
			for k := range st.Inst.Args {
				if a := &st.Inst.Args[k]; a.Kind == Sym {
					a.Name = own(a.Name)
				}
			}
		}
	}
}

func (b *body) label(name string) string {
	s := &b.scopes[len(b.scopes)-1]
	if len(b.scopes) > 1 {
		b.made++
		s.labels[name] = fmt.Sprintf("%s@%d", name, b.made)
	}
	return name
}

func (b *body) directive() error {
	l := b.l
	start := l.at
	l.at++
	w := l.word()
	switch w {
	case "loc", "file":
		l.line()
		b.locs.read(string(l.src[start:l.at]))
		b.cut(start)
		return nil
	case "pragma", "reg", "shared", "local", "param", "global", "const", "branchtargets", "calltargets", "callprototype", "align":
	default:
		return l.errorf(start, "unknown directive .%s in a function", w)
	}
	text, err := l.until(";")
	if err != nil {
		return err
	}
	l.at++
	switch w {
	case "reg":
		return b.registers(text, start)
	case "shared", "local", "param", "global", "const":
		b.declare(declared(variables("."+w+text, w), span{start, l.at}))
	case "branchtargets", "calltargets", "callprototype":
		if n := len(b.f.Body); n > 0 && b.f.Body[n-1].Kind == StmtLabel {
			st := &b.f.Body[n-1]
			st.Kind = StmtTable
			if w == "callprototype" {
				st.Kind = StmtProto
				return nil
			}
			for _, t := range strings.Split(text, ",") {
				st.Labels = append(st.Labels, strings.TrimSpace(t))
			}
		}
	}
	return nil
}

var trailingNumber = regexp.MustCompile(`^(.*?)(0|[1-9]\d*)$`)

func (b *body) registers(text string, at int) error {
	m := typeWord.FindStringIndex(text)
	if m == nil {
		return b.l.errorf(at, "a declaration of registers without a type")
	}
	typ := strings.TrimPrefix(text[m[0]:m[1]], ".")
	s := &b.scopes[len(b.scopes)-1]
	for _, one := range strings.Split(text[m[1]:], ",") {
		w := nameWord.FindStringSubmatch(one)
		if w == nil {
			return b.l.errorf(at, "a declaration of registers without a name")
		}
		n := 1
		if w[2] != "" {
			n, _ = strconv.Atoi(w[2])
			s.ranges = append(s.ranges, regRange{w[1], len(b.f.Regs), n})
		} else {
			s.regs[w[1]] = len(b.f.Regs)
		}
		if b.regs += n; n < 0 || n > maxRegs || b.regs > maxRegs {
			return b.l.errorf(at, "more than %d registers", maxRegs)
		}
		name := w[1]
		if w[2] != "" {
			name = "" // made when it is asked for
		}
		b.f.Regs = append(b.f.Regs, slices.Repeat([]Register{{name, typ}}, n)...)
	}
	return nil
}

// reg finds the register of a name in the scopes.
func (b *body) reg(name string) (int, bool) {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if r, ok := b.scopes[i].regs[name]; ok {
			return r, true
		}
		if m := trailingNumber.FindStringSubmatch(name); m != nil {
			for _, g := range b.scopes[i].ranges {
				if n, err := strconv.Atoi(m[2]); err == nil && g.prefix == m[1] && n < g.n {
					b.f.Regs[g.first+n].Name = name
					return g.first + n, true
				}
			}
			// the prefix may itself end with digits
			for _, g := range b.scopes[i].ranges {
				if rest, ok := strings.CutPrefix(name, g.prefix); ok {
					if n, err := strconv.Atoi(rest); err == nil && n >= 0 && n < g.n {
						b.f.Regs[g.first+n].Name = name
						return g.first + n, true
					}
				}
			}
		}
	}
	return 0, false
}

var labelWord = regexp.MustCompile(`^([\w$%]+)\s*:[^:]`)

// statement reads a label or an instruction.
func (b *body) statement() error {
	l := b.l
	start := l.at
	if m := labelWord.FindSubmatch(l.src[start:min(len(l.src), start+4096)]); m != nil {
		l.at = start + strings.IndexByte(string(l.src[start:min(len(l.src), start+4096)]), ':') + 1
		b.f.Body = append(b.f.Body, Stmt{Kind: StmtLabel, Name: b.label(string(m[1]))})
		return nil
	}
	text, err := l.until(";")
	if err != nil {
		return err
	}
	l.at++
	in, err := b.inst(text, start)
	if err != nil {
		return err
	}
	b.m.Insts++
	in.N, in.end = b.m.Insts, l.at
	b.locs.at(in)
	b.f.Body = append(b.f.Body, Stmt{Kind: StmtInst, Inst: in})
	return nil
}

var blanks = regexp.MustCompile(`\s+`)

func (b *body) inst(text string, start int) (*Inst, error) {
	in := &Inst{Pos: b.l.pos(start), Guard: -1, offset: start, Text: blanks.ReplaceAllString(strings.TrimSpace(text), " ")}
	rest := in.Text
	if g, ok := strings.CutPrefix(rest, "@"); ok {
		g = strings.TrimSpace(g)
		if g, in.Neg = strings.CutPrefix(g, "!"); in.Neg {
			g = strings.TrimSpace(g)
		}
		name, after, _ := strings.Cut(g, " ")
		r, known := b.reg(name)
		if !known {
			return nil, b.l.errorf(start, "the predicate %s is not declared", name)
		}
		in.Guard, rest = r, strings.TrimSpace(after)
	}
	end := 0
	for end < len(rest) && (isWord(rest[end]) && rest[end] != '%' || rest[end] == '.' || rest[end] == ':') {
		end++
	}
	in.Op = strings.TrimRight(rest[:end], ".:")
	words := strings.Split(in.Op, ".")
	in.Name, in.Mods = words[0], words[1:]
	if !known(in.Name) {
		return nil, b.l.errorf(start, "unknown instruction %q", clip(in.Op))
	}
	if nested(rest[end:]) {
		return nil, b.l.errorf(start, "%s: brackets in brackets", clip(in.Op))
	}
	for _, a := range split(rest[end:], ',') {
		o, err := b.operand(a)
		if err != nil {
			return nil, b.l.errorf(start, "%s: %v", clip(in.Op), err)
		}
		in.Args = append(in.Args, o)
	}
	if n := least[in.Name]; len(in.Args) < n {
		return nil, b.l.errorf(start, "%s: %d operands, it has at least %d", clip(in.Op), len(in.Args), n)
	} else if (in.Name == "ld" || in.Name == "ldu") && in.Args[1].Kind != Mem {
		return nil, b.l.errorf(start, "%s: an address is expected in brackets", clip(in.Op))
	}
	return in, nil
}

// least are the operands without which an instruction has no meaning, where it matters.
var least = map[string]int{"bra": 1, "brx": 2, "call": 1, "ld": 2, "ldu": 2}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// nested reports whether brackets stand in brackets deeper than an operand has them.
func nested(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth > maxBrackets {
			return true
		}
	}
	return false
}

// split cuts at a byte outside of brackets.
func split(s string, sep byte) (out []string) {
	depth, at := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == sep && depth == 0:
			out, at = append(out, strings.TrimSpace(s[at:i])), i+1
		}
	}
	if s = strings.TrimSpace(s[at:]); s != "" {
		out = append(out, s)
	}
	return out
}

func (b *body) operands(s string) ([]Operand, error) {
	var out []Operand
	for _, one := range split(s, ',') {
		o, err := b.operand(one)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func (b *body) operand(s string) (o Operand, err error) {
	if s == "" {
		return Operand{Kind: Text}, nil
	}
	inside := func(open, end byte) (string, bool) {
		if s[0] != open || s[len(s)-1] != end || len(s) < 2 {
			return "", false
		}
		return strings.TrimSpace(s[1 : len(s)-1]), true
	}
	if in, ok := inside('[', ']'); ok {
		return b.address(in)
	}
	if in, ok := inside('{', '}'); ok {
		o.Kind = Vec
		o.Elems, err = b.operands(in)
		return o, err
	}
	if in, ok := inside('(', ')'); ok {
		o.Kind = List
		o.Elems, err = b.operands(in)
		return o, err
	}
	if parts := split(s, '|'); len(parts) == 2 {
		o.Kind = Pair
		o.Elems, err = b.operands(parts[0] + "," + parts[1])
		return o, err
	}
	if s == "_" {
		return Operand{Kind: Sink}, nil
	}
	if v, ok := number(s); ok {
		return Operand{Kind: Imm, Value: v}, nil
	}
	if v, bits, ok := float(s); ok {
		return Operand{Kind: Imm, Value: v, Float: bits}, nil
	}
	name := s
	switch s[0] {
	case '!', '-':
		name = strings.TrimSpace(s[1:])
		o.Neg = true
	}
	if r, ok := b.reg(name); ok {
		return Operand{Kind: Reg, Reg: r, Neg: o.Neg}, nil
	}
	base, part, _ := strings.Cut(name, ".") // r.x, r.b0
	if r, ok := b.reg(base); ok && part != "" {
		return Operand{Kind: Reg, Reg: r, Neg: o.Neg, Name: part}, nil
	}
	for i := 0; i < len(name); i++ {
		if !isWord(name[i]) && name[i] != '.' {
			return b.sum(s)
		}
	}
	return Operand{Kind: Sym, Reg: b.variable(name), Name: name, Neg: o.Neg}, nil
}

// sum reads a variable plus a number, and keeps what else there is as text, with
// its registers.
func (b *body) sum(s string) (Operand, error) {
	if i := strings.LastIndexAny(s, "+-"); i > 0 {
		if v, ok := number(strings.TrimSpace(s[i+1:])); ok {
			if s[i] == '-' {
				v = -v
			}
			o, err := b.operand(strings.TrimSpace(s[:i]))
			o.Value += v
			return o, err
		}
		if v, ok := number(strings.TrimSpace(s[i:])); ok && s[i] == '-' {
			o, err := b.operand(strings.TrimSpace(strings.TrimRight(s[:i], " +")))
			o.Value += v
			return o, err
		}
	}
	return Operand{Kind: Text, Name: s}, nil
}

// address reads what stands in brackets: base, base+offset, or a base with
// coordinates.
func (b *body) address(s string) (Operand, error) {
	o := Operand{Kind: Mem}
	parts := split(s, ',')
	if len(parts) == 0 {
		return o, fmt.Errorf("an empty address")
	}
	base := parts[0]
	if i := strings.LastIndexByte(base, '+'); i > 0 {
		if v, ok := number(strings.TrimSpace(base[i+1:])); ok {
			o.Value, base = v, strings.TrimSpace(base[:i])
		}
	} else if i := strings.LastIndexByte(base, '-'); i > 0 {
		if v, ok := number(strings.TrimSpace(base[i+1:])); ok {
			o.Value, base = -v, strings.TrimSpace(base[:i])
		}
	}
	elems, err := b.operands(strings.Join(append([]string{base}, parts[1:]...), ","))
	if err != nil {
		return o, err
	}
	if o.Elems = elems; len(elems) == 0 {
		return o, fmt.Errorf("an address without a base")
	}
	if e := &o.Elems[0]; e.Kind == Sym || e.Kind == Reg {
		o.Value += e.Value
		e.Value = 0
	}
	return o, nil
}

// number reads an integer: PTX ISA 4.5.1.
func number(s string) (int64, bool) {
	t := strings.TrimPrefix(s, "-")
	if t == "" || t[0] < '0' || t[0] > '9' {
		return 0, false
	}
	v, err := strconv.ParseUint(strings.TrimRight(t, "U"), 0, 64)
	if s[0] == '-' {
		v = -v
	}
	return int64(v), err == nil
}

// float reads a floating-point number, and gives its bits and how many they are: PTX ISA 4.5.2.
func float(s string) (int64, int, bool) {
	t := strings.TrimPrefix(s, "-")
	if t == "" || t[0] < '0' || t[0] > '9' {
		return 0, 0, false
	}
	var v uint64
	var err error
	bits := 64
	switch {
	case len(t) != len(s) && strings.ContainsAny(t[:min(2, len(t))], "fFdD"):
		return 0, 0, false // hexadecimal ones have no sign in front
	case len(t) == 10 && (t[:2] == "0f" || t[:2] == "0F"):
		bits = 32
		v, err = strconv.ParseUint(t[2:], 16, 32)
	case len(t) == 18 && (t[:2] == "0d" || t[:2] == "0D"):
		v, err = strconv.ParseUint(t[2:], 16, 64)
	case !strings.ContainsAny(t, ".eE") || strings.ContainsAny(t, "xX_"):
		return 0, 0, false
	default:
		var f float64
		f, err = strconv.ParseFloat(t, 64)
		v = math.Float64bits(f)
	}
	if s[0] == '-' {
		v ^= 1 << (bits - 1)
	}
	return int64(v), bits, err == nil
}
