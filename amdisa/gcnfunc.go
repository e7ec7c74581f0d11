package amdisa

import (
	"strings"

	"optcheck/isa"
)

// instruction handles one instruction.
func (p *gcn) instruction(text, note string, addr uint64, hasAddr bool) error {
	if p.data {
		return nil
	}
	op, _ := cutWord(text)
	if !mnemonic(op) {
		if header(text) {
			return nil
		}
		if p.fn == nil || p.closed {
			return nil // text around the code
		}
		if text == "..." {
			return nil // zeros between functions
		}
	}
	if p.fn == nil || p.closed {
		if p.closed && op == "s_code_end" {
			return nil
		}
		name := "main"
		if err := p.startFunc(name, 0); err != nil {
			return err
		}
	}
	tm := p.cache[text]
	if tm == nil {
		tm = p.dec.decode(text)
		if len(p.cache) < maxCache {
			p.cache[text] = tm
		}
	}
	n := len(p.insts)
	p.insts = append(p.insts, tm.in)
	in := &p.insts[n]
	in.Line, in.Src, in.Addr = p.line, p.src, uint64(4*n)
	if hasAddr {
		in.Addr = addr
	}
	p.note(in, note)
	if tm.label != "" {
		p.branch = append(p.branch, pending{n, tm.label})
	}
	if tm.why != "" {
		p.problem(text, tm.why)
	}
	return nil
}

// header reports whether a line of AMD's layout is not code.
func header(t string) bool {
	for _, w := range []string{"shader ", "asic(", "type(", "end", "wave_size(", "ShaderType", "TargetChip", "user_sgprs", "sgpr_count",
		"vgpr_count", "trap_present"} {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	return strings.Contains(t, " = ")
}

// note reads the comment after an instruction: address, encoding words and
// branch target.
func (p *gcn) note(in *isa.Inst, note string) {
	i := strings.IndexByte(note, ':')
	if i < 4 || i > 16 {
		return
	}
	a, ok := parseHex(note[:i])
	if !ok {
		return
	}
	in.Addr = a
	rest := trim(note[i+1:])
	var words [4]uint64
	n := 0
	for n < 4 && rest != "" {
		w, tail := cutWord(rest)
		v, ok := parseHex(w)
		if !ok || len(w) != 8 {
			break
		}
		words[n] = v
		n++
		rest = tail
	}
	if n > 0 {
		in.Code = p.code(words[:n]...)
	}
}

// endFunc completes the function being read: it drops padding, resolves branches and builds
// blocks.
func (p *gcn) endFunc() error {
	fn := p.fn
	if fn == nil {
		return nil
	}
	p.fn = nil
	p.src = isa.SrcLine{}
	p.trimPadding()
	if len(p.insts) == 0 {
		p.reset()
		return nil
	}
	fn.Insts = append([]isa.Inst(nil), p.insts...)
	err := p.resolve(fn)
	p.reset()
	if err != nil {
		return err
	}
	fn.BuildCFG()
	p.prog.Funcs = append(p.prog.Funcs, fn)
	return nil
}

func (p *gcn) reset() {
	p.insts, p.branch = p.insts[:0], p.branch[:0]
	clear(p.labels)
}

// trimPadding drops the padding after the last instruction.
func (p *gcn) trimPadding() {
	n := len(p.insts)
	for n > 0 {
		in := &p.insts[n-1]
		pad := in.Op == "s_code_end" || in.Op == "s_nop" || in.Op == "v_illegal" || in.Op == "" && in.Role == isa.RoleUnknown
		if !pad {
			break
		}
		n--
	}
	if n > 0 && !endsFlow(&p.insts[n-1]) {
		return // no padding: the code runs on
	}
	// Labels may point after the end.
	if n < len(p.insts) && n > 0 {
		for i := n; i < len(p.insts); i++ {
			if p.insts[i].Role == isa.RoleUnknown {
				p.dropProblem(p.insts[i].Line)
			}
		}
		p.insts = p.insts[:n]
	}
}

// dropProblem removes the problem of a line.
func (p *base) dropProblem(line int) {
	l := p.prog.Problems
	for i := len(l) - 1; i >= 0 && i >= len(l)-64; i-- {
		if l[i].Line == line {
			p.prog.Problems = append(l[:i], l[i+1:]...)
			return
		}
	}
}

// endsFlow reports whether control does not continue after an instruction.
func endsFlow(in *isa.Inst) bool {
	switch in.Flow {
	case isa.FlowExit, isa.FlowReturn, isa.FlowIndirect:
		return true
	case isa.FlowJump:
		return in.Guard == isa.Guard{}
	case isa.FlowTrap:
		return true
	}
	return false
}
