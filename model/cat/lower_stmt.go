package cat

func (l *lowerer) call(s *CallStmt, env *senv) {
	v := l.lookup(env, s.Name, s.Pos)
	if v.k == kAny {
		return
	}
	if v.k != kProc {
		panic(errorf(s.Pos, "%s is a %s, not a procedure", s.Name, v.describe()))
	}
	l.enter(s.Pos)
	defer l.leave()
	name := l.callName
	if l.callName = s.As; s.As == "" {
		l.callName = s.Name
	}
	calls := l.calls
	if len(calls) >= maxNested {
		l.giveUp(limitf(s.Pos, "procedure calls nested more than %d deep", maxNested))
	}
	l.calls = append(append([]string{}, calls...), s.Name)
	if s.As != "" {
		l.calls = append(l.calls, s.As)
	}
	defer func() { l.callName, l.calls = name, calls }()
	arg := l.eval(s.Arg, env)
	l.called[v.proc.def] = true
	if n := l.activeProc[v.proc.def]; n >= maxCalls {
		l.setRare(s.Pos, "recursive procedure %s", s.Name)
		return
	}
	l.activeProc[v.proc.def]++
	defer func() { l.activeProc[v.proc.def]-- }()
	l.stmts(v.proc.def.Body, l.bindPattern(v.proc.env, v.proc.def.Param, ready(arg), s.Pos))
}

func (l *lowerer) forall(s *ForallStmt, env *senv) {
	v := l.eval(s.X, env)
	switch v = liftTag(v); {
	case v.k == kEmpty:
	case v.k == kVals && v.known:
		for _, e := range v.elems {
			l.stmts(s.Body, bind(env, s.Var, ready(e)))
		}
	case v.k == kVals:
		l.setRare(s.Pos, "forall over a set that depends on the execution")
		l.stmts(s.Body, bind(env, s.Var, ready(v.element())))
	case v.k == kAny:
		l.stmts(s.Body, bind(env, s.Var, ready(anyVal)))
	default:
		panic(errorf(s.X.Position(), "forall needs a set of values, this is a %s", v.describe()))
	}
}

func (v sval) element() sval {
	if v.elem == nil {
		return anyVal
	}
	e := *v.elem
	e.slot = noSlot
	return e
}

func (l *lowerer) with(s *WithStmt, env *senv) *senv {
	v := l.eval(s.X, env)
	switch v.k {
	case kEmpty:
		l.never = true
		return bind(env, s.Var, ready(anyVal))
	case kVals:
		if v.known && len(v.elems) == 1 {
			return bind(env, s.Var, ready(v.elems[0]))
		}
		if v.only != nil {
			l.checks = append(l.checks, Check{Pos: s.Pos, Kind: KindCheck, Pred: Empty, X: s.X, slot: v.guard, Calls: l.calls})
			return bind(env, s.Var, ready(l.named(*v.only, s.Var)))
		}
		l.setRare(s.Pos, "with … from")
		return bind(env, s.Var, ready(v.element()))
	case kAny:
		l.setRare(s.Pos, "with … from")
		return bind(env, s.Var, ready(anyVal))
	}
	panic(errorf(s.X.Position(), "with needs a set of values, this is a %s", v.describe()))
}

func (l *lowerer) matchStmt(s *MatchStmt, env *senv) *senv {
	v := l.eval(s.X, env)
	switch {
	case v.k == kTag && v.tag != "":
		for _, c := range s.Clauses {
			if c.Tag.Name == v.tag {
				return l.stmts(c.Body, env)
			}
		}
		if !s.HasDef {
			panic(errorf(s.Pos, "no clause matches '%s", v.tag))
		}
		return l.stmts(s.Default, env)
	case v.k == kTag || v.k == kAny:
		l.setRare(s.Pos, "match on a tag that depends on the execution")
		for _, c := range s.Clauses {
			l.stmts(c.Body, env)
		}
		l.stmts(s.Default, env)
		return env
	}
	panic(errorf(s.X.Position(), "match between instructions needs a tag, this is a %s", v.describe()))
}

func (l *lowerer) ifStmt(s *IfStmt, env *senv) *senv {
	c, ok := l.cond(s.Cond, env)
	if ok {
		if c {
			return l.stmts(s.Then, env)
		}
		return l.stmts(s.Else, env)
	}
	l.setRare(s.Pos, "if on values of the execution")
	l.stmts(s.Then, env)
	l.stmts(s.Else, env)
	return env
}
