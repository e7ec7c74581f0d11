package sass

import (
	"fmt"
	"strings"

	"optcheck/isa"
	"optcheck/sass/cubin"
)

// Dialects of a Program.
const (
	DialectNvdisasm  = "nvdisasm"
	DialectCuobjdump = "cuobjdump"
	DialectListing   = "listing" // instructions only, no header that identifies the tool
)

// Parse reads one disassembly. file is used in messages only. The dialect is detected.
// Instructions that are printed the same share their operand and register slices, and all text
// shares the memory of one copy of src.
//
// The error is an *Error: empty or foreign input, a listing without any instruction, one that
// ends in the middle of a function, or a line over 64 KiB.
func Parse(file string, src []byte) (*isa.Program, error) {
	p := newParser(file)
	if err := p.checkLines(src); err != nil {
		return nil, err
	}
	p.s = string(src)
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.prog, nil
}

// template is a decoded instruction text.
type template struct {
	in    isa.Inst
	label string // symbolic branch target
	notes string // branch targets that nvdisasm's dataflow analysis names
}

// pending is a branch whose target is resolved at the end of its function.
type pending struct {
	inst         int
	label, notes string
}

type parser struct {
	file string
	s    string
	prog *isa.Program

	line    int
	dialect string
	arch    string
	sm      int

	fn       *isa.Func
	insts    []isa.Inst
	labels   map[string]uint64
	branch   []pending
	toLabel  []string // labels waiting for the next instruction
	inText   bool     // in a code section (nvdisasm), or in a function (cuobjdump)
	src      isa.SrcLine
	sections bool // nvdisasm printed section headers (not for raw binaries)
	newSrc   bool // the previous line was line information
	control  []group

	cache map[string]*template
	tmpls []template

	ops                     []string
	defs, uses, addrs, data []isa.Reg
	micros                  []isa.Micro
	regArena                []isa.Reg
	argArena                []isa.Operand
	strArena                []string
	codeArena               []uint64
}

func newParser(file string) *parser {
	return &parser{file: file, prog: &isa.Program{File: file}, cache: make(map[string]*template, 256), labels: map[string]uint64{}}
}

func (p *parser) fail(kind error, msg string) error {
	return &Error{File: p.file, Line: max(1, p.line), Kind: kind, Msg: isa.Clip(msg)}
}

// problem records a line that was not understood.
func (p *parser) problem(text, why string) { p.prog.Misread(p.line, text, why) }

// run reads all lines.
func (p *parser) run() error {
	s := p.s
	for s != "" {
		var line string
		line, s = cutLine(s)
		p.line++
		if err := p.oneLine(line); err != nil {
			return err
		}
	}
	if err := p.endFunc(); err != nil {
		return err
	}
	return p.finish()
}

// finish rejects programs without code.
func (p *parser) finish() error {
	if len(p.prog.Funcs) == 0 {
		p.line = max(1, p.line)
		if why := foreign(p.s); why != "" {
			p.line = 1
			return p.fail(ErrForeign, why)
		}
		if p.dialect == "" {
			p.line = 1
			return p.fail(ErrForeign, "no instruction and no header of nvdisasm or cuobjdump")
		}
		return p.fail(ErrNoCode, "headers only; the tool does not know this target or failed")
	}
	p.prog.Dialect = p.dialect
	if p.dialect == "" {
		p.prog.Dialect = DialectListing
	}
	return nil
}

// oneLine handles a line of any kind.
func (p *parser) oneLine(line string) error {
	i := 0
	for i < len(line) && isBlank(line[i]) {
		i++
	}
	t := line[i:]
	if t == "" {
		return nil
	}
	switch t[0] {
	case '/':
		if len(t) > 1 && t[1] == '*' {
			p.newSrc = false
			return p.commented(t)
		}
		if strings.HasPrefix(t, "//##") {
			p.lineInfo(t)
			return nil
		}
		if strings.HasPrefix(t, "//") {
			return nil
		}
	case '0':
		// A word of control codes or the second half of an encoding, without comment signs.
		if w := trim(t); len(w) == 18 && w[1] == 'x' && p.fn != nil {
			if _, ok := parseHex(w[2:]); ok {
				return p.codeLine(w, t)
			}
		}
	case '[':
		// CuAssembler prints the control fields first: [B------:R-:W-:-:S04]
		if j := strings.IndexByte(t, ']'); j > 0 && t[1] == 'B' && strings.Count(t[:j], ":") == 4 {
			return p.oneLine(t[j+1:])
		}
	}
	return p.textLine(t)
}

