package sass

import (
	"bytes"
	"strconv"
	"strings"

	"optcheck/isa"
	"optcheck/target"
)

// checkLines rejects empty input, binaries and lines that no tool prints, before anything is
// copied.
func (p *parser) checkLines(src []byte) error {
	p.line = 1
	defer func() { p.line = 0 }()
	if len(bytes.TrimSpace(src[:min(len(src), maxLine)])) == 0 && len(src) <= maxLine {
		return p.fail(ErrEmpty, "")
	}
	if bytes.HasPrefix(src, []byte("\x7fELF")) {
		return p.fail(ErrForeign, "an ELF file: disassemble it first")
	}
	for rest := src; len(rest) > 0; p.line++ {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			i = len(rest) - 1
		}
		if i > maxLine {
			return p.fail(ErrTooLong, strconv.Itoa(i)+" bytes")
		}
		rest = rest[i+1:]
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		p.line = 1 + bytes.Count(src[:i], []byte{'\n'})
		return p.fail(ErrForeign, "binary data")
	}
	return nil
}

// foreign guesses what a text without NVIDIA instructions is.
func foreign(s string) string {
	head := s[:min(len(s), 1<<16)]
	for _, f := range []struct{ mark, what string }{
		{"amdgcn", "an amd gcn listing"}, {"s_waitcnt", "an amd gcn listing"}, {"s_endpgm", "an amd gcn listing"},
		{"v_mov_b32", "an amd gcn listing"}, {"s_load_dword", "an amd gcn listing"}, {"ALU: ADDR(", "an amd terascale listing"},
		{".visible .entry", "ptx source: compile and disassemble it"}, {".address_size", "ptx source: compile and disassemble it"},
		{"\"sass-instructions\"", "nvdisasm -json output: use its text output"},
		{"target datalayout", "llvm ir"}, {"<REGISTER_MAPPING>", "a maxas source"},
	} {
		if strings.Contains(head, f.mark) {
			return f.what
		}
	}
	return ""
}

// directives lists the assembler directives in nvdisasm's output that say nothing about
// instructions.
const directives = ".align .global .type .size .other .weak .local .sectionflags .sectioninfo .sectionentsize .elftype .zero .common" +
	" .set .target .byte .short .word .dword .quad .string .extern .visible .func .entry .reg .param .nv_info .file .loc"

// textLine handles a line that does not start with a comment.
func (p *parser) textLine(t string) error {
	if i := strings.Index(t, "//"); i > 0 && isBlank(t[i-1]) {
		t = t[:i]
	}
	t = trim(t)
	if t == "" {
		return nil
	}
	if t[0] == '.' {
		if done, err := p.directive(t); done {
			return err
		}
	}
	if done, err := p.cuobjdumpLine(t); done {
		return err
	}
	if n := len(t); t[n-1] == ':' && (p.dialect == DialectNvdisasm || p.fn != nil || t[0] == '.') {
		if p.inText {
			p.toLabel = append(p.toLabel, t[:n-1])
		}
		return nil
	}
	if p.dialect == DialectNvdisasm && !p.inText {
		return nil // data sections: not machine code
	}
	if t[0] == '{' || t[0] == '}' {
		if t = trim(t[1:]); t == "" || t[0] == '/' {
			return nil // braces of a pair on their own line
		}
	}
	p.problem(t, "not understood")
	return nil
}

// directive handles .section, .headerflags and the like.
func (p *parser) directive(t string) (bool, error) {
	word := t
	if i := strings.IndexAny(t, " \t"); i > 0 {
		word = t[:i]
	}
	switch {
	case word == ".headerflags":
		// cuobjdump prints it after each "Function :", nvdisasm once at the top.
		if p.dialect == "" {
			p.dialect = DialectNvdisasm
		}
		if p.dialect == DialectNvdisasm || p.arch == "" {
			p.setArch(flagsArch(t))
		}
		return true, nil
	case word == ".section":
		return true, p.section(trim(t[len(word):]))
	case word == ".target" && strings.Contains(t, "sm_"):
		p.setArch(trim(t[len(word):]))
		return true, nil
	case word == ".text" || modSet(directives, word):
		return true, nil
	case strings.Trim(t, ".") == "":
		return true, p.endFunc()
	}
	return false, nil
}

// section starts a function at .text.NAME and ends code otherwise.
func (p *parser) section(t string) error {
	if p.dialect == "" {
		p.dialect = DialectNvdisasm
	}
	if err := p.endFunc(); err != nil {
		return err
	}
	name := t
	if i := strings.IndexByte(t, ','); i >= 0 {
		name = t[:i]
	}
	p.inText, p.sections = false, true
	if name == ".text" || strings.HasPrefix(name, ".text.") {
		p.inText = true
		p.startFunc(strings.TrimPrefix(strings.TrimPrefix(name, ".text"), "."))
	}
	return nil
}

