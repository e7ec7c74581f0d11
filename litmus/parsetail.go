package litmus

// tail reads what follows the table: scope tree, memory map, observed items
// and condition, in any order.
func (p *parser) tail() bool {
	cond := false
	for p.tok.kind != tEOF {
		ok := false
		switch {
		case p.tok.kind == '(' || p.tok.kind == tWord && isTree(p.tok.text):
			if p.placed || len(p.t.Threads) > 0 && p.t.Threads[0].Placed {
				return p.errorf(p.pos(), "threads are placed twice")
			}
			ok = p.scopeTree()
		case p.tok.kind == tWord && p.tok.text == "locations":
			ok = p.observed()
		case p.tok.kind == ';':
			p.next()
			ok = true
		case p.atMap():
			ok = p.mapEntry()
		case !cond:
			cond = true
			ok = p.condition()
		default:
			ok = p.errorf(p.pos(), "expected the end of the test, found %s", p.found())
		}
		if !ok {
			return false
		}
	}
	return true
}

func isTree(s string) bool { return s == "ScopeTree" || s == "scopeTree" || s == "scopetree" }

// spaceOf returns the state space that a memory map names. Local and other unshared spaces
// cannot hold a litmus test's locations.
func spaceOf(s string) (Space, bool) {
	switch s {
	case "global":
		return Global, true
	case "shared":
		return Shared, true
	}
	return Generic, false
}

// mapEntry reads one entry of the memory map and the separator after it.
func (p *parser) mapEntry() bool {
	n, pos := p.tok.text, p.pos()
	if !isIdent(n) || reserved(n) || p.t.Dialect == PTX && regLike(n) && p.t.Location(n) == nil {
		return p.errorf(pos, "%s cannot be a location", n)
	}
	l := p.location(n, pos)
	if l == nil {
		return false
	}
	p.loose = true
	p.next()
	p.next() // the colon
	space, _ := spaceOf(p.tok.text)
	if l.Space != Generic && l.Space != space {
		return p.errorf(pos, "location %s is both %s and %s", n, l.Space, space)
	}
	l.Space = space
	p.next()
	if p.accept('@') && !p.home(l) {
		return false
	}
	if !p.accept(',') {
		p.accept(';')
	}
	return true
}

// home reads "device 1" after the @ of a memory map.
func (p *parser) home(l *Location) bool {
	if p.tok.kind != tWord || p.tok.text != "device" {
		return p.errorf(p.pos(), "expected device behind @, found %s", p.found())
	}
	p.next()
	pos := p.pos()
	v, ok := p.constant()
	switch {
	case !ok:
		return false
	case v < 0 || v >= MaxDevices:
		return p.errorf(pos, "device %d is not in 0 to %d", v, MaxDevices-1)
	case l.Homed && l.Device != int(v):
		return p.errorf(pos, "location %s lies on device %d and on device %d", l.Name, l.Device, v)
	}
	l.Homed, l.Device = true, int(v)
	return true
}

// observed reads locations [x; 1:r0;].
func (p *parser) observed() bool {
	p.next()
	if !p.expect('[', "[ behind locations") {
		return false
	}
	for p.tok.kind != ']' {
		pos := p.pos()
		t, ok := p.term()
		if !ok {
			return false
		}
		if t.Kind == TermConst {
			return p.errorf(pos, "expected a location or a register to observe")
		}
		p.t.Observed = append(p.t.Observed, t)
		if !p.accept(';') && p.tok.kind != ']' {
			return p.errorf(p.pos(), "expected ; or ], found %s", p.found())
		}
	}
	p.next()
	return true
}

