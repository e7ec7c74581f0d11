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

func nary(kind OpKind, args []Expr, op Pos) Expr {
	if len(args) == 1 {
		return args[0]
	}
	return &Op{Pos: args[0].Position(), Kind: kind, Args: args, OpPos: op}
}

// chain reads operands of the next tighter level between occurrences of sym.
func (p *parser) chain(kind OpKind, sym string, next func() Expr) Expr {
	args := []Expr{next()}
	op := p.tok().pos
	for p.accept(sym) {
		args = append(args, next())
	}
	return nary(kind, args, op)
}

func (p *parser) union() Expr { return p.chain(OpUnion, "|", p.insert) }

// insert reads the right associative ++.
func (p *parser) insert() Expr {
	defer p.enter()()
	x := p.seq()
	if op := p.tok().pos; p.accept("++") {
		return nary(OpInsert, []Expr{x, p.insert()}, op)
	}
	return x
}

func (p *parser) seq() Expr { return p.chain(OpSeq, ";", p.diff) }

// diff reads the left associative \.
func (p *parser) diff() Expr {
	x := p.inter()
	for n := 0; p.is(`\`); n++ {
		if n > maxDepth {
			p.fail(p.tok().pos, "nested more than %d deep", maxDepth)
		}
		op := p.advance().pos
		x = nary(OpDiff, []Expr{x, p.inter()}, op)
	}
	return x
}

func (p *parser) inter() Expr { return p.chain(OpInter, "&", p.product) }

func (p *parser) product() Expr {
	x := p.prefix()
	if !p.is("*") {
		return x
	}
	op := p.advance().pos
	x = nary(OpProduct, []Expr{x, p.prefix()}, op)
	if p.is("*") {
		p.fail(p.tok().pos, "a product of three needs parentheses: (a * b) * c or a * (b * c)")
	}
	return x
}

func (p *parser) prefix() Expr {
	t := p.tok()
	if !p.is("~") {
		return p.postfix()
	}
	defer p.enter()()
	p.advance()
	return &Unary{Pos: t.pos, Kind: OpComplement, X: p.prefix(), OpPos: t.pos}
}

var postfixOps = map[string]UnaryKind{"^-1": OpInverse, "+": OpPlus, "*": OpStar, "?": OpOpt}

func (p *parser) postfix() Expr {
	x := p.application()
	for n := 0; ; n++ {
		t := p.tok()
		k, ok := postfixOps[t.text]
		if t.kind != tPunct || !ok || t.text == "*" && p.startsOperand(1) {
			return x
		}
		if n > maxDepth {
			p.fail(t.pos, "nested more than %d deep", maxDepth)
		}
		p.advance()
		x = &Unary{Pos: x.Position(), Kind: k, X: x, OpPos: t.pos}
	}
}

// startsOperand reports whether the token k ahead can begin an operand: a *
// before it is a product. A ~ before the keyword of a test begins the next
// instruction.
func (p *parser) startsOperand(k int) bool {
	t := p.peek(k)
	switch t.kind {
	case tVar, tTag:
		return true
	case tKeyword:
		return t.text == "begin"
	case tPunct:
		switch t.text {
		case "(", "[", "{", "_", "0":
			return true
		case "~":
			return !p.peekIs(k+1, "acyclic") && !p.peekIs(k+1, "irreflexive") && !p.peekIs(k+1, "empty")
		}
	}
	return false
}

func (p *parser) application() Expr {
	t := p.tok()
	if t.kind != tVar {
		x := p.arg()
		if x == nil {
			p.fail(t.pos, "expected an expression, found %s", t.describe())
		}
		return x
	}
	p.advance()
	var x Expr = &Var{t.pos, t.text}
	for n := 0; ; n++ {
		a := p.arg()
		if a == nil {
			return x
		}
		if n > maxDepth {
			p.fail(t.pos, "nested more than %d deep", maxDepth)
		}
		x = &App{Pos: t.pos, Fun: x, Arg: a}
	}
}

// arg reads what may stand as an argument: a name, a constant, a tag or
// something in brackets; nil if the next token begins none.
func (p *parser) arg() Expr {
	t := p.tok()
	switch {
	case t.kind == tVar:
		p.advance()
		return &Var{t.pos, t.text}
	case t.kind == tTag:
		p.advance()
		return &TagLit{t.pos, t.text}
	case p.accept("0"):
		return &Const{t.pos, false}
	case p.accept("_"):
		return &Const{t.pos, true}
	case p.accept("{"):
		list := p.exprList("}")
		p.expect("}", "after the elements")
		if len(list) == 0 {
			return &Const{t.pos, false}
		}
		return &SetLit{t.pos, list}
	case p.accept("["):
		x := p.expr()
		p.expect("]", "after the expression")
		return &Unary{Pos: t.pos, Kind: OpToID, X: x, OpPos: t.pos}
	case p.accept("begin"):
		x := p.expr()
		p.expect("end", "after the expression")
		return x
	case p.accept("("):
		if p.accept(")") {
			return &Tuple{Pos: t.pos}
		}
		x := p.expr()
		p.expect(")", "after the expression")
		return x
	}
	return nil
}

// exprList reads expressions between commas up to (not including) end.
func (p *parser) exprList(end string) []Expr {
	var out []Expr
	if p.is(end) {
		return nil
	}
	for {
		out = append(out, p.operand0())
		if !p.accept(",") {
			return out
		}
	}
}

// cond reads the condition of an if.
func (p *parser) cond() Cond {
	defer p.enter()()
	if !p.variantAhead() {
		return p.compare()
	}
	x := p.condAnd()
	if pos := p.tok().pos; p.accept("||") {
		return &OrCond{pos, x, p.cond()}
	}
	return x
}

// variantAhead reports whether a condition over variant names follows; only
// there do strings occur.
func (p *parser) variantAhead() bool {
	for k := 0; k < maxDepth; k++ {
		switch t := p.peek(k); {
		case t.kind == tString, p.peekIs(k, "not"), p.peekIs(k, "variant"):
			return true
		case !p.peekIs(k, "("):
			return false
		}
	}
	return false
}

func (p *parser) condAnd() Cond {
	defer p.enter()()
	x := p.condNot()
	if pos := p.tok().pos; p.accept("&&") {
		return &AndCond{pos, x, p.condAnd()}
	}
	return x
}

func (p *parser) condNot() Cond {
	defer p.enter()()
	t := p.tok()
	switch {
	case p.accept("not"):
		return &NotCond{t.pos, p.condNot()}
	case p.is("(") && p.variantAhead():
		p.advance()
		x := p.cond()
		p.expect(")", "after the condition")
		return x
	}
	if p.accept("variant"); p.tok().kind == tString {
		return &Variant{t.pos, p.advance().text}
	}
	return p.compare()
}

func (p *parser) compare() Cond {
	c := &Compare{Pos: p.tok().pos}
	c.L = p.expr()
	switch t := p.tok(); {
	case p.accept("="):
		c.Kind = CmpEqual
	case p.accept("subset"):
		c.Kind = CmpSubset
	case p.accept("in"):
		c.Kind = CmpIn
	default:
		p.fail(t.pos, "expected =, subset or in, found %s", t.describe())
	}
	c.R = p.expr()
	return c
}
