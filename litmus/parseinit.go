package litmus

// init reads the initial state after its opening brace.
func (p *parser) init() bool {
	p.next()
	for {
		for p.accept(';') {
		}
		if p.tok.kind == '}' {
			break
		}
		if p.tok.kind == tEOF {
			return p.errorf(p.pos(), "initial state is not closed")
		}
		if !p.initItem() {
			if p.full() {
				return false
			}
			for p.tok.kind != ';' && p.tok.kind != '}' && p.tok.kind != tEOF {
				p.next()
			}
		}
		if p.tok.kind != ';' && p.tok.kind != '}' {
			return p.errorf(p.pos(), "expected ; or } in the initial state, found %s", p.found())
		}
	}
	p.next()
	p.accept(';')
	return p.initNames()
}

// initNames rejects names that look like registers of dialect PTX, where registers are not
// declared, and are used as locations without being declared as such.
func (p *parser) initNames() bool {
	ok := true
	for i := range p.t.Locations {
		if l := &p.t.Locations[i]; p.t.Dialect == PTX && regLike(l.Name) && !p.initial[i] {
			ok = p.errorf(l.Pos, "%s names a register, not a location; to have a location of that name, write %s=0", l.Name, l.Name)
		}
	}
	return ok
}

func (p *parser) initItem() bool {
	switch {
	case p.tok.kind == '[':
		p.next()
		if !p.initLocation() {
			return false
		}
		return true
	case (p.tok.kind == tNum || p.tok.kind == tWord) && p.peek() == ':':
		i, ok := p.threadRef()
		if !ok {
			return false
		}
		p.next() // the colon
		return p.initRegister(i)
	case p.tok.kind == tWord:
		return p.initLocation()
	}
	return p.errorf(p.pos(), "expected a register or a location, found %s", p.found())
}

// threadRef reads a thread's number: 0, T0 or P0.
func (p *parser) threadRef() (int, bool) {
	s := p.tok.text
	if p.tok.kind == tWord {
		i := len(s)
		for i > 0 && chars[s[i-1]]&chDigit != 0 {
			i--
		}
		if s = s[i:]; s == "" {
			return 0, p.errorf(p.pos(), "thread %s has no number in its name", p.tok.text)
		}
	}
	n, err := number(s, false)
	if err != nil {
		return 0, p.errorf(p.pos(), "thread: %v", err)
	}
	if n >= MaxThreads {
		return 0, p.errorf(p.pos(), "thread %d is beyond the limit of %d threads", n, MaxThreads)
	}
	p.next()
	return int(n), true
}

// initRegister reads what follows "0:": .reg TYPE r [= init], …, or r [= init].
func (p *parser) initRegister(i int) bool {
	typ := TypeNone
	th := p.thread(i)
	if p.tok.kind == tWord && p.tok.text == ".reg" {
		p.next()
		if p.tok.kind != tWord || p.tok.text[0] != '.' || typeOf(p.tok.text[1:]) == TypeNone {
			return p.errorf(p.pos(), "expected a register's type behind .reg, found %s", p.found())
		}
		typ = typeOf(p.tok.text[1:])
		p.next()
	}
	if p.t.Dialect == OpenCL && p.tok.kind == tWord {
		if t := cTypeOf(p.tok.text); t != TypeNone {
			typ = t
			if p.next(); p.accept('*') {
				typ = B64
			}
		}
	}
	for {
		d := RegDecl{Name: p.tok.text, Type: typ, Pos: p.pos()}
		if p.tok.kind != tWord || !isIdent(d.Name) {
			return p.errorf(p.pos(), "expected a register, found %s", p.found())
		}
		p.next()
		if p.accept('=') {
			if !p.initValue(&d.Init) {
				return false
			}
		}
		if !p.declare(th, d) {
			return false
		}
		if typ == TypeNone || !p.accept(',') {
			return true
		}
	}
}

