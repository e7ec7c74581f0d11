package cat

// stmts reads instructions up to something that cannot begin one.
func (p *parser) stmts() []Stmt {
	defer p.enter()()
	var out []Stmt
	for {
		s := p.stmt()
		if s == nil {
			return out
		}
		out = append(out, s)
	}
}

// stmt reads one instruction; nil if the next token begins none.
func (p *parser) stmt() Stmt {
	t := p.tok()
	if t.kind == tPunct && t.text == "~" {
		return p.testStmt(KindCheck)
	}
	if t.kind != tKeyword {
		return nil
	}
	switch t.text {
	case "let":
		return p.letStmt()
	case "acyclic", "irreflexive", "empty":
		return p.testStmt(KindCheck)
	case "flag", "assert", "undefined_unless":
		p.advance()
		return p.testStmt(map[string]TestKind{"flag": KindFlag, "assert": KindAssert, "undefined_unless": KindUndefinedUnless}[t.text])
	case "show":
		return p.showStmt()
	case "unshow":
		p.advance()
		return &ShowStmt{Pos: t.pos, Unshow: true, Names: p.names()}
	case "include":
		return p.includeStmt()
	case "procedure":
		return p.procedureStmt()
	case "call":
		p.advance()
		s := &CallStmt{Pos: t.pos, Name: p.name("a procedure's name").Name}
		s.Arg = p.arg()
		if s.Arg == nil {
			p.fail(p.tok().pos, "expected the arguments of %s, found %s", s.Name, p.tok().describe())
		}
		s.As, _ = p.optName()
		return s
	case "enum":
		return p.enumStmt()
	case "forall":
		return p.forallStmt()
	case "with":
		p.advance()
		s := &WithStmt{Pos: t.pos, Var: p.name("a name after with").Name}
		p.expect("from", "after the name")
		s.X = p.expr()
		return s
	case "match":
		return p.matchStmt()
	case "if":
		return p.ifStmt()
	case "debug":
		p.advance()
		return &DebugStmt{Pos: t.pos, X: p.expr()}
	case "instructions", "default":
		return p.instructionsStmt()
	}
	return nil
}

func (p *parser) letStmt() Stmt {
	s := &LetStmt{Pos: p.advance().pos}
	s.Rec = p.accept("rec")
	s.Binds = p.bindings()
	if s.Rec && p.accept("when") {
		t := p.test()
		s.When = &t
	}
	p.accept("in") // herd allows it and it means nothing here
	return s
}

func (p *parser) testStmt(kind TestKind) Stmt {
	pos := p.tok().pos
	if kind != KindCheck {
		pos = p.toks[p.i-1].pos
	}
	s := &TestStmt{Pos: pos, Kind: kind, Test: p.test()}
	if kind == KindFlag && s.Test.Name == "" {
		p.fail(pos, "a flag needs a name: flag %s … as NAME", s.Test.Pred)
	}
	return s
}

func (p *parser) test() Test {
	t := Test{Pos: p.tok().pos}
	t.Negated = p.accept("~")
	switch tok := p.tok(); {
	case p.accept("acyclic"):
		t.Pred = Acyclic
	case p.accept("irreflexive"):
		t.Pred = Irreflexive
	case p.accept("empty"):
		t.Pred = Empty
	default:
		p.fail(tok.pos, "expected acyclic, irreflexive or empty, found %s", tok.describe())
	}
	t.X = p.expr()
	t.Name, t.NamePos = p.optName()
	return t
}

func (p *parser) optName() (string, Pos) {
	if !p.accept("as") {
		return "", Pos{}
	}
	id := p.name("a name after as")
	return id.Name, id.Pos
}

func (p *parser) names() []Ident {
	out := []Ident{p.name("a name")}
	for p.accept(",") {
		out = append(out, p.name("a name"))
	}
	return out
}

