package litmus

import "strings"

// mods is what the modifiers of an instruction say.
type mods struct {
	seen class
	from Type // second type, of cvt
	sync uint8
	mmio bool
}

// modifiers reads ".a.b.c" into in. Each class may appear once and only if
// allowed names it; cvt alone has two types. rest begins with a dot or is
// empty; col is its column.
func (p *parser) modifiers(in *Instr, rest string, col int, allowed class) (m mods, ok bool) {
	for rest != "" {
		end := strings.IndexByte(rest[1:], '.') + 1
		if end == 0 {
			end = len(rest)
		}
		mod := rest[1:end]
		cl, v := classify(mod)
		bad := ""
		switch {
		case cl == clNone:
			bad = "unknown modifier"
		case cl&allowed == 0:
			bad = in.Op.String() + " takes no modifier"
		case cl == clSem && m.mmio && Sem(v) == SemRelaxed:
			m.mmio = false // .mmio.relaxed is one qualifier
			rest = rest[end:]
			col += end
			continue
		case cl == clType && in.Op == OpCvt && m.seen&clType != 0 && m.from == TypeNone:
			m.from = Type(v)
			rest = rest[end:]
			col += end
			continue
		case cl&m.seen != 0 && cl != clHint:
			bad = "second modifier of its kind:"
		}
		if bad != "" {
			return m, p.errorf(Pos{p.file, p.tok.line, col}, "%s .%s", bad, mod)
		}
		m.seen |= cl
		m.mmio = m.mmio || cl == clSem && Sem(v) == SemMMIO
		p.set(in, &m, cl, v)
		rest = rest[end:]
		col += end
	}
	return m, true
}

func (p *parser) set(in *Instr, m *mods, cl class, v uint8) {
	switch cl {
	case clSem:
		in.Sem = Sem(v)
	case clScope, clGL:
		in.Scope = Scope(v)
	case clSpace:
		in.Space = Space(v)
	case clCache:
		in.Cache = CacheOp(v)
	case clType:
		in.Type = Type(v)
	case clAtom:
		in.Atom = AtomOp(v)
	case clCmp, clLo:
		in.Cmp = Cmp(v)
	case clProxyKind:
		in.Proxy = Proxy(v)
	case clSync:
		m.sync = v
	}
}

// shape tells how an instruction is written: the modifiers it takes and its
// operands, one letter each: d destination, a address, s source, l label.
type shape struct {
	op       Op
	allowed  class
	operands string
	proxy    Proxy
	cmp      Cmp
}

const clAccess = clSem | clScope | clSpace | clType

// shapeOf returns the shape of a mnemonic.
func shapeOf(m string) (shape, bool) {
	switch m {
	case "ld":
		return shape{op: OpLd, allowed: clAccess | clCache, operands: "da"}, true
	case "st":
		return shape{op: OpSt, allowed: clAccess | clCache, operands: "as"}, true
	case "atom":
		return shape{op: OpAtom, allowed: clAccess | clAtom, operands: "das"}, true
	case "red":
		return shape{op: OpRed, allowed: clAccess | clAtom, operands: "as"}, true
	case "fence":
		return shape{op: OpFence, allowed: clSem | clScope | clProxy | clProxyKind}, true
	case "membar":
		return shape{op: OpMembar, allowed: clScope | clGL}, true
	case "bar", "barrier":
		return shape{op: OpBar, allowed: clScope | clSync | clHint, operands: "b"}, true
	case "mov":
		return shape{op: OpMov, allowed: clType, operands: "ds"}, true
	case "cvt":
		return shape{op: OpCvt, allowed: clType, operands: "ds"}, true
	case "add":
		return shape{op: OpAdd, allowed: clType, operands: "dss"}, true
	case "sub":
		return shape{op: OpSub, allowed: clType, operands: "dss"}, true
	case "and":
		return shape{op: OpAnd, allowed: clType, operands: "dss"}, true
	case "or":
		return shape{op: OpOr, allowed: clType, operands: "dss"}, true
	case "xor":
		return shape{op: OpXor, allowed: clType, operands: "dss"}, true
	case "setp":
		return shape{op: OpSetp, allowed: clType | clCmp | clLo, operands: "dss"}, true
	case "selp":
		return shape{op: OpSelp, allowed: clType, operands: "dsss"}, true
	case "bra":
		return shape{op: OpBra, allowed: clHint, operands: "l"}, true
	}
	return shapeOfRare(m)
}