// declare adds a register; "0:r1=x" after ".reg" only initialises it.
func (p *parser) declare(th *Thread, d RegDecl) bool {
	if d.Type == TypeNone && d.Init.Kind != OperandNone {
		if old := th.Decl(d.Name); old != nil && old.Init.Kind == OperandNone {
			old.Init = d.Init
			return true
		}
	}
	if len(th.Regs) == MaxNames {
		return p.errorf(d.Pos, "more than %d registers in thread %d", MaxNames, th.ID)
	}
	if th.Regs == nil {
		th.Regs = make([]RegDecl, 0, 4)
	}
	th.Regs = append(th.Regs, d)
	return true
}

// initValue reads a constant or a location's address.
func (p *parser) initValue(o *Operand) bool {
	switch p.tok.kind {
	case tNum, '-', '+':
		v, ok := p.constant()
		*o = Const(v)
		return ok
	case '&':
		p.next()
	}
	if p.tok.kind != tWord || !isIdent(p.tok.text) || reserved(p.tok.text) {
		return p.errorf(p.pos(), "expected a constant or a location, found %s", p.found())
	}
	*o = Loc(p.tok.text)
	if p.location(p.tok.text, p.pos()) == nil {
		return false
	}
	p.next()
	return true
}

// constant reads a number with an optional sign.
func (p *parser) constant() (int64, bool) {
	pos := p.pos()
	neg := p.accept('-')
	if !neg {
		p.accept('+')
	}
	if p.tok.kind != tNum {
		return 0, p.errorf(p.pos(), "expected a number, found %s", p.found())
	}
	v, err := number(p.tok.text, neg)
	if err != nil {
		return 0, p.errorf(pos, "%v", err)
	}
	p.next()
	return v, true
}

// initLocation reads x, x=1, [x]=1 (the bracket has been passed), h=x+2 or
// y @ generic aliases x.
func (p *parser) initLocation() bool {
	n, pos := p.tok.text, p.pos()
	if p.tok.kind != tWord || !isIdent(n) || reserved(n) {
		return p.errorf(pos, "expected a location, found %s", p.found())
	}
	l := p.location(n, pos)
	if l == nil {
		return false
	}
	i := len(p.t.Locations) - 1
	for p.t.Locations[i].Name != n {
		i--
	}
	p.next()
	p.accept(']')
	if p.initial[i] {
		return p.errorf(pos, "location %s is initialised twice", n)
	}
	p.initial[i] = true
	if p.accept('@') {
		return p.alias(i)
	}
	if !p.accept('=') {
		return true
	}
	if p.tok.kind == tWord && p.peek() == '+' {
		return p.part(i)
	}
	if p.tok.kind == tWord || p.tok.kind == '&' {
		return p.errorf(p.pos(), "location %s can only be initialised with a number", n)
	}
	v, ok := p.constant()
	p.t.Locations[i].Init = v
	return ok
}

// part reads "x+2", of which Locations[i] is a part.
func (p *parser) part(i int) bool {
	n := p.tok.text
	if !isIdent(n) || reserved(n) {
		return p.errorf(p.pos(), "expected a number, or the location of which %s is a part, found %s", p.t.Locations[i].Name, p.found())
	}
	if p.location(n, p.pos()) == nil {
		return false
	}
	p.next()
	l := &p.t.Locations[i]
	var ok bool
	l.Of = n
	l.Offset, ok = p.constant()
	return ok
}

// alias reads "generic aliases x" for Locations[i].
func (p *parser) alias(i int) bool {
	cl, v := clNone, uint8(0)
	if p.tok.kind == tWord {
		cl, v = classify(p.tok.text)
	}
	if cl != clProxyKind || Proxy(v) == ProxyAlias {
		return p.errorf(p.pos(), "expected generic, constant, texture or surface, found %s", p.found())
	}
	p.next()
	if p.tok.kind != tWord || p.tok.text != "aliases" {
		return p.errorf(p.pos(), "expected aliases, found %s", p.found())
	}
	p.next()
	n := p.tok.text
	if p.tok.kind != tWord || !isIdent(n) || reserved(n) {
		return p.errorf(p.pos(), "expected the location that is aliased, found %s", p.found())
	}
	if p.location(n, p.pos()) == nil {
		return false
	}
	p.t.Locations[i].Alias, p.t.Locations[i].Proxy = n, Proxy(v)
	p.next()
	return true
}
