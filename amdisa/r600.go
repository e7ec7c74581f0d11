package amdisa

import (
	"strings"

	"optcheck/isa"
)

// r600 reads what LLVM prints for R600 to Cayman: per function a list of control-flow
// instructions, followed by the clauses, to which the list refers by address.
type r600 struct {
	base
	tsBuilder
	arch    string
	list    []cfLine
	clauses map[int]*clause
	cur     *clause
	inner   *clause // a clause printed in its place
	open    *group
	types   map[string]bool
}

func parseR600(file, s, arch string) (*isa.Program, error) {
	p := &r600{base: newBase(file, DialectR600), clauses: map[int]*clause{}, types: map[string]bool{}, arch: arch}
	if p.arch == "" {
		p.arch = "evergreen"
		if strings.Contains(s, "MEM_RAT_CACHELESS STORE_DWORD") {
			p.arch = "cayman"
		}
	}
	p.tsBuilder.base = &p.base
	p.cayman = p.arch == "cayman"
	var err error
	eachLine(s, func(_ int, line string) bool {
		p.base.line++
		err = p.oneLine(line)
		return err == nil
	})
	if err == nil {
		err = p.endFunc()
	}
	if err != nil {
		return nil, err
	}
	if len(p.prog.Funcs) == 0 {
		return nil, p.base.fail(ErrNoCode, "headers only")
	}
	return p.prog, nil
}

func (p *r600) oneLine(line string) error {
	t, _ := cutComment(trim(line))
	if t == "" {
		return nil
	}
	if t[0] == '.' {
		switch name, rest := cutWord(t); {
		case strings.HasPrefix(t, ".Lfunc_end"):
			return p.endFunc()
		case name == ".type":
			if sym, what, ok := strings.Cut(rest, ","); ok && strings.Contains(what, "function") {
				p.types[trim(sym)] = true
			}
		}
		return nil
	}
	if i := strings.Index(t, " clause starting at "); i > 0 {
		n, ok := small(strings.TrimSuffix(t[i+len(" clause starting at "):], ":"))
		if !ok || p.fn == nil {
			p.base.problem(t, "clause without address")
			return nil
		}
		p.endGroup()
		p.cur = &clause{}
		if _, dup := p.clauses[n]; dup {
			p.base.problem(t, "clause at the address of another")
		}
		p.clauses[n] = p.cur
		return nil
	}
	if name, rest, ok := cutLabel(t); ok && rest == "" {
		if strings.HasSuffix(name, "$local") || strings.HasPrefix(name, "BB") || strings.HasPrefix(name, ".L") {
			return nil
		}
		if err := p.endFunc(); err != nil {
			return err
		}
		if len(p.prog.Funcs) >= maxFuncs {
			return p.base.fail(ErrTooBig, "more than 65536 functions")
		}
		p.fn = &isa.Func{Name: strings.Clone(name), Arch: p.arch, Line: p.base.line, Wave: 64}
		return nil
	}
	if p.fn == nil {
		return nil
	}
	literal := isDigit(t[0]) || t[0] == '-'
	if p.cur == nil && len(p.list) > 0 && (strings.HasPrefix(line, "\t  ") || p.inner != nil && literal) {
		p.inline(t)
		return nil
	}
	if p.inner != nil {
		p.endGroup()
		p.inner = nil
	}
	if p.cur == nil {
		op, rest := cutWord(t)
		if !upper(op) {
			p.base.problem(t, "not an instruction")
		}
		p.list = append(p.list, cfLine{addr: len(p.list), op: op, rest: rest, text: t, line: p.base.line})
		return nil
	}
	p.clauseLine(t)
	return nil
}

// inline reads a line of a clause that is printed after its control-flow instruction, as LLVM
// 22 does for functions that it does not take for kernels.
func (p *r600) inline(t string) {
	last := &p.list[len(p.list)-1]
	if p.inner == nil {
		p.inner = &clause{kcache: kcaches(last.rest)}
		last.clause = p.inner
	}
	p.cur = p.inner
	p.clauseLine(t)
	p.cur = nil
}