func shapeOfRare(m string) (shape, bool) {
	switch m {
	case "nop":
		return shape{op: OpNop}, true
	case "goto":
		return shape{op: OpBra, operands: "l"}, true
	case "beq", "bne", "blt", "ble", "bgt", "bge":
		return shape{op: OpBra, operands: "ssl", cmp: Cmp(index(cmpNames, m[1:]))}, true
	case "mul":
		return shape{op: OpMul, allowed: clType | clLo, operands: "dss"}, true
	case "div":
		return shape{op: OpDiv, allowed: clType, operands: "dss"}, true
	case "shl":
		return shape{op: OpShl, allowed: clType, operands: "dss"}, true
	case "shr":
		return shape{op: OpShr, allowed: clType, operands: "dss"}, true
	case "not":
		return shape{op: OpNot, allowed: clType, operands: "ds"}, true
	case "tld":
		return shape{op: OpLd, allowed: clAccess, operands: "da", proxy: ProxyTexture}, true
	case "suld":
		return shape{op: OpLd, allowed: clAccess, operands: "da", proxy: ProxySurface}, true
	case "cold":
		return shape{op: OpLd, allowed: clAccess, operands: "da", proxy: ProxyConstant}, true
	case "sust":
		return shape{op: OpSt, allowed: clAccess, operands: "as", proxy: ProxySurface}, true
	case "suatom":
		return shape{op: OpAtom, allowed: clAccess | clAtom, operands: "das", proxy: ProxySurface}, true
	case "sured":
		return shape{op: OpRed, allowed: clAccess | clAtom, operands: "as", proxy: ProxySurface}, true
	}
	return shape{}, false
}

// instr reads one instruction; the current token is its mnemonic.
func (p *parser) instr(th *Thread, in *Instr) bool {
	word, pos := p.tok.text, p.pos()
	base := word
	if i := strings.IndexByte(word, '.'); i >= 0 {
		base = word[:i]
	}
	sh, ok := shapeOf(base)
	if !ok || sh.proxy != ProxyNone && p.t.Dialect != PTX {
		return p.errorf(pos, "unknown instruction %s", p.found())
	}
	in.Op, in.Proxy, in.Cmp = sh.op, sh.proxy, sh.cmp
	m, ok := p.modifiers(in, word[len(base):], pos.Col+len(base), sh.allowed)
	if !ok {
		return false
	}
	p.next()
	switch in.Op {
	case OpFence:
		return p.fence(in, m, pos)
	case OpMembar:
		if in.Scope == ScopeNone {
			return p.errorf(pos, "membar needs .cta, .gl or .sys")
		}
		return true
	case OpBar:
		return p.bar(th, in, m, pos)
	case OpAtom, OpRed:
		if in.Atom == AtomNone {
			return p.errorf(pos, "%s needs an operation such as .add", base)
		}
		if in.Atom == AtomCAS && in.Op == OpAtom {
			sh.operands += "s"
		}
	case OpSetp:
		if in.Cmp == CmpNone {
			return p.errorf(pos, "setp needs a comparison such as .eq")
		}
	case OpMul:
		in.Cmp = CmpNone
	case OpCvt:
		in.FromType = m.from
	}
	return p.operands(th, in, sh.operands, m.seen == 0)
}

// fence tells fence.sc.gpu from fence.proxy.alias.
func (p *parser) fence(in *Instr, m mods, pos Pos) bool {
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

// bar reads the operands of a barrier. PTX has ID and thread count; dialect
// PTX has ID, resource and quorum.
func (p *parser) bar(th *Thread, in *Instr, m mods, pos Pos) bool {
	if m.seen&clSync == 0 || in.Scope != ScopeNone && in.Scope != ScopeCTA {
		return p.errorf(pos, "expected bar.sync or bar.arrive")
	}
	in.Scope = ScopeNone
	b := &in.Barrier
	b.Arrive = m.sync == 1
	if !p.source(th, &b.ID) {
		return false
	}
	if !p.accept(',') {
		return true
	}
	if !p.source(th, &b.Resource) {
		return false
	}
	if p.accept(',') {
		return p.source(th, &b.Quorum)
	}
	if p.t.Dialect.declared() {
		b.Resource, b.Quorum = b.Quorum, b.Resource
	}
	return true
}
