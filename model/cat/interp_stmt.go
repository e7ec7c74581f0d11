package cat

import "optcheck/model/rel"

// exec executes statements and calls k with their results, once for every branch that passes
// their checks.
func (r *run) exec(list []Stmt, env *ienv, st *istate, k func(*ienv, *istate)) {
	r.deeper(Pos{})
	defer func() { r.depth-- }()
	for i, s := range list {
		r.spend(s.Position(), 1)
		rest := func(env *ienv, st *istate) { r.exec(list[i+1:], env, st, k) }
		switch s := s.(type) {
		case *LetStmt:
			var ok bool
			if env, ok = r.letStmt(s, env); !ok {
				return
			}
		case *TestStmt:
			var ok bool
			if st, ok = r.test(s, env, st); !ok {
				return
			}
		case *ShowStmt:
			st = r.show(s, env, st)
		case *ShowAsStmt:
			st = r.showValue(s.Name, st, func() ival { return r.eval(s.X, env) })
		case *IncludeStmt:
			if s.Err != nil {
				panic(s.Err)
			}
			r.exec(s.File.Body, env, st, rest)
			return
		case *ProcedureStmt:
			p := &iproc{def: s, env: env}
			env = env.bind(s.Name, have(ival{k: kProc, proc: p}))
			if s.Rec {
				p.env = env
			}
		case *CallStmt:
			r.callStmt(s, env, st, rest)
			return
		case *EnumStmt:
			var tags []string
			for _, t := range s.Tags {
				tags = append(tags, t.Name)
			}
			env = r.enum(env, s.Name, tags)
		case *ForallStmt:
			r.forall(s, env, st, rest)
			return
		case *WithStmt:
			r.with(s, env, st, rest)
			return
		case *MatchStmt:
			r.exec(r.clause(s, env), env, st, rest)
			return
		case *IfStmt:
			if r.cond(s.Cond, env) {
				r.exec(s.Then, env, st, rest)
			} else {
				r.exec(s.Else, env, st, rest)
			}
			return
		}
	}
	k(env, st)
}

func (r *run) deeper(pos Pos) {
	if r.depth++; r.depth > maxDeep {
		panic(stop{&Error{Pos: pos, Msg: "evaluations nested too deep", Err: ErrLimit}})
	}
}

func (r *run) letStmt(s *LetStmt, env *ienv) (*ienv, bool) {
	if !s.Rec {
		return r.bindLet(s.Binds, env), true
	}
	if s.When == nil {
		return r.letRecLazy(s.Binds, env), true
	}
	ok := true
	out := r.letRec(s.Binds, env, func(env *ienv) bool {
		if !r.opt.Skip[s.When.Name] {
			ok = r.holds(s.When, r.eval(s.When.X, env))
			if !ok {
				r.failed(s.When, s.When.Name, r.eval(s.When.X, env))
			}
		}
		return ok
	})
	return out, ok
}

// test evaluates a test; ok is false if the branch ends here.
func (r *run) test(s *TestStmt, env *ienv, st *istate) (*istate, bool) {
	name := s.Test.Name
	if name == "" {
		name = r.call
	}
	if name != "" && r.opt.Skip[name] {
		return st, true
	}
	v := r.eval(s.Test.X, env)
	ok := r.holds(&s.Test, v)
	switch s.Kind {
	case KindFlag:
		if ok {
			st = &istate{what: 'f', name: name, next: st}
		}
		return st, true
	case KindUndefinedUnless:
		if !ok {
			st = &istate{what: 'u', name: name, next: st}
		}
		return st, true
	case KindAssert:
		if !ok {
			st = &istate{what: 'a', name: name, next: st}
		}
		return st, true
	}
	if !ok {
		r.failed(&s.Test, name, v)
	}
	return st, ok
}

// holds evaluates a test's predicate.
func (r *run) holds(t *Test, v ival) bool {
	pos := t.X.Position()
	if t.Pred == Empty && (v.k == kSet || v.k == kEvent) {
		return (v.k == kSet && rel.IsEmpty(v.set)) != t.Negated
	}
	if v.k == kSet || v.k == kEvent {
		panic(errorf(pos, "%s needs a relation, this is a %s", t.Pred, v.describe()))
	}
	x := r.asRel(v, pos, t.Pred.String())
	var ok bool
	switch t.Pred {
	case Acyclic:
		ok = rel.Acyclic(x)
	case Irreflexive:
		ok = rel.Irreflexive(x)
	case Empty:
		ok = rel.IsEmpty(x)
	}
	return ok != t.Negated
}