// upper reports whether a mnemonic belongs to this family.
func upper(op string) bool {
	if op == "" || op[0] < 'A' || op[0] > 'Z' {
		return false
	}
	for i := 0; i < len(op); i++ {
		if c := op[i]; (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && !isDigit(c) {
			return false
		}
	}
	return true
}

// clauseLine reads a line of a clause: literals, a slot or a fetch.
func (p *r600) clauseLine(t string) {
	if isDigit(t[0]) || t[0] == '-' && len(t) > 1 && isDigit(t[1]) {
		p.literals(t)
		return
	}
	if strings.HasPrefix(t, "VTX_") || strings.HasPrefix(t, "TEX_") {
		p.endGroup()
		p.cur.fetches = append(p.cur.fetches, fetch{t, p.base.line})
		return
	}
	if p.open != nil && p.ended() {
		p.endGroup()
	}
	if p.open == nil {
		p.open = &group{line: p.base.line}
	}
	op, rest := cutWord(t)
	s := slot{op: op, text: t, line: p.base.line}
	if o, ok := strings.CutSuffix(op, "*"); ok { // LDS_CMPST* T0.W, …
		s.op, rest = o, "*"+rest
	}
	if r, ok := strings.CutPrefix(rest, "*"); ok {
		s.flags = append(s.flags, "last")
		rest = trim(r)
	} else if op == "GROUP_BARRIER" {
		s.flags = append(s.flags, "last")
	}
	s.modifiers()
	args, ok := splitArgs(rest, nil)
	if !ok {
		p.base.problem(t, "too many operands")
	}
	s.args = args
	if len(p.open.slots) < 8 {
		p.open.slots = append(p.open.slots, s)
	} else {
		p.base.problem(t, "group of more than five operations")
	}
}

// ended reports whether the open group has its last slot.
func (p *r600) ended() bool {
	n := len(p.open.slots)
	return n > 0 && len(p.open.slots[n-1].flags) > 0 && p.open.slots[n-1].flags[0] == "last"
}

// literals reads 133406721(3.665662e-34), 2(2.802597e-45).
func (p *r600) literals(t string) {
	if p.open == nil {
		p.base.problem(t, "literal without group")
		return
	}
	l, ok := splitArgs(t, nil)
	for _, x := range l {
		if i := strings.IndexByte(x, '('); i > 0 {
			x = x[:i]
		}
		v, okV := integer(x)
		if !ok || !okV || len(p.open.literals) >= 4 {
			p.base.problem(t, "literal not understood")
			return
		}
		p.open.literals = append(p.open.literals, uint32(v))
	}
}

func (p *r600) endGroup() {
	into := p.cur
	if into == nil {
		into = p.inner
	}
	if p.open != nil && into != nil && len(p.open.slots) > 0 {
		for i := range p.open.slots {
			if f := p.open.slots[i].flags; len(f) > 0 && f[0] == "last" {
				p.open.slots[i].flags = f[1:]
			}
		}
		into.groups = append(into.groups, *p.open)
	}
	p.open = nil
}

// endFunc binds the clauses to the list and builds the function.
func (p *r600) endFunc() error {
	p.endGroup()
	fn := p.fn
	p.fn, p.cur, p.inner = nil, nil, nil
	if fn == nil || len(p.list) == 0 {
		p.list = p.list[:0]
		clear(p.clauses)
		return nil
	}
	for i := range p.list {
		l := &p.list[i]
		if l.op != "TEX" && l.op != "VTX" && !strings.HasPrefix(l.op, "ALU") {
			continue
		}
		n, ok := cfNumber(l.rest, "@")
		if !ok || p.clauses[n] == nil || l.clause != nil {
			continue // the builder reports it
		}
		c := *p.clauses[n]
		c.kcache = kcaches(l.rest)
		if cnt, ok := small(strings.TrimSuffix(firstField(l.rest), ",")); ok && strings.HasPrefix(l.op, "TEX") && cnt+1 != len(c.fetches) {
			p.base.line = l.line
			p.base.problem(l.text, "the clause has another number of fetches")
		}
		l.clause = &c
	}
	err := p.build(fn, p.list)
	p.list = p.list[:0]
	clear(p.clauses)
	return err
}

func firstField(s string) string {
	w, _ := cutWord(s)
	return w
}

// kcaches reads KC0[CB0:0-32], KC1[].
func kcaches(s string) (k [4]kcache) {
	for i := 0; i < 4; i++ {
		j := strings.Index(s, "KC"+string(rune('0'+i))+"[CB")
		if j < 0 {
			continue
		}
		t := s[j+6:]
		buf, _ := cfNumber(t, "")
		base, _ := cfNumber(t, ":")
		k[i] = kcache{buf, base, true}
	}
	return k
}
