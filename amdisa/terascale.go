package amdisa

import (
	"strings"

	"optcheck/isa"
)

// teraScale reads the layout of AMD's own tools for R600 to Cayman, in which
// clauses follow their control-flow instruction:
//
//	00 ALU: ADDR(32) CNT(9) KCACHE0(CB1:0-15)
//	      0  w: LSHL        ____,  R0.x,  2
//	      1  z: ADD_INT     R0.z,  PV0.w,  KC0[0].x
//	01 TEX: ADDR(64) CNT(1)
//	      2  VFETCH R1.x___, R0.z, fc153
//	02 MEM_RAT_CACHELESS_STORE_RAW: RAT(1)[R1].x___, R0, ARRAY_SIZE(4)  VPM
//	END_OF_PROGRAM
type teraScale struct {
	base
	tsBuilder
	arch string
	list []cfLine
	name string
}

func parseTeraScale(file, s, arch string) (*isa.Program, error) {
	p := &teraScale{base: newBase(file, DialectTeraScale), arch: arch}
	if p.arch == "" {
		p.arch = "evergreen"
		if strings.Contains(s, "__NI:") || strings.Contains(s, "CAYMAN") {
			p.arch = "cayman"
		}
	}
	p.tsBuilder.base = &p.base
	p.amd = true
	p.cayman = p.arch == "cayman"
	var err error
	eachLine(s, func(_ int, line string) bool {
		p.base.line++
		err = p.oneLine(trim(line))
		return err == nil
	})
	if err == nil && len(p.list) > 0 {
		p.base.line = max(1, p.base.line)
		return nil, p.base.fail(ErrTruncated, "no END_OF_PROGRAM")
	}
	if err != nil {
		return nil, err
	}
	if len(p.prog.Funcs) == 0 {
		return nil, p.base.fail(ErrNoCode, "headers only")
	}
	return p.prog, nil
}

// cfHead splits a control-flow line: number, mnemonic and the rest.
func cfHead(t string) (num int, op, rest string, ok bool) {
	n, tail := cutWord(t)
	num, ok = small(n)
	if !ok || len(n) < 2 {
		return 0, "", "", false
	}
	op, rest = cutWord(tail)
	op, colon := strings.CutSuffix(op, ":")
	if !upper(op) {
		return 0, "", "", false
	}
	if colon || cfOps[op] {
		return num, op, rest, true
	}
	return 0, "", "", false
}

// cfOps lists control-flow instructions that are printed without a colon.
var cfOps = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`NOP CALL_FS JUMP JUMP_ANY ELSE POP PUSH PUSH_ELSE LOOP LOOP_DX10 LOOP_NO_AL LOOP_START LOOP_START_DX10
		ENDLOOP END_LOOP LOOP_END BREAK LOOP_BREAK CONTINUE
		LOOP_CONTINUE RETURN RET CALL WAIT_ACK END_PROGRAM CF_END EMIT_VERTEX CUT_VERTEX KILL TC_ACK VC_ACK`) {
		m[s] = true
	}
	return m
}()

// teraScaleLine reports whether a line has this layout.
func teraScaleLine(t string) bool {
	_, op, rest, ok := cfHead(t)
	if !ok {
		return false
	}
	if (strings.HasPrefix(op, "ALU") || op == "TEX" || op == "VTX") && strings.HasPrefix(rest, "ADDR(") {
		return true
	}
	return strings.HasPrefix(op, "MEM_RAT") || strings.HasPrefix(op, "MEM_EXPORT") || strings.HasPrefix(op, "EXP_DONE") || op == "CALL_FS"
}

func (p *teraScale) oneLine(t string) error {
	if t == "" {
		return nil
	}
	if i := strings.Index(t, "Disassembly for '__kernel "); i >= 0 {
		p.name, _, _ = strings.Cut(t[i+len("Disassembly for '__kernel "):], "'")
		return nil
	}
	if t[0] == ';' || t[0] == '*' || strings.HasPrefix(t, "//") {
		return nil
	}
	t, _ = cutComment(t)
	if t == "" {
		return nil
	}
	if strings.HasPrefix(t, "END_OF_PROGRAM") {
		return p.endFunc(t)
	}
	num, op, rest, ok := cfHead(t)
	if ok {
		l := cfLine{addr: num, op: op, rest: rest, text: t, line: p.base.line}
		if strings.HasPrefix(op, "ALU") || op == "TEX" || op == "VTX" || op == "VC" || op == "TC" {
			l.clause = &clause{kcache: amdCaches(rest)}
		}
		if len(p.list) > 0 && num <= p.list[len(p.list)-1].addr {
			p.base.problem(t, "number does not increase")
		}
		p.list = append(p.list, l)
		return nil
	}
	if len(p.list) == 0 {
		return nil // text before the code
	}
	c := p.list[len(p.list)-1].clause
	if c == nil {
		p.base.problem(t, "not an instruction")
		return nil
	}
	p.clauseLine(c, t)
	return nil
}

// amdCaches reads KCACHE0(CB1:0-15).
func amdCaches(s string) (k [4]kcache) {
	for i := 0; i < 4; i++ {
		j := strings.Index(s, "KCACHE"+string(rune('0'+i))+"(CB")
		if j < 0 {
			continue
		}
		t := s[j+len("KCACHE0(CB"):]
		buf, _ := cfNumber(t, "")
		base, _ := cfNumber(t, ":")
		k[i] = kcache{buf, base, true}
	}
	return k
}

// clauseLine reads a slot or a fetch.
func (p *teraScale) clauseLine(c *clause, t string) {
	first := false
	if n, rest := cutWord(t); rest != "" {
		if _, ok := small(n); ok {
			first, t = true, rest
		}
	}
	if len(t) > 2 && t[1] == ':' && strings.IndexByte("xyzwt", t[0]) >= 0 {
		if first || len(c.groups) == 0 {
			c.groups = append(c.groups, group{line: p.base.line})
		}
		g := &c.groups[len(c.groups)-1]
		op, rest := cutWord(trim(t[2:]))
		args, ok := splitArgs(rest, nil)
		if !ok || len(g.slots) >= 8 {
			p.base.problem(t, "too many operands or operations")
			return
		}
		s := slot{unit: t[0], op: op, args: args, text: trim(t[2:]), line: p.base.line}
		s.modifiers()
		g.slots = append(g.slots, s)
		return
	}
	if op, _ := cutWord(t); first && upper(op) {
		c.fetches = append(c.fetches, fetch{t, p.base.line})
		return
	}
	// FETCH_TYPE(NO_INDEX_OFFSET) and other attributes of the fetch before.
	if n := len(c.fetches); n > 0 && strings.Contains(t, "(") && !first {
		c.fetches[n-1].text += " " + t
		return
	}
	p.base.problem(t, "not an instruction")
}

func (p *teraScale) endFunc(t string) error {
	if len(p.list) == 0 {
		return nil
	}
	if len(p.prog.Funcs) >= maxFuncs {
		return p.base.fail(ErrTooBig, "more than 65536 functions")
	}
	name := p.name
	if name == "" {
		name = "main"
	}
	p.list = append(p.list, cfLine{addr: p.list[len(p.list)-1].addr + 1, op: "END_OF_PROGRAM", text: t, line: p.base.line})
	fn := &isa.Func{Name: strings.Clone(name), Arch: p.arch, Line: p.list[0].line, Wave: 64}
	err := p.build(fn, p.list)
	p.list, p.name = p.list[:0], ""
	return err
}
