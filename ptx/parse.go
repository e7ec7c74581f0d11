package ptx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

func errorAt(file string, pos Pos, format string, args ...any) error {
	return &Error{file, pos, fmt.Sprintf(format, args...)}
}

// Parse reads a module. The error is an *Error with the place.
func Parse(file string, src []byte) (*Module, error) { return parsePart(file, src, 0, 0) }

// Outline reads a module without what stands in the bodies of its functions, whatever it is: to take it apart.
func Outline(file string, src []byte) (*Module, error) {
	p, err := newParser(file, src, 0, 0)
	if err != nil {
		return nil, err
	}
	p.outline = true
	return p.read()
}

// parsePart reads a part of a file that has so many lines in front of it.
func parsePart(file string, src []byte, before, part int) (*Module, error) {
	p, err := newParser(file, src, before, part)
	if err != nil {
		return nil, err
	}
	return p.read()
}

func newParser(file string, src []byte, before, part int) (*parser, error) {
	if len(src) > MaxInput {
		return nil, tooLarge(file, src)
	}
	l, err := newLexer(file, src, before)
	if err != nil {
		return nil, err
	}
	return &parser{l: l, m: &Module{File: file, Part: part, src: src, before: before},
		locs: &locs{files: map[int]string{}, inlined: map[locKey]locKey{}, of: map[*Inst]locKey{}}}, nil
}

// read reads a module.
func (p *parser) read() (*Module, error) {
	if err := p.module(); err != nil {
		return nil, err
	}
	p.locs.resolve()
	p.m.index()
	return p.m, nil
}

func tooLarge(file string, src []byte) error {
	return errorAt(file, Pos{1, 1}, "%d bytes: more than the %d that a module may have", len(src), MaxInput)
}

type parser struct {
	l    *lexer
	m    *Module
	regs int // of all functions
	// outline tells that bodies are not read.
	outline bool
	*locs
}

// module reads the directives of the top level.
func (p *parser) module() error {
	for p.l.peek() != 0 {
		start := p.l.at
		if err := p.top(start); err != nil {
			return err
		}
		if p.m.Version == "" {
			return p.l.errorf(start, "a PTX module begins with .version")
		}
	}
	if p.m.Version == "" || p.m.Target == "" {
		return p.l.errorf(0, "no PTX: there is no .version and .target")
	}
	return nil
}

func (p *parser) top(start int) error {
	l := p.l
	if l.src[l.at] == '@' { // @@DWARF of the first versions
		l.line()
		p.cut(start)
		return nil
	}
	if l.src[l.at] != '.' {
		return l.errorf(start, "%.30q: a directive is expected here", firstLine(l.src[start:]))
	}
	l.at++
	switch w := l.word(); w {
	case "version":
		l.space()
		from := l.at
		for l.at < len(l.src) && (l.src[l.at] == '.' || l.src[l.at] >= '0' && l.src[l.at] <= '9') {
			l.at++
		}
		p.m.Version, p.m.version, p.m.head = string(l.src[from:l.at]), span{from, l.at}, l.at
		if v := versionWord.FindStringSubmatch(p.m.Version); v == nil {
			return l.errorf(start, "no version of PTX: %.20q", firstLine(l.src[from:]))
		} else if major, err := strconv.Atoi(v[1]); err != nil || major > maxMajor {
			return l.errorf(start, "PTX %s is not known, only 1.0 to %d.x: its instructions may mean something else", clip(p.m.Version), maxMajor)
		}
	case "target":
		l.space()
		p.m.Target = l.word()
		from := l.at
		l.line()
		rest := string(l.src[from:l.at])
		if strings.Contains(rest, "debug") { // what it debugs goes
			p.m.target = span{from, l.at}
		}
		p.m.head = l.at
		if p.m.target == (span{}) {
			p.m.target = span{l.at, l.at}
		}
	case "address_size":
		l.line()
		p.m.head = l.at
	case "file", "loc":
		l.line()
		p.locs.read(string(l.src[start:l.at]))
		p.cut(start)
	case "include":
		return l.errorf(start, ".include: a module is one file")
	case "section":
		if _, err := l.until("{"); err != nil {
			return err
		}
		l.at++
		if _, err := l.until("}"); err != nil {
			return err
		}
		l.at++
		p.cut(start)
	default:
		l.at = start
		return p.declaration()
	}
	return nil
}