// showStmt reads "show a, b" or "show e as name".
func (p *parser) showStmt() Stmt {
	pos := p.advance().pos
	start := p.i
	if p.tok().kind == tVar {
		ids := p.names()
		if k := p.tok(); k.kind == tEOF || k.kind == tKeyword && k.text != "as" || p.is("||") ||
			p.is("~") { // ~empty begins the next instruction
			return &ShowStmt{Pos: pos, Names: ids}
		}
	}
	p.i = start
	s := &ShowAsStmt{Pos: pos, X: p.expr()}
	p.expect("as", "after the shown expression")
	s.Name = p.name("a name after as").Name
	return s
}

func (p *parser) includeStmt() Stmt {
	s := &IncludeStmt{Pos: p.advance().pos}
	t := p.tok()
	if t.kind != tString {
		p.fail(t.pos, "expected a file name in quotes after include, found %s", t.describe())
	}
	p.advance()
	s.Path = t.text
	f, err := p.in.resolve(s)
	if err != nil {
		if p.soft == 0 {
			panic(err)
		}
		s.Err = err
	}
	s.File = f
	return s
}

func (p *parser) procedureStmt() Stmt {
	s := &ProcedureStmt{Pos: p.advance().pos}
	s.Rec = p.accept("rec")
	s.Name = p.name("a procedure's name").Name
	s.Param = p.param()
	p.expect("=", "after the procedure's parameters")
	s.Body = p.stmts()
	p.expect("end", "at the end of procedure "+s.Name)
	return s
}

func (p *parser) enumStmt() Stmt {
	s := &EnumStmt{Pos: p.advance().pos, Name: p.name("a name after enum").Name}
	p.expect("=", "after the enumeration's name")
	p.accept("||")
	for {
		t := p.tok()
		if t.kind != tTag {
			p.fail(t.pos, "expected a tag, found %s", t.describe())
		}
		p.advance()
		s.Tags = append(s.Tags, Ident{t.pos, t.text})
		if !p.accept("||") {
			return s
		}
	}
}

func (p *parser) forallStmt() Stmt {
	s := &ForallStmt{Pos: p.advance().pos, Var: p.name("a name after forall").Name}
	p.expect("in", "after the name")
	s.X = p.expr()
	p.expect("do", "after the set of forall")
	s.Body = p.stmts()
	p.expect("end", "at the end of forall")
	return s
}

func (p *parser) matchStmt() Stmt {
	s := &MatchStmt{Pos: p.advance().pos}
	s.X = p.expr()
	p.expect("with", "after the matched expression")
	p.accept("||")
	for {
		switch t := p.tok(); {
		case p.accept("_"):
			p.expect("->", "after the pattern")
			s.Default, s.HasDef = p.stmts(), true
			p.expect("end", "after the last clause (\"_\" must be the last)")
			return s
		case t.kind == tTag:
			p.advance()
			p.expect("->", "after the pattern")
			s.Clauses = append(s.Clauses, StmtClause{Ident{t.pos, t.text}, p.stmts()})
		default:
			p.fail(t.pos, "expected a tag or _, found %s", t.describe())
		}
		if !p.accept("||") {
			p.expect("end", "at the end of match")
			return s
		}
	}
}

// ifStmt reads if "variant" … [else …] end. An include in it that cannot be
// read is an error only if it is executed.
func (p *parser) ifStmt() Stmt {
	s := &IfStmt{Pos: p.advance().pos}
	s.Cond = p.cond()
	p.accept("then")
	p.soft++
	s.Then = p.stmts()
	if p.accept("else") {
		s.Else = p.stmts()
	}
	p.soft--
	p.expect("end", "at the end of if")
	return s
}

func (p *parser) instructionsStmt() Stmt {
	t := p.advance()
	s := &InstructionsStmt{Pos: t.pos, Default: t.text == "default"}
	s.Name = p.name("a kind of instruction").Name
	p.expect("[", "after the kind of instruction")
	s.Args = p.exprList("]")
	p.expect("]", "after the annotations")
	return s
}
