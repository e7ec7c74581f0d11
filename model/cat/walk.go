package cat

// Walk calls f for the file's statements and everything below them in the
// order of the text, included files too, and descends below a node only if f
// returns true for it. The nodes are Stmt, Expr, Cond, *Binding and *Test.
func Walk(file *File, f func(Node) bool) { walkStmts(file.Body, f) }

func walkStmts(list []Stmt, f func(Node) bool) {
	for _, s := range list {
		walkStmt(s, f)
	}
}

func walkStmt(s Stmt, f func(Node) bool) {
	if !f(s) {
		return
	}
	switch s := s.(type) {
	case *LetStmt:
		walkBinds(s.Binds, f)
		if s.When != nil {
			walkTest(s.When, f)
		}
	case *TestStmt:
		walkTest(&s.Test, f)
	case *ShowAsStmt:
		walkExpr(s.X, f)
	case *IncludeStmt:
		if s.File != nil {
			walkStmts(s.File.Body, f)
		}
	case *ProcedureStmt:
		walkStmts(s.Body, f)
	case *CallStmt:
		walkExpr(s.Arg, f)
	case *ForallStmt:
		walkExpr(s.X, f)
		walkStmts(s.Body, f)
	case *WithStmt:
		walkExpr(s.X, f)
	case *MatchStmt:
		walkExpr(s.X, f)
		for _, c := range s.Clauses {
			walkStmts(c.Body, f)
		}
		walkStmts(s.Default, f)
	case *IfStmt:
		walkCond(s.Cond, f)
		walkStmts(s.Then, f)
		walkStmts(s.Else, f)
	case *DebugStmt:
		walkExpr(s.X, f)
	case *InstructionsStmt:
		for _, a := range s.Args {
			walkExpr(a, f)
		}
	}
}

func walkTest(t *Test, f func(Node) bool) {
	if f(t) {
		walkExpr(t.X, f)
	}
}

func walkBinds(list []*Binding, f func(Node) bool) {
	for _, b := range list {
		if f(b) {
			walkExpr(b.X, f)
		}
	}
}

func walkExpr(x Expr, f func(Node) bool) {
	if !f(x) {
		return
	}
	switch x := x.(type) {
	case *Op:
		for _, a := range x.Args {
			walkExpr(a, f)
		}
	case *Unary:
		walkExpr(x.X, f)
	case *Tuple:
		for _, a := range x.Elems {
			walkExpr(a, f)
		}
	case *SetLit:
		for _, a := range x.Elems {
			walkExpr(a, f)
		}
	case *App:
		walkExpr(x.Fun, f)
		walkExpr(x.Arg, f)
	case *Fun:
		walkExpr(x.Body, f)
	case *Let:
		walkBinds(x.Binds, f)
		walkExpr(x.Body, f)
	case *Match:
		walkExpr(x.X, f)
		for _, c := range x.Clauses {
			walkExpr(c.Body, f)
		}
		if x.Default != nil {
			walkExpr(x.Default, f)
		}
	case *MatchSet:
		walkExpr(x.X, f)
		walkExpr(x.Empty, f)
		walkExpr(x.Body, f)
	case *Try:
		walkExpr(x.X, f)
		walkExpr(x.With, f)
	case *If:
		walkCond(x.Cond, f)
		walkExpr(x.Then, f)
		walkExpr(x.Else, f)
	}
}

func walkCond(c Cond, f func(Node) bool) {
	if !f(c) {
		return
	}
	switch c := c.(type) {
	case *Compare:
		walkExpr(c.L, f)
		walkExpr(c.R, f)
	case *NotCond:
		walkCond(c.X, f)
	case *AndCond:
		walkCond(c.L, f)
		walkCond(c.R, f)
	case *OrCond:
		walkCond(c.L, f)
		walkCond(c.R, f)
	}
}