// flagsArch returns the target from EF_CUDA_SM80 EF_CUDA_PTX_SM(EF_CUDA_SM80).
func flagsArch(t string) string {
	if i := strings.Index(t, "EF_CUDA_SM"); i >= 0 {
		n := t[i+len("EF_CUDA_SM"):]
		j := 0
		for j < len(n) && n[j] >= '0' && n[j] <= '9' {
			j++
		}
		if j > 0 {
			return "sm_" + n[:j]
		}
	}
	return ""
}

// setArch sets the target of the functions that follow.
func (p *parser) setArch(a string) {
	if a == p.arch || a == "" {
		return
	}
	sm, _ := target.SM(a)
	if sm != p.sm {
		clear(p.cache) // the same text can mean something else
	}
	p.arch, p.sm = a, sm
	if p.fn != nil && len(p.insts) == 0 {
		p.fn.Arch = a
	}
}

// containerKeys start the lines of fatbin wrappers.
var containerKeys = []string{"Fatbin ", "====", "arch =", "code version", "producer =", "host =", "compile_size", "identifier",
	"compressed",
	"has debug info", "ptxasOptions", "Resource usage", "Common:", "GLOBAL:", "REG:", "EntryPoint", "File ", "Fatbin", "member ",
	"Function properties", "Function ", "ELF "}

// cuobjdumpLine handles the headers of cuobjdump.
func (p *parser) cuobjdumpLine(t string) (bool, error) {
	switch {
	case strings.HasPrefix(t, "code for sm_"):
		p.dialect = DialectCuobjdump
		err := p.endFunc()
		p.setArch(t[len("code for "):])
		p.inText = false
		return true, err
	case strings.HasPrefix(t, "Function : "):
		p.dialect = DialectCuobjdump
		err := p.endFunc()
		p.startFunc(trim(t[len("Function : "):]))
		p.inText = true
		return true, err
	}
	for _, k := range containerKeys {
		if strings.HasPrefix(t, k) {
			if p.dialect == "" {
				p.dialect = DialectCuobjdump
			}
			if k == "Fatbin " || strings.HasPrefix(t, "Fatbin") || k == "arch =" {
				if err := p.endFunc(); err != nil {
					return true, err
				}
				if k == "arch =" {
					p.setArch(trim(t[len(k):]))
				}
			}
			return true, nil
		}
	}
	return false, nil
}

// lineInfo reads //## File "x.ptx", line 4 [inlined at "y.ptx", line 9]. Of
// consecutive lines the first one is the innermost position.
func (p *parser) lineInfo(t string) {
	if p.newSrc {
		return
	}
	i := strings.Index(t, "File \"")
	if i < 0 {
		return
	}
	t = t[i+len("File \""):]
	j := strings.IndexByte(t, '"')
	if j < 0 {
		return
	}
	name := t[:j]
	k := strings.Index(t[j:], "line ")
	if k < 0 {
		return
	}
	n := 0
	for _, c := range t[j+k+len("line "):] {
		if c < '0' || c > '9' || n > 1<<30 {
			break
		}
		n = n*10 + int(c-'0')
	}
	p.src = isa.SrcLine{File: name, Line: n}
	p.newSrc = true
}

// Functions share the memory of their instructions: if a block has room for only a few, a
// function gets a new block for many.
const fewInsts, manyInsts = 64, 1024

// room makes room for that many instructions of a function.
func (p *parser) room(n int) {
	if cap(p.insts) < n {
		p.insts = make([]isa.Inst, 0, max(n, manyInsts))
	}
}

// startFunc begins a function.
func (p *parser) startFunc(name string) {
	p.fn = &isa.Func{Name: name, Arch: p.arch, Line: max(1, p.line)}
	p.src, p.newSrc = isa.SrcLine{}, false
	p.toLabel = p.toLabel[:0]
	p.room(fewInsts)
	if p.dialect == "" || !p.sections {
		p.inText = true
	}
}

// endFunc finishes the current function: targets, blocks, sanity.
func (p *parser) endFunc() error {
	fn := p.fn
	p.fn = nil
	if fn == nil {
		return nil
	}
	if len(p.insts) == 0 {
		return p.fail(ErrNoCode, "function "+fn.Name+" has no instructions")
	}
	if fn.Arch == "" {
		p.problem(fn.Name, "the listing does not name its target")
	}
	n := len(p.insts)
	fn.Insts = p.insts[:n:n]
	p.controls(fn.Insts)
	err := p.resolve(fn)
	if err == nil {
		err = p.complete(fn)
	}
	p.insts, p.branch, p.control = p.insts[n:], p.branch[:0], p.control[:0]
	clear(p.labels)
	if err != nil {
		return err
	}
	fn.BuildCFG()
	p.prog.Funcs = append(p.prog.Funcs, fn)
	return nil
}
