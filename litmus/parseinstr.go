package litmus

import (
	"fmt"
	"strings"
)

// mods is what the modifiers of an instruction say beyond the fields of Instr.
type mods struct {
	seen     class
	col      [dims]int // column of the modifier that sets it, 0 if none does
	sync     uint8
	plain    bool // there was no modifier
	relaxed  bool // .relaxed beside .mmio
	unsigned bool // the comparison is one of unsigned numbers
	aligned  bool
}

// modifiers reads ".a.b.c" into in. Each class may appear once and only if the
// opcode takes it; cvt alone has two types, and .mmio.relaxed is one qualifier.
// rest begins with a dot or is empty; col is its column.
func (p *parser) modifiers(in *Instr, oc *opcode, rest string, col int, m *mods) bool {
	m.plain = rest == ""
	for rest != "" {
		end := strings.IndexByte(rest[1:], '.') + 1
		if end == 0 {
			end = len(rest)
		}
		mod := rest[1:end]
		cl, v := oc.classify(mod)
		if cl == clType && m.seen&clType != 0 && oc.takes&clFrom != 0 {
			cl = clFrom
		}
		switch {
		case cl&oc.takes == 0:
			return p.errorf(Pos{p.file, p.tok.line, col}, "%s", oc.refuses(mod, p.t.Dialect))
		case cl&(clProxy|clLo) != 0 && m.seen != 0:
			return p.errorf(Pos{p.file, p.tok.line, col}, ".%s stands right behind %s", mod, oc.name)
		case cl == clSem && m.seen&clSem != 0 && !m.relaxed &&
			(in.Sem == SemMMIO && Sem(v) == SemRelaxed || in.Sem == SemRelaxed && Sem(v) == SemMMIO):
			m.relaxed, v = true, uint8(SemMMIO)
		case cl&m.seen != 0:
			return p.errorf(Pos{p.file, p.tok.line, col}, "second modifier of its kind: .%s", mod)
		}
		m.set(in, cl, v, mod, col)
		rest = rest[end:]
		col += end
	}
	if in.Sem == SemMMIO && !m.relaxed {
		return p.errorf(Pos{p.file, p.tok.line, m.col[dimSem]}, "PTX has no %s.mmio without .relaxed: write .mmio.relaxed", oc.name)
	}
	return true
}

// set records one modifier.
func (m *mods) set(in *Instr, cl class, v uint8, mod string, col int) {
	m.seen |= cl
	if d, ok := cl.dim(); ok {
		m.col[d] = col
		*in = in.with(d, v)
	}
	switch cl {
	case clCmp:
		m.unsigned = in.Cmp.String() != mod
	case clSync:
		m.sync = v
	case clAligned:
		m.aligned = true
	}
}

// instr reads one instruction; the current token is its mnemonic.
func (p *parser) instr(th *Thread, in *Instr) bool {
	word, pos := p.tok.text, p.pos()
	if f := asyncByName[word]; f != nil && p.t.Dialect != OpenCL {
		in.Op, in.Async = OpAsync, f
		p.next()
		return p.asyncOperands(th, in)
	}
	if w, ok := wordByName[word]; ok && p.t.Dialect != OpenCL {
		p.next()
		return p.wordOperands(th, in, w)
	}
	base := word
	if i := strings.IndexByte(word, '.'); i >= 0 {
		base = word[:i]
	}
	oc := p.t.Dialect.opcode(base)
	if oc == nil {
		return p.errorf(pos, "unknown instruction %s: %s has %s", p.found(), p.t.Dialect, p.t.Dialect.opcodeNames())
	}
	in.Op, in.Proxy, in.Cmp = oc.op, oc.proxy, oc.cmp
	var m mods
	if !p.modifiers(in, oc, word[len(base):], pos.Col+len(base), &m) {
		return false
	}
	p.next()
	ok := true
	switch in.Op {
	case OpFence:
		ok = p.fence(in, &m, pos)
	case OpBar:
		ok = p.bar(th, in, oc, &m, pos)
	default:
		operands := oc.operands
		if in.Atom == AtomCAS && in.Op == OpAtom {
			operands += "s"
		}
		ok = p.operands(th, in, operands, m.plain)
	}
	return ok && p.legal(in, &m, pos)
}

// legal rejects what the dialect does not have, at the offending modifier.
func (p *parser) legal(in *Instr, m *mods, pos Pos) bool {
	msg, at := p.t.Dialect.illegal(in)
	if msg == "" && in.Op == OpBar {
		msg = p.t.Dialect.IllegalBarrier(&in.Barrier)
	}
	if msg == "" && in.Op == OpMul && in.Type != TypeNone && p.t.Dialect != OpenCL && m.seen&clLo == 0 {
		msg = fmt.Sprintf("PTX has no mul.%s without .lo: write mul.lo.%s", in.Type, in.Type)
	}
	if msg == "" && m.unsigned && !in.Type.unsigned() {
		msg, at = ".lo, .ls, .hi and .hs compare unsigned numbers, .u16, .u32 or .u64; write ."+in.Cmp.String(), dimCmp
	}
	if msg == "" {
		return true
	}
	if at < dims && m.col[at] > 0 {
		pos.Col = m.col[at]
	}
	return p.errorf(pos, "%s", msg)
}

// fence distinguishes fence.sc.gpu from fence.proxy.alias.
func (p *parser) fence(in *Instr, m *mods, pos Pos) bool {
	const proxy = clProxy | clProxyKind
	switch {
	case m.seen&proxy == 0:
		return true
	case m.seen == proxy:
		in.Op = OpFenceProxy
		return true
	}
	return p.errorf(pos, "expected fence.SEM.SCOPE or fence.proxy.KIND")
}

// bar reads the operands of a barrier. PTX has number and thread count; model
// checkers write bar.cta.sync with an ID, a resource, which is the barrier's
// number, and a quorum.
func (p *parser) bar(th *Thread, in *Instr, oc *opcode, m *mods, pos Pos) bool {
	switch {
	case m.seen&clSync == 0:
		return p.errorf(pos, "PTX has no %s alone; write bar.sync or bar.arrive", oc.name)
	case in.Scope != ScopeNone && in.Scope != ScopeCTA:
		return p.errorf(Pos{p.file, pos.Line, m.col[dimScope]}, "a barrier is of a CTA: write .cta, or leave .%s out", in.Scope)
	case oc.takes&clAligned != 0 && !m.aligned:
		return p.errorf(pos, "barrier without .aligned is not in the dialect: write bar.sync or barrier.sync.aligned")
	}
	resource := p.t.Dialect == PTX && in.Scope == ScopeCTA
	in.Scope = ScopeNone
	b := &in.Barrier
	b.Arrive = m.sync == 1
	if !p.source(th, &b.ID) {
		return false
	}
	if !p.accept(',') {
		return true
	}
	if !resource {
		return p.source(th, &b.Quorum)
	}
	if !p.source(th, &b.Resource) {
		return false
	}
	return !p.accept(',') || p.source(th, &b.Quorum)
}
