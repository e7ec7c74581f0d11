package cat

import (
	"crypto/sha256"
	"errors"
	"strings"
)

// Limits on what one model may pull in.
const (
	maxIncludes = 400
	maxNesting  = 40 // files including files
)

// Loader finds the text of an included file. name is what the include says,
// from the path of the including file. It returns the path by which errors
// speak of the file; a path identifies a file.
type Loader func(name, from string) (path, src string, err error)

// Parse reads a model. file is the name for messages and, for the loader, the
// place of the model; a nil loader makes every include an error. The error, if
// any, is an *Error with the place of the first problem.
func Parse(file, src string, loader Loader) (*File, error) {
	in := &includer{loader: loader}
	return in.parse(file, src)
}

// includer resolves the includes of one model.
type includer struct {
	loader Loader
	stack  []string // files being read, outermost first
	count  int
	done   map[string]*File
}

func (in *includer) parse(path, src string) (*File, error) {
	toks, err := lex(path, src)
	if err != nil {
		return nil, err
	}
	in.stack = append(in.stack, path)
	defer func() { in.stack = in.stack[:len(in.stack)-1] }()
	p := &parser{toks: toks, in: in}
	f := &File{Path: path, Sum: sha256.Sum256([]byte(src))}
	err = catch(func() { p.file(f) })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// resolve reads the included file of s.
func (in *includer) resolve(s *IncludeStmt) (*File, error) {
	from := in.stack[len(in.stack)-1]
	if in.loader == nil {
		return nil, errorf(s.Pos, "include %q: no includes here", s.Path)
	}
	path, src, err := in.loader(s.Path, from)
	if err != nil {
		return nil, &Error{Pos: s.Pos, Msg: "include \"" + s.Path + "\"", Err: err}
	}
	for i, open := range in.stack {
		if open == path {
			chain := strings.Join(append(append([]string{}, in.stack[i:]...), path), " -> ")
			return nil, &Error{Pos: s.Pos, Msg: "circular include: " + chain, Err: errCircular}
		}
	}
	if f := in.done[path]; f != nil {
		return f, nil
	}
	if in.count++; in.count > maxIncludes || len(in.stack) >= maxNesting {
		return nil, errorf(s.Pos, "include %q: too many included files", s.Path)
	}
	f, err := in.parse(path, src)
	if err != nil {
		return nil, err
	}
	if in.done == nil {
		in.done = map[string]*File{}
	}
	in.done[path] = f
	return f, nil
}

var errCircular = errors.New("files may not include each other in a circle")

// parser is a recursive-descent parser; errors travel as panics of type
// *Error within the package and are caught by catch.
type parser struct {
	toks  []token
	i     int
	depth int
	in    *includer
	soft  int // > 0 inside an if between statements: a missing include is remembered
}

func (p *parser) fail(pos Pos, format string, args ...any) { panic(errorf(pos, format, args...)) }

// enter counts nesting; use as defer p.enter()().
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.tok().pos, "nested more than %d deep", maxDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) tok() token { return p.toks[p.i] }

func (p *parser) peek(k int) token {
	if p.i+k >= len(p.toks) {
		return p.toks[len(p.toks)-1]
	}
	return p.toks[p.i+k]
}

func (p *parser) advance() token {
	t := p.toks[p.i]
	if t.kind != tEOF {
		p.i++
	}
	return t
}

// is reports whether the next token is the keyword or symbol s.
func (p *parser) is(s string) bool { return p.peekIs(0, s) }

func (p *parser) peekIs(k int, s string) bool {
	t := p.peek(k)
	return (t.kind == tKeyword || t.kind == tPunct) && t.text == s
}

func (p *parser) accept(s string) bool {
	if p.is(s) {
		p.i++
		return true
	}
	return false
}

func (p *parser) expect(s, where string) token {
	if !p.is(s) {
		p.fail(p.tok().pos, "expected %q %s, found %s", s, where, p.tok().describe())
	}
	return p.advance()
}

// name reads a name.
func (p *parser) name(what string) Ident {
	t := p.tok()
	if t.kind != tVar {
		p.fail(t.pos, "expected %s, found %s", what, t.describe())
	}
	p.i++
	return Ident{t.pos, t.text}
}

// pat0 reads a name or "_".
func (p *parser) pat0(what string) Ident {
	if p.is("_") {
		return Ident{p.advance().pos, "_"}
	}
	return p.name(what)
}

func (p *parser) file(f *File) {
	p.header(f)
	f.Body = p.stmts()
	if t := p.tok(); t.kind != tEOF {
		p.fail(t.pos, "expected an instruction, found %s", t.describe())
	}
}

// header reads the optional first line: a word and a word or string, or one
// of them, and the keyword catdep.
func (p *parser) header(f *File) {
	if p.tok().kind == tVar {
		f.Header = p.advance().text
		f.Name = f.Header
	}
	if k := p.tok().kind; k == tVar || k == tString {
		f.Name = p.advance().text
	}
	f.CatDep = p.accept("catdep")
}
