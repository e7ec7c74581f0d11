package amdisa

import (
	"strings"

	"optcheck/isa"
)

// oneLine handles a line of any kind.
func (p *gcn) oneLine(line string) error {
	t := trim(line)
	if t == "" {
		return nil
	}
	if p.block != "" {
		p.inBlock(t)
		return nil
	}
	var addr uint64
	hasAddr := false
	if strings.HasPrefix(t, "/*") {
		j := 2 + strings.Index(t[2:], "*/")
		if j < 2 {
			p.problem(t, "comment without end")
			return nil
		}
		addr, hasAddr = parseHex(trim(t[2:j]))
		if t = trim(t[j+2:]); t == "" {
			return nil
		}
	}
	switch t[0] {
	case ';', '*', '#', '=', '/':
		p.comment(t)
		return nil
	case '.':
		if !strings.Contains(t, ":") || !isLabel(t) {
			p.directive(t)
			return nil
		}
	}
	if p.prog.Dialect == DialectObjdump && (strings.Contains(t, "file format ") || strings.HasPrefix(t, "Disassembly of section ")) {
		return nil
	}
	if a, name, ok := objdumpLabel(t); ok {
		if strings.HasPrefix(name, ".L") { // an assembler's own label that was kept: no function
			return p.label(name)
		}
		return p.startFunc(name, a)
	}
	text, note := cutComment(t)
	for {
		name, rest, ok := cutLabel(text)
		if !ok {
			break
		}
		if err := p.label(name); err != nil {
			return err
		}
		text = rest
	}
	if text == "" {
		return nil
	}
	if text[0] == '.' {
		p.directive(text)
		return nil
	}
	return p.instruction(text, note, addr, hasAddr)
}

// cutComment splits code and comment.
func cutComment(t string) (text, note string) {
	for i := 0; i < len(t); i++ {
		if t[i] == '"' {
			if j := strings.IndexByte(t[i+1:], '"'); j >= 0 {
				i += j + 1
			}
			continue
		}
		if t[i] == ';' {
			return trim(t[:i]), trim(t[i+1:])
		}
		if t[i] == '/' && i+1 < len(t) && t[i+1] == '/' {
			return trim(t[:i]), trim(t[i+2:])
		}
		if t[i] == '/' && i+1 < len(t) && t[i+1] == '*' {
			return trim(t[:i]), trim(t[i+2:])
		}
	}
	return t, ""
}

// cutLabel splits a leading "name:" from the rest of a line.
func cutLabel(t string) (name, rest string, ok bool) {
	for i := 0; i < len(t); i++ {
		c := t[i]
		if c == ':' {
			if i == 0 || i+1 < len(t) && !isBlank(t[i+1]) {
				return "", t, false
			}
			return t[:i], trim(t[i+1:]), true
		}
		if !symbolChar(c) {
			return "", t, false
		}
	}
	return "", t, false
}

func symbolChar(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c == '@' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isLabel(t string) bool {
	_, _, ok := cutLabel(t)
	return ok
}

// comment reads what AMD's tools say in comments.
func (p *gcn) comment(t string) {
	if i := strings.Index(t, "Disassembly for '__kernel "); i >= 0 {
		name := t[i+len("Disassembly for '__kernel "):]
		if j := strings.IndexByte(name, '\''); j > 0 {
			_ = p.startFunc(name[:j], 0)
		}
	}
	if i := strings.Index(t, "userElements["); i >= 0 {
		p.elems = append(p.elems, t[i:])
	}
	// llvm-objdump -l: ; file.cl:12
	if p.prog.Dialect == DialectObjdump && strings.HasPrefix(t, "; ") {
		if i := strings.LastIndexByte(t, ':'); i > 2 {
			if n, ok := small(t[i+1:]); ok {
				p.src = isa.SrcLine{File: t[2:i], Line: n}
			}
		}
	}
}

// label binds a label, or starts a function.
func (p *gcn) label(name string) error {
	switch {
	case strings.HasPrefix(name, ".Lfunc_end"):
		p.closed = true
		return nil
	case p.types[name] && !strings.HasSuffix(name, "$local"):
		return p.startFunc(name, 0)
	case localLabel(name):
	case p.prog.Dialect == DialectLLVM && (p.fn == nil || p.closed) && !p.data:
		return p.startFunc(name, 0)
	}
	if p.data || p.fn == nil && p.prog.Dialect == DialectLLVM {
		return nil
	}
	if p.fn == nil {
		if err := p.startFunc("main", 0); err != nil {
			return err
		}
	}
	if len(p.labels) < 1<<20 {
		p.labels[name] = len(p.insts)
	}
	return nil
}

func localLabel(name string) bool {
	if name[0] == '.' || strings.HasPrefix(name, "label_") || strings.HasPrefix(name, "BB") || strings.HasSuffix(name, "$local") {
		return true
	}
	return name[0] == 'L' && len(name) > 1 && isDigit(name[1])
}

// startFunc begins a function.
func (p *gcn) startFunc(name string, addr uint64) error {
	if p.fn != nil && len(p.insts) == 0 {
		p.fn.Name = strings.Clone(name) // an alias, or a name that becomes known only now
		return nil
	}
	if err := p.endFunc(); err != nil {
		return err
	}
	if len(p.prog.Funcs) >= maxFuncs {
		return p.fail(ErrTooBig, "more than 65536 functions")
	}
	p.fn = &isa.Func{Name: strings.Clone(name), Line: p.line, Arch: p.dec.t.name, Wave: p.dec.t.wave}
	p.closed = false
	return nil
}
