package litmus

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"optcheck/internal/input"
)

// Limits of Parse: it rejects a test beyond them, so that hostile files cost bounded time and
// memory.
const (
	MaxFileBytes = 4 << 20
	MaxThreads   = 64
	MaxNames     = 512   // locations of a test, and registers of a thread
	MaxInstrs    = 65536 // of a test
	maxDepth     = 200   // of nested conditions
	maxTerms     = 16384 // of condition and locations clause together
	maxErrors    = 10    // reported for one file
)

// parser holds the state of one Parse call.
type parser struct {
	lexer
	file    string
	t       *Test
	errs    ErrorList
	initial []bool // Locations[i] was initialised explicitly
	placed  bool   // a scope tree was seen
	instrs  int
	terms   int
	loose   bool             // a name was taken for a register without a declaration
	ops     []Operand        // arena of source operands
	cluster [MaxThreads]bool // the thread's place names a cluster
}

// ParseFile reads and parses the file. It rejects files larger than MaxFileBytes.
func ParseFile(path string) (*Test, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := fileBuffers.Get().(*bytes.Buffer)
	defer fileBuffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(io.LimitReader(f, MaxFileBytes+1)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return Parse(path, buf.Bytes()) // which keeps nothing of it
}

// fileBuffers holds memory for the text of files: tests come by the thousand.
var fileBuffers = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, 8<<10)) }}

// Parse parses a test; the header says which dialect it is in. The file name is only used in
// positions. Faults are returned as *Error or, if there are several, as ErrorList, and then the
// test is nil. Parse accepts what is unambiguous and consists of instructions that the dialect
// has; Check decides whether the test makes sense.
func Parse(file string, src []byte) (*Test, error) {
	p := &parser{file: file, t: &Test{}}
	p.line = 1
	if len(src) > MaxFileBytes {
		p.errorf(Pos{File: file, Line: 1, Col: 1}, "file of %d bytes is larger than %d", len(src), MaxFileBytes)
		return nil, p.errs.err()
	}
	p.src = strings.TrimPrefix(string(src), "\ufeff") // a byte-order mark has no meaning in UTF-8
	if p.header() && p.preamble() && p.init() && p.table() {
		p.tail()
		p.destinations()
	}
	if err := p.errs.err(); err != nil {
		return nil, err
	}
	p.finish()
	return p.t, nil
}

// errorf records an error and returns false.
func (p *parser) errorf(pos Pos, format string, args ...any) bool {
	if len(p.errs) < maxErrors {
		p.errs = append(p.errs, &Error{pos, fmt.Sprintf(format, args...)})
	} else if len(p.errs) == maxErrors {
		p.errs = append(p.errs, &Error{pos, "too many errors"})
	}
	return false
}

// full reports whether there are so many errors that parsing should stop.
func (p *parser) full() bool { return len(p.errs) > maxErrors }

func (p *parser) pos() Pos { return Pos{p.file, p.tok.line, p.tok.col} }

// next moves to the next token.
func (p *parser) next() {
	if open, line, col := p.skip(); open {
		p.errorf(Pos{p.file, line, col}, "comment is not closed")
	}
	p.scan()
}