// condition reads the quantifier and the expression.
func (p *parser) condition() bool {
	c := &p.t.Cond
	c.Pos = p.pos()
	neg := p.accept('~')
	if !neg && p.tok.kind == tWord && p.tok.text == "not" {
		neg = true
		p.next()
	}
	switch {
	case p.tok.kind == tWord && p.tok.text == "exists" && neg:
		c.Quant = NotExists
	case p.tok.kind == tWord && p.tok.text == "exists":
		c.Quant = Exists
	case p.tok.kind == tWord && p.tok.text == "forall" && !neg:
		c.Quant = Forall
	default:
		return p.errorf(p.pos(), "expected scope tree, memory map or condition, found %s", p.found())
	}
	p.next()
	var ok bool
	c.Expr, ok = p.or(0)
	return ok
}

func (p *parser) or(depth int) (Expr, bool) {
	x, ok := p.and(depth)
	if !ok || p.tok.kind != tOr {
		return x, ok
	}
	list := []Expr{x}
	for p.accept(tOr) {
		if x, ok = p.and(depth); !ok {
			return nil, false
		}
		list = append(list, x)
	}
	return Or{list}, true
}

func (p *parser) and(depth int) (Expr, bool) {
	x, ok := p.unary(depth)
	if !ok || p.tok.kind != tAnd {
		return x, ok
	}
	list := make([]Expr, 1, 4)
	list[0] = x
	for p.accept(tAnd) {
		if x, ok = p.unary(depth); !ok {
			return nil, false
		}
		list = append(list, x)
	}
	return And{list}, true
}

func (p *parser) unary(depth int) (Expr, bool) {
	if depth++; depth > maxDepth {
		return nil, p.errorf(p.pos(), "condition is nested deeper than %d", maxDepth)
	}
	word := p.tok.kind == tWord
	switch {
	case p.tok.kind == '~' || word && p.tok.text == "not":
		p.next()
		x, ok := p.unary(depth)
		return Not{x}, ok
	case p.accept('('):
		x, ok := p.or(depth)
		if !ok || !p.expect(')', ") or another relation") {
			return nil, false
		}
		return x, true
	case word && p.tok.text == "true":
		p.next()
		return True{}, true
	case word && p.tok.text == "false":
		p.next()
		return Not{True{}}, true
	}
	return p.atom()
}

func (p *parser) atom() (Expr, bool) {
	var a Atom
	var ok bool
	if a.Left, ok = p.term(); !ok {
		return nil, false
	}
	switch p.tok.kind {
	case '=', tEq:
		a.Cmp = CmpEq
	case tNe:
		a.Cmp = CmpNe
	case '<':
		a.Cmp = CmpLt
	case tLe:
		a.Cmp = CmpLe
	case '>':
		a.Cmp = CmpGt
	case tGe:
		a.Cmp = CmpGe
	default:
		return nil, p.errorf(p.pos(), "expected a comparison, found %s", p.found())
	}
	p.next()
	a.Right, ok = p.term()
	return a, ok
}

// term reads 0:r2, P0:r2, x, [x] or a number.
func (p *parser) term() (t Term, ok bool) {
	pos := p.pos()
	if p.terms++; p.terms > maxTerms {
		return t, p.errorf(pos, "more than %d terms", maxTerms)
	}
	switch p.tok.kind {
	case '[':
		p.next()
		t.Kind = TermLoc
		if !p.name(&t.Name, "a location") {
			return t, false
		}
		return t, p.expect(']', "]")
	case tNum, tWord:
		if p.peek() == ':' {
			if t.Thread, ok = p.threadRef(); !ok {
				return t, false
			}
			if t.Thread >= len(p.t.Threads) {
				return t, p.errorf(pos, "the test has no thread %d", t.Thread)
			}
			p.next() // the colon
			t.Kind = TermReg
			return t, p.name(&t.Name, "a register")
		}
		if p.tok.kind == tWord {
			t.Kind = TermLoc
			if reserved(p.tok.text) {
				return t, p.errorf(pos, "expected a term, found %s", p.found())
			}
			return t, p.name(&t.Name, "a location or a register")
		}
		fallthrough
	case '-', '+':
		t.Value, ok = p.constant()
		return t, ok
	}
	return t, p.errorf(pos, "expected a term, found %s", p.found())
}
