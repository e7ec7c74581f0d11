package cat

// bindings reads "b and b and …".
func (p *parser) bindings() []*Binding {
	out := []*Binding{p.binding()}
	for p.accept("and") {
		out = append(out, p.binding())
	}
	return out
}

// binding reads "(a, b) = e", "a, b = e", "x = e" or the definition of a
// function "f x = e", "f(x, y) = e", with any number of parameters.
func (p *parser) binding() *Binding {
	b := &Binding{Pos: p.tok().pos}
	if p.is("(") {
		b.Pat = p.param()
		p.expect("=", "after the pattern")
		b.X = p.expr()
		return b
	}
	id := p.pat0("a name to bind")
	b.Pat = Pattern{Pos: id.Pos, Names: []Ident{id}}
	if p.is(",") {
		b.Pat.Tuple = true
		for p.accept(",") {
			b.Pat.Names = append(b.Pat.Names, p.pat0("a name to bind"))
		}
	}
	var params []Pattern
	if !b.Pat.Tuple && id.Name != "_" {
		for p.is("(") || p.is("_") || p.tok().kind == tVar {
			params = append(params, p.param())
		}
	}
	p.expect("=", "in the definition of "+id.Name)
	b.X = p.expr()
	for i := len(params) - 1; i >= 0; i-- {
		b.X = &Fun{Pos: params[i].Pos, Param: params[i], Body: b.X, Name: id.Name}
	}
	return b
}

// param reads one parameter: a name or a tuple of names.
func (p *parser) param() Pattern {
	pat := Pattern{Pos: p.tok().pos}
	if !p.accept("(") {
		pat.Names = []Ident{p.pat0("a parameter")}
		return pat
	}
	for !p.is(")") {
		pat.Names = append(pat.Names, p.pat0("a parameter"))
		if !p.accept(",") {
			break
		}
	}
	p.expect(")", "after the parameters")
	pat.Tuple = len(pat.Names) != 1
	return pat
}

// expr reads an expression or a tuple without parentheses.
func (p *parser) expr() Expr {
	defer p.enter()()
	x := p.operand0()
	if !p.is(",") {
		return x
	}
	t := &Tuple{Pos: x.Position(), Elems: []Expr{x}}
	for p.accept(",") {
		t.Elems = append(t.Elems, p.operand0())
	}
	return t
}

// operand0 reads an expression that is no bare tuple.
func (p *parser) operand0() Expr {
	switch t := p.tok(); {
	case p.is("let"):
		return p.letExpr()
	case p.accept("fun"):
		f := &Fun{Pos: t.pos, Param: p.param()}
		p.expect("->", "after the parameters")
		f.Body = p.expr()
		return f
	case p.accept("try"):
		x := &Try{Pos: t.pos, X: p.expr()}
		p.expect("with", "after the tried expression")
		x.With = p.expr()
		return x
	case p.accept("if"):
		x := &If{Pos: t.pos, Cond: p.cond()}
		p.expect("then", "after the condition")
		x.Then = p.expr()
		p.expect("else", "after the first branch")
		x.Else = p.expr()
		return x
	case p.is("match"):
		return p.matchExpr()
	}
	return p.union()
}

func (p *parser) letExpr() Expr {
	defer p.enter()()
	x := &Let{Pos: p.advance().pos}
	x.Rec = p.accept("rec")
	x.Binds = p.bindings()
	p.expect("in", "after the bindings")
	x.Body = p.expr()
	return x
}

func (p *parser) matchExpr() Expr {
	defer p.enter()()
	pos := p.advance().pos
	x := p.expr()
	p.expect("with", "after the matched expression")
	p.accept("||")
	if p.tok().kind == tTag || p.is("_") && p.peekIs(1, "->") {
		return p.matchTags(pos, x)
	}
	return p.matchSet(pos, x)
}

func (p *parser) matchTags(pos Pos, x Expr) Expr {
	m := &Match{Pos: pos, X: x}
	for {
		switch t := p.tok(); {
		case p.accept("_"):
			p.expect("->", "after the pattern")
			m.Default = p.expr()
			p.expect("end", "after the last clause (\"_\" must be the last)")
			return m
		case t.kind == tTag:
			p.advance()
			p.expect("->", "after the pattern")
			m.Clauses = append(m.Clauses, Clause{Ident{t.pos, t.text}, p.expr()})
		default:
			p.fail(t.pos, "expected a tag or _, found %s", t.describe())
		}
		if !p.accept("||") {
			p.expect("end", "at the end of match")
			return m
		}
	}
}

// matchSet reads the two clauses of a match on a set, in either order.
func (p *parser) matchSet(pos Pos, x Expr) Expr {
	m := &MatchSet{Pos: pos, X: x}
	for n := 0; n < 2; n++ {
		if n == 1 {
			p.expect("||", "between the two clauses of a match on a set")
		}
		if t := p.tok(); p.accept("{") {
			if m.Empty != nil {
				p.fail(t.pos, "a match on a set has one clause {} and one clause x ++ xs")
			}
			p.expect("}", "in the pattern of the empty set")
			p.expect("->", "after the pattern")
			m.Empty = p.expr()
			continue
		} else if m.Body != nil {
			p.fail(t.pos, "a match on a set has one clause {} and one clause x ++ xs")
		}
		m.Elem = p.pat0("a pattern")
		if p.accept("|") {
			pre := m.Elem
			m.Pre = &pre
			m.Elem = p.pat0("a pattern")
		}
		p.expect("++", "in the pattern x ++ xs")
		m.Rest = p.pat0("a pattern")
		p.expect("->", "after the pattern")
		m.Body = p.expr()
	}
	p.expect("end", "at the end of match")
	return m
}