// commented handles a line that starts with a comment: /*0010*/ … or /* 0x… */.
func (p *parser) commented(t string) error {
	j := 2 + strings.Index(t[2:], "*/")
	if j < 2 {
		p.problem(t, "comment without end")
		return nil
	}
	inner := trim(t[2:j])
	rest := t[j+2:]
	if strings.HasPrefix(inner, "0x") {
		return p.codeLine(inner, t)
	}
	addr, ok := parseHex(inner)
	if !ok {
		p.problem(t, "no address")
		return nil
	}
	rest = trim(rest)
	if strings.HasPrefix(rest, "//") {
		rest = ""
	}
	if rest == "" {
		p.problem(t, "address without instruction")
		return nil
	}
	if rest[0] == '.' {
		if p.inText {
			p.problem(t, "data in code")
		}
		return nil
	}
	if !p.inText && p.sections {
		return nil // data section with a symbol after the address
	}
	return p.instruction(addr, rest)
}

// codeLine handles a line that holds only an encoding: the second half of the
// previous instruction, or a control word.
func (p *parser) codeLine(hex, t string) error {
	v, ok := parseHex(hex[2:])
	if !ok {
		p.problem(t, "bad encoding")
		return nil
	}
	n := len(p.insts)
	switch {
	case n > 0 && len(p.insts[n-1].Code) == 0:
		p.insts[n-1].Code = p.code(v)
	case n > 0 && len(p.insts[n-1].Code) == 1 && p.wide():
		p.insts[n-1].Code = p.code(p.insts[n-1].Code[0], v)
	default:
		p.control = append(p.control, group{before: n, word: v})
	}
	return nil
}

// group is a word of control codes and the number of instructions before it.
type group struct {
	before int
	word   uint64
}

// controls sets the control codes of a function's instructions, if the listing has encodings.
func (p *parser) controls(insts []isa.Inst) {
	format, err := cubin.FormatOf(p.sm)
	if err != nil {
		return
	}
	for i := range insts {
		if in := &insts[i]; format.Wide && len(in.Code) == 2 {
			in.Control = format.Control(in.Code[1], 0)
		}
	}
	for _, g := range p.control {
		if format.Wide || !format.IsControl(g.word) {
			continue
		}
		// A pair's second half may stand after the word of the next group.
		for i := g.before; i < len(insts) && insts[i].Addr/uint64(format.Group) == insts[g.before].Addr/uint64(format.Group); i++ {
			insts[i].Control = format.Control(g.word, format.Slot(insts[i].Addr))
		}
	}
}

// wide reports whether instructions have 16 bytes, as on sm_70 and later.
func (p *parser) wide() bool {
	if p.sm != 0 {
		return p.sm >= 70
	}
	n := len(p.insts)
	return n > 0 && p.insts[n-1].Addr%16 == 0 && (n < 2 || p.insts[n-1].Addr-p.insts[n-2].Addr == 16)
}

// parseHex reads hexadecimal digits.
func parseHex(s string) (uint64, bool) {
	if s == "" || len(s) > 16 {
		return 0, false
	}
	var v uint64
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(c)
	}
	return v, true
}

func (p *parser) code(v ...uint64) []uint64 {
	if cap(p.codeArena)-len(p.codeArena) < len(v) {
		p.codeArena = make([]uint64, 0, 1024)
	}
	n := len(p.codeArena)
	p.codeArena = append(p.codeArena, v...)
	return p.codeArena[n:len(p.codeArena):len(p.codeArena)]
}