// failed records the first failure.
func (r *run) failed(t *Test, name string, v ival) {
	r.res.Tried++
	if r.res.Failed != nil {
		return
	}
	f := &Failure{Test: t, Name: name}
	r.res.Failed = f
	switch {
	case t.Negated:
	case v.k == kSet:
		f.Elems = v.set.Events()
	case v.k == kEvent:
		f.Elems = []int{v.a}
	default:
		x := r.asRel(v, t.Pos, "")
		f.Cycle, f.Pairs = witness(t.Pred, x)
		for _, p := range edges(f.Cycle, f.Pairs) {
			f.Steps = append(f.Steps, r.baseStep(p[0], p[1], t))
		}
	}
}

// witness returns why a predicate fails for a relation.
func witness(p Predicate, x rel.Rel) (cycle []int, pairs [][2]int) {
	switch p {
	case Acyclic:
		return rel.Cycle(x), nil
	case Irreflexive:
		for i, n := 0, x.N(); i < n; i++ {
			if x.Has(i, i) {
				return []int{i}, nil
			}
		}
	}
	return nil, x.Pairs()
}

// baseStep names the base relation that has the pair: the one with the fewest pairs, which is
// the most informative; the tested expression if there is none.
func (r *run) baseStep(i, j int, t *Test) Step {
	s := Step{From: i, To: j, Name: Format(t.X)}
	best := -1
	for _, name := range sortedKeys(r.ex.Rels) {
		if x := r.ex.Rels[name]; x.Has(i, j) && (best < 0 || rel.Count(x) < best) {
			best = rel.Count(x)
			s.Via = []Edge{{From: i, To: j, Rel: name}}
		}
	}
	if best < 0 {
		s.Via = []Edge{{From: i, To: j, Rel: s.Name}}
	}
	return s
}

func (r *run) show(s *ShowStmt, env *ienv, st *istate) *istate {
	for _, id := range s.Names {
		if s.Unshow {
			st = &istate{what: 'h', name: id.Name, next: st}
			continue
		}
		st = r.showValue(id.Name, st, func() ival { return r.lookup(env, id.Name, id.Pos) })
	}
	return st
}

// showValue records a value to be drawn; what cannot be evaluated is not drawn.
func (r *run) showValue(name string, st *istate, f func() ival) *istate {
	var v ival
	if err := r.try(func() { v = f() }); err != nil {
		return st
	}
	s := ShownValue{Name: name}
	switch v.k {
	case kSet:
		s.Set = v.set
	case kRel:
		s.Rel = v.rel
	default:
		return st
	}
	return &istate{what: 's', name: name, value: s, next: st}
}

func (r *run) callStmt(s *CallStmt, env *ienv, st *istate, k func(*ienv, *istate)) {
	name := s.As
	if name == "" {
		name = s.Name
	}
	if r.opt.Skip[name] || r.opt.Skip[s.Name] {
		k(env, st)
		return
	}
	v := r.lookup(env, s.Name, s.Pos)
	if v.k != kProc {
		panic(errorf(s.Pos, "%s is a %s, not a procedure", s.Name, v.describe()))
	}
	penv := r.bindPattern(v.proc.env, v.proc.def.Param, have(r.eval(s.Arg, env)), s.Pos)
	outer := r.call
	r.call = name
	r.exec(v.proc.def.Body, penv, st, func(_ *ienv, st *istate) {
		r.call = outer
		k(env, st)
		r.call = name
	})
	r.call = outer
}

func (r *run) forall(s *ForallStmt, env *ienv, st *istate, k func(*ienv, *istate)) {
	v := liftTagI(r.eval(s.X, env))
	if v.k != kVals && v.k != kEmpty {
		panic(errorf(s.X.Position(), "forall needs a set of values, this is a %s", v.describe()))
	}
	var step func(i int, st *istate)
	step = func(i int, st *istate) {
		if i == len(v.vals) {
			k(env, st)
			return
		}
		r.exec(s.Body, env.bind(s.Var, have(v.vals[i])), st, func(_ *ienv, st *istate) { step(i+1, st) })
	}
	step(0, st)
}

func (r *run) with(s *WithStmt, env *ienv, st *istate, k func(*ienv, *istate)) {
	v := r.eval(s.X, env)
	if v.k != kVals && v.k != kEmpty {
		panic(errorf(s.X.Position(), "with needs a set of values, this is a %s", v.describe()))
	}
	for _, e := range v.vals {
		k(env.bind(s.Var, have(e)), st)
	}
}

func (r *run) clause(s *MatchStmt, env *ienv) []Stmt {
	v := r.eval(s.X, env)
	if v.k != kTag {
		panic(errorf(s.X.Position(), "match between instructions needs a tag, this is a %s", v.describe()))
	}
	for _, c := range s.Clauses {
		if c.Tag.Name == v.tag {
			return c.Body
		}
	}
	if !s.HasDef {
		panic(errorf(s.Pos, "no clause matches '%s", v.tag))
	}
	return s.Default
}