// found names the current token in messages.
func (p *parser) found() string {
	switch p.tok.kind {
	case tEOF:
		return "end of file"
	case tBad:
		return fmt.Sprintf("character %q", p.tok.text)
	}
	s := p.tok.text
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// expect consumes a token of a kind.
func (p *parser) expect(kind byte, what string) bool {
	if p.tok.kind != kind {
		return p.errorf(p.pos(), "expected %s, found %s", what, p.found())
	}
	p.next()
	return true
}

// accept consumes a token of a kind if it is next.
func (p *parser) accept(kind byte) bool {
	if p.tok.kind != kind {
		return false
	}
	p.next()
	return true
}

// header reads the first line: dialect and name.
func (p *parser) header() bool {
	p.next()
	switch {
	case p.tok.kind == tWord && p.tok.text == "GPU_PTX":
		p.t.Dialect = GPUPTX
	case p.tok.kind == tWord && (p.tok.text == "PTX" || p.tok.text == "ptx"):
		p.t.Dialect = PTX
	case p.tok.kind == tWord && p.tok.text == "GPU_OPENCL":
		p.t.Dialect = OpenCL
	default:
		return p.errorf(p.pos(), "expected header GPU_PTX, PTX or GPU_OPENCL, found %s", p.found())
	}
	for p.off < len(p.src) && (p.src[p.off] == ' ' || p.src[p.off] == '\t') {
		p.off++
	}
	begin := p.off
	pos := Pos{p.file, p.line, begin - p.start + 1}
	for p.off < len(p.src) && nameByte(p.src[p.off]) {
		p.off++
	}
	p.t.Name = p.src[begin:p.off]
	if p.t.Name == "" {
		return p.errorf(pos, "expected the test's name behind %s", p.tok.text)
	}
	return true
}

// nameByte reports whether c is allowed in a test's name. A name often becomes a file's name,
// so it contains no path separators.
func nameByte(c byte) bool {
	return chars[c]&chWord != 0 || strings.IndexByte("+-=@[]:,~#^&!'", c) >= 0
}

// preamble reads the doc string and Key=Value lines up to the initial state.
func (p *parser) preamble() bool {
	for {
		p.next()
		switch {
		case p.tok.kind == '{':
			return true
		case p.tok.kind == tBad && p.tok.text == `"`:
			if !p.doc() {
				return false
			}
		case p.tok.kind == tWord && p.peek() == '=':
			p.meta()
		default:
			return p.errorf(p.pos(), "expected the initial state in braces, found %s", p.found())
		}
	}
}

func (p *parser) doc() bool {
	end := strings.IndexByte(p.src[p.off:], '"')
	if end < 0 {
		return p.errorf(p.pos(), "doc string is not closed")
	}
	if p.t.Doc != "" {
		p.t.Doc += "\n" // of a second one: two lines are one text
	}
	p.t.Doc += p.src[p.off : p.off+end]
	for i := p.off; i < p.off+end; i++ {
		if p.src[i] == '\n' {
			p.line++
			p.start = i + 1
		}
	}
	p.off += end + 1
	return true
}

// meta reads the rest of a Key=Value line unchanged.
func (p *parser) meta() {
	key := p.tok.text
	p.off += strings.IndexByte(p.src[p.off:], '=') + 1
	end := strings.IndexByte(p.src[p.off:], '\n')
	if end < 0 {
		end = len(p.src) - p.off
	}
	value := strings.TrimSpace(p.src[p.off : p.off+end])
	n, err := strconv.ParseUint(value, 10, 8)
	switch {
	case key == registersKey && err == nil && n >= minRegisters:
		p.t.Registers = uint8(n)
	case key == registersKey:
		p.errorf(p.pos(), "%s=%s: expected a number from %d to 255", key, value, minRegisters)
		return
	case key != resultsKey:
		p.t.Meta = append(p.t.Meta, Meta{key, value})
	case value == "final":
		p.t.Results = ResultsFinal
	case value == "all":
		p.t.Results = ResultsAll
	default:
		p.errorf(p.pos(), "%s=%s: expected all (what any access reads is observed) or final (registers of the condition and the locations clause are)", key, value)
		return
	}
	p.off += end
}

// location returns the location with a name, adding it if necessary.
func (p *parser) location(name string, pos Pos) *Location {
	if l := p.t.Location(name); l != nil {
		return l
	}
	if len(p.t.Locations) == MaxNames {
		p.errorf(pos, "more than %d locations", MaxNames)
		return nil
	}
	if p.t.Locations == nil {
		p.t.Locations = make([]Location, 0, 4)
		p.initial = make([]bool, 0, 4)
	}
	p.t.Locations = append(p.t.Locations, Location{Name: name, Pos: pos})
	p.initial = append(p.initial, false)
	return &p.t.Locations[len(p.t.Locations)-1]
}

// thread returns the thread with a number, adding all threads up to it.
func (p *parser) thread(i int) *Thread {
	if p.t.Threads == nil {
		p.t.Threads = make([]Thread, 0, 4)
	}
	for len(p.t.Threads) <= i {
		p.t.Threads = append(p.t.Threads, Thread{ID: len(p.t.Threads)})
	}
	return &p.t.Threads[i]
}

// destinations rejects locations that instructions write as registers. For dialects that
// declare registers Check does that.
func (p *parser) destinations() {
	for i := range p.t.Threads {
		th := &p.t.Threads[i]
		for j := range th.Body {
			in := &th.Body[j]
			if p.t.Dialect == PTX && in.Dst != "" && th.Decl(in.Dst) == nil && p.t.Location(in.Dst) != nil {
				p.errorf(in.Pos, "%s is a location of this test, so that it cannot be a register", in.Dst)
			}
		}
	}
}

// isIdent reports whether s can name a register, location or label. A % is part of
// a name only before a letter: lines of % are comments.
func isIdent(s string) bool {
	if s == "" || chars[s[0]]&chDigit != 0 || s[0] == '%' && (len(s) == 1 || s[1] == '%' || chars[s[1]]&chDigit != 0) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c == '.' || chars[c]&chWord == 0 {
			return false
		}
	}
	return true
}

// reserved reports whether a word begins a section of a test and so cannot name a location.
func reserved(s string) bool {
	switch s {
	case "exists", "forall", "not", "locations", "true", "false", "ScopeTree", "scopeTree", "scopetree":
		return true
	}
	return false
}

// regLike reports whether a name looks like a register: r, p, rd, rs or f and digits, possibly
// after %. It decides where nothing is declared. A name that the initial state declares as a
// location is one, whatever it looks like.
func regLike(s string) bool {
	s = strings.TrimPrefix(s, "%")
	i := 0
	for i < len(s) && i < 2 && chars[s[i]]&chDigit == 0 {
		i++
	}
	switch s[:i] {
	case "r", "p", "rd", "rs", "f":
	default:
		return false
	}
	if i == len(s) {
		return false
	}
	for ; i < len(s); i++ {
		if chars[s[i]]&chDigit == 0 {
			return false
		}
	}
	return true
}

// finish settles what could not be known while reading: names that were taken for registers and
// turned out to be locations, defaults of places, and the order of locations, which is not part
// of a test: parameters and addresses of kernels must not depend on which location a file
// happens to mention first.
func (p *parser) finish() {
	if p.loose {
		for i := range p.t.Threads {
			p.settle(&p.t.Threads[i])
		}
	}
	if p.placed {
		canonicalPlaces(p.t.Threads)
	}
	p.t.sortLocations()
	for i := range p.t.Locations {
		if l := &p.t.Locations[i]; l.Of != "" && l.Space == Generic {
			if whole := p.t.Location(l.Of); whole != nil {
				l.Space = whole.Space
			}
		}
	}
}

func (p *parser) settle(th *Thread) {
	for i := range th.Body {
		in := &th.Body[i]
		if r := in.Addr.Reg; r != "" && th.Decl(r) == nil && p.t.Location(r) != nil {
			in.Addr.Reg, in.Addr.Loc = "", r
		}
		for j := range in.Src {
			o := &in.Src[j]
			if o.Kind == OperandReg && th.Decl(o.Name) == nil && p.t.Location(o.Name) != nil {
				o.Kind = OperandLoc
			}
		}
	}
}