// instruction handles the part of a line after the address.
func (p *parser) instruction(addr uint64, rest string) error {
	var code uint64
	hasCode := false
	// CUDA 4 prints the encoding first, low word before high word.
	if strings.HasPrefix(rest, "/*") {
		j := 2 + strings.Index(rest[2:], "*/")
		if j < 2 {
			p.problem(rest, "comment without end")
			return nil
		}
		v, ok := parseHex(strings.TrimPrefix(trim(rest[2:j]), "0x"))
		if !ok {
			p.problem(rest, "bad encoding")
			return nil
		}
		code, hasCode = v<<32|v>>32, true
		rest = trim(rest[j+2:])
	}
	text, tail, ok := cutInstruction(rest)
	if !ok {
		p.problem(rest, "instruction without end")
		return nil
	}
	if text == "" {
		p.problem(rest, "no instruction")
		return nil
	}
	if j := strings.Index(tail, "/*"); j >= 0 && !hasCode {
		if k := strings.Index(tail[j:], "*/"); k > 1 {
			if v, ok := parseHex(strings.TrimPrefix(trim(tail[j+2:j+k]), "0x")); ok {
				code, hasCode = v, true
			}
		}
	}
	if p.fn == nil {
		if c := text[0]; c >= 'a' && c <= 'z' {
			why := foreign(p.s)
			if why == "" {
				why = "lower-case mnemonic: " + text
			}
			return p.fail(ErrForeign, why)
		}
		p.startFunc("")
	}
	if n := len(p.insts); n > 0 && addr <= p.insts[n-1].Addr {
		p.problem(rest, "address does not increase")
	}
	p.gap(addr)
	p.add(addr, text)
	if hasCode {
		p.insts[len(p.insts)-1].Code = p.code(code)
	}
	return nil
}

// add appends the instruction.
func (p *parser) add(addr uint64, text string) {
	t := p.cache[text]
	if t == nil {
		t = p.newTemplate(text)
		if len(p.cache) < maxCache {
			p.cache[text] = t
		}
	}
	n := len(p.insts)
	p.insts = append(p.insts, t.in)
	in := &p.insts[n]
	in.Addr, in.Line, in.Src = addr, p.line, p.src
	if t.label != "" || t.notes != "" || in.Flow != isa.FlowNext {
		p.branch = append(p.branch, pending{inst: n, label: t.label, notes: t.notes})
	}
	if len(p.toLabel) > 0 {
		for _, l := range p.toLabel {
			p.labels[l] = addr
		}
		p.toLabel = p.toLabel[:0]
	}
	if len(t.in.Op) == 0 {
		p.problem(text, "not an instruction")
	}
}

// nextAddr returns the address of the instruction after one at addr: 16-byte
// instructions since sm_70; before, 8-byte ones with a control word in every
// fourth (sm_5x, sm_6x) or eighth (sm_3x) place.
func (p *parser) nextAddr(addr uint64) uint64 {
	switch {
	case p.sm >= 70:
		return addr + 16
	case p.sm >= 50 && addr%0x20 == 0x18, p.sm >= 30 && p.sm < 50 && addr%0x40 == 0x38:
		return addr + 16
	}
	return addr + 8
}

// gap adds an unknown instruction where the listing skips addresses. Disassemblers do that:
// nvdisasm 11.8 prints nothing at all for VIMNMX of sm_90, and what is not printed must not be
// taken for harmless.
func (p *parser) gap(addr uint64) {
	if p.sm == 0 {
		return
	}
	want := uint64(0)
	if p.sm >= 30 && p.sm < 70 {
		want = 8
	}
	if n := len(p.insts); n > 0 {
		want = p.nextAddr(p.insts[n-1].Addr)
	}
	if addr <= want {
		return
	}
	p.insts = append(p.insts, isa.Inst{
		Addr: want, Line: p.line, Src: p.src, Target: -1, Role: isa.RoleUnknown,
		Text: fmt.Sprintf("(nothing printed for %#x to %#x)", want, addr-1),
	})
}
