package sass

import (
	"fmt"
	"strings"

	"optcheck/isa"
)

// Known is an instruction whose text is known without a listing.
type Known struct {
	Addr    uint64
	Text    string // as nvdisasm prints it, with a label for a branch target
	Src     isa.SrcLine
	Code    []uint64
	Control isa.Control
}

// Builder builds a program from instructions whose texts are known, as Parse does from a
// listing by nvdisasm. The zero value is not ready; see NewBuilder.
type Builder struct{ p *parser }

// NewBuilder returns a Builder for a target. file is used only in messages, in which lines are
// instructions counted from 1.
func NewBuilder(file, arch string) *Builder {
	p := newParser(file)
	p.dialect, p.sections = DialectNvdisasm, true
	p.setArch(arch)
	return &Builder{p}
}

// Func adds a function. labels are the addresses of the labels that its texts
// name.
func (b *Builder) Func(name string, code []Known, labels map[string]uint64) error {
	p := b.p
	p.startFunc(name)
	p.room(len(code))
	p.line = 0
	for i := range code {
		k := &code[i]
		p.line++
		p.gap(k.Addr)
		p.src = k.Src
		p.add(k.Addr, k.Text)
		in := &p.insts[len(p.insts)-1]
		in.Code, in.Control = k.Code, k.Control
	}
	for l, addr := range labels {
		p.labels[l] = addr
	}
	return p.endFunc()
}

// Program returns the functions added so far.
func (b *Builder) Program() (*isa.Program, error) {
	if err := b.p.finish(); err != nil {
		return nil, err
	}
	return b.p.prog, nil
}

// Texts reads the instructions of a disassembly without headers, as nvdisasm prints raw code.
// It returns their texts, in the form of isa.Inst.Text, by address.
func Texts(src []byte) (map[uint64]string, error) {
	p := newParser("raw code")
	if err := p.checkLines(src); err != nil {
		return nil, err
	}
	out := map[uint64]string{}
	for s := string(src); s != ""; {
		var line string
		line, s = cutLine(s)
		addr, text, ok := textAt(trim(line))
		if !ok {
			continue
		}
		if _, twice := out[addr]; twice {
			return nil, fmt.Errorf("address %#x is printed twice", addr)
		}
		out[addr] = text
	}
	return out, nil
}

// textAt reads /*0010*/ EXIT ;
func textAt(line string) (addr uint64, text string, ok bool) {
	if !strings.HasPrefix(line, "/*") {
		return 0, "", false
	}
	head, rest, ok := strings.Cut(line[2:], "*/")
	if !ok || strings.HasPrefix(head, " ") {
		return 0, "", false
	}
	if addr, ok = parseHex(head); !ok {
		return 0, "", false
	}
	text, _, ok = cutInstruction(trim(rest))
	return addr, text, ok && text != ""
}

// cutLine cuts off the first line.
func cutLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}