func (p *parser) cut(from int) { p.m.cuts = append(p.m.cuts, span{from, p.l.at}) }

func firstLine(b []byte) string {
	s, _, _ := strings.Cut(string(b[:min(len(b), 80)]), "\n")
	return strings.TrimSpace(s)
}

// maxMajor is the newest major version of PTX whose instructions this package knows.
const maxMajor = 9

var (
	versionWord  = regexp.MustCompile(`^(\d+)\.(\d+)$`)
	functionWord = regexp.MustCompile(`\.(entry|func)\b`)
	// bareEnd finds what follows a prototype without a semicolon, which nvopencc wrote and ptxas reads.
	bareEnd = regexp.MustCompile(`\)\s*(\.(?:visible|extern|weak|func|entry|file|loc|global|const|section)\b)`)
	linkage = regexp.MustCompile(`^\s*\.(visible|extern|weak|common)\b`)
)

// declaration reads a variable, a prototype or a function.
func (p *parser) declaration() error {
	l := p.l
	start := l.at
	text, err := l.until(";{=")
	if err != nil {
		return err
	}
	if at := functionWord.FindStringIndex(text); at != nil {
		end := bareEnd.FindStringSubmatchIndex(text)
		if end != nil {
			text, l.at = text[:end[2]], start+end[2]
		}
		f, err := p.signature(text, start, at[1])
		if err != nil {
			return err
		}
		if l.src[l.at] != '{' {
			if end == nil {
				l.at++
			}
			p.m.Prototypes = append(p.m.Prototypes, Prototype{f.Name, span{start, l.at}})
			return nil
		}
		f.all.from = start
		p.m.Funcs = append(p.m.Funcs, f)
		p.locs.now = locKey{}
		if p.outline {
			l.at++
			if _, err := l.until("}"); err != nil {
				return err
			}
			l.at++
			f.all.to = l.at
			return nil
		}
		b := &body{parser: p, f: f, global: map[string]bool{}}
		return b.read()
	}
	if l.src[l.at] != ';' {
		if _, err := l.until(";"); err != nil {
			return err
		}
	}
	l.at++
	m := linkage.FindStringSubmatch(text)
	if space := variableSpace(text); space != "" {
		for _, v := range declared(variables(string(l.src[start:l.at-1]), space), span{start, l.at}) {
			v.Extern = m != nil && m[1] == "extern"
			p.m.Vars = append(p.m.Vars, v)
		}
	}
	return nil
}

// signature reads what stands before a body.
func (p *parser) signature(text string, start, at int) (*Func, error) {
	fn := &Func{Entry: strings.HasSuffix(text[:at], "entry"), Pos: p.l.pos(start)}
	if m := linkage.FindStringSubmatch(text); m != nil {
		fn.Visible = m[1] != "extern"
	}
	s := &lexer{file: p.l.file, src: []byte(text), at: at, lines: []int{0}}
	list := func() ([]Var, error) {
		s.at++
		from := start + s.at
		inner, err := s.until(")")
		if err != nil {
			return nil, p.l.errorf(start, "a list of parameters that does not end")
		}
		s.at++
		return params(inner, from), nil
	}
	var err error
	if !fn.Entry && s.peek() == '(' {
		if fn.Returns, err = list(); err != nil {
			return nil, err
		}
	}
	s.space()
	if fn.Name = s.word(); fn.Name == "" {
		return nil, p.l.errorf(start, "a function without a name")
	}
	if s.peek() == '(' {
		if fn.Params, err = list(); err != nil {
			return nil, err
		}
		fn.list = start + s.at - 1
	}
	return fn, nil
}

