package cat

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

// arg reads an argument: a name, a constant, a tag or something in brackets; nil if the next
// token begins none.
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