var (
	spaceWord = regexp.MustCompile(`\.(global|shared|const|local|param|tex|reg)\b`)
	typeWord  = regexp.MustCompile(`\.(?:([bsuf])(8|16|32|64|128)|(pred)|(texref|samplerref|surfref)|(f16x2|bf16|bf16x2|tf32|e4m3|e5m2))\b`)
	alignWord = regexp.MustCompile(`\.align\s+(\d+)`)
	ptrWord   = regexp.MustCompile(`^\s*\.ptr\b(\s*\.(global|shared|const|local)\b)?(\s*\.align\s+\d+)?`)
	arrayDim  = regexp.MustCompile(`\[\s*(\w*)\s*\]`)
	nameWord  = regexp.MustCompile(`^\s*([\w$%]+)\s*(?:<\s*(\d+)\s*>)?((?:\s*\[\s*\w*\s*\])*)`)
)

func variableSpace(text string) string {
	if m := spaceWord.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// otherWidths are those of types whose names do not end with it.
var otherWidths = map[string]int64{"f16x2": 4, "bf16": 2, "bf16x2": 4, "tf32": 4, "e4m3": 1, "e5m2": 1}

// width is the size of a type in bytes, 8 for references.
func width(text string) int64 {
	m := typeWord.FindStringSubmatch(text)
	switch {
	case m == nil || m[3] != "" || m[4] != "":
		return 8
	case m[5] != "":
		return otherWidths[m[5]]
	}
	n, _ := strconv.ParseInt(m[2], 10, 64)
	return n / 8
}

// largest is what greater sizes and alignments are read as: no program has as much, and sums of two are numbers.
const largest = 1 << 44

// variables reads the names behind the last word that begins with a dot.
func variables(text, space string) (out []Var) {
	head, init := text, span{}
	if i := strings.IndexByte(text, '='); i >= 0 {
		head, init = text[:i], span{i + 1, len(text)}
	}
	last := typeWord.FindAllStringIndex(head, -1)
	if last == nil {
		return nil
	}
	from, at := last[len(last)-1][0], last[len(last)-1][1]
	size := width(head[from:])
	if strings.Contains(head, ".v2") {
		size *= 2
	} else if strings.Contains(head, ".v4") {
		size *= 4
	}
	align := size
	if m := alignWord.FindStringSubmatch(head); m != nil && !strings.Contains(head, ".ptr") {
		align, _ = strconv.ParseInt(m[1], 10, 64)
		align = min(align, largest)
	}
	for _, one := range strings.Split(head[at:], ",") {
		one = one[len(ptrWord.FindString(one)):]
		m := nameWord.FindStringSubmatch(one)
		if m == nil {
			continue
		}
		v := Var{Name: m[1], Space: space, Type: head[from+1 : at], Size: size, Align: align}
		for _, d := range arrayDim.FindAllStringSubmatch(m[3], -1) {
			n, _ := strconv.ParseInt(d[1], 0, 64)
			if n > largest/max(v.Size, 1) {
				v.Size, n = largest, 1
			}
			v.Size *= n
		}
		out = append(out, v)
	}
	if len(out) > 0 {
		out[len(out)-1].init = init
	}
	return out
}

// declared gives variables the place of their declaration.
func declared(list []Var, at span) []Var {
	for i := range list {
		list[i].decl = at
		if v := &list[i]; v.init.to > 0 {
			v.init = span{v.init.from + at.from, v.init.to + at.from}
		}
	}
	return list
}

// params reads a list of parameters, which stands somewhere, and lays them out.
func params(text string, from int) (out []Var) {
	var at int64
	for _, one := range strings.Split(text, ",") {
		space := "param"
		if variableSpace(one) == "reg" {
			space = "reg"
		}
		vs := declared(variables(one, space), span{from, from + len(one)})
		from += len(one) + 1
		if len(vs) == 0 {
			continue
		}
		v := vs[0]
		if v.Align > 0 {
			at = (at + v.Align - 1) / v.Align * v.Align
		}
		v.Offset = at
		at = min(at+v.Size, largest)
		out = append(out, v)
	}
	return out
}
