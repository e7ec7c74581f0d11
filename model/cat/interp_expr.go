package cat

import "optcheck/model/rel"

func (r *run) lookup(env *ienv, name string, pos Pos) ival {
	n := 1
	for e := env; e != nil; e = e.next {
		if n++; e.ground != nil {
			if v, ok := e.ground.base(name, pos); ok {
				return v
			}
		} else if e.name == name {
			r.spend(pos, n/8+1)
			return e.val.force(r, pos, name)
		}
	}
	panic(&Error{Pos: pos, Msg: name + " is not defined", Err: errUnbound})
}

// try runs f and returns the fault that it ends with, if any. See lowerer.try.
func (r *run) try(f func()) (err *Error) {
	depth, open := r.depth, len(r.open)
	defer func() {
		if r.fatal {
			return
		}
		x := recover()
		if x == nil {
			return
		}
		e, ok := x.(*Error)
		if !ok || e.Err == ErrLimit {
			r.fatal = true
			panic(x)
		}
		err, r.depth = e, depth
		for _, t := range r.open[open:] {
			t.state, t.err = 3, e
		}
		r.open = r.open[:open]
	}()
	f()
	return nil
}

func (r *run) eval(x Expr, env *ienv) ival {
	r.spend(x.Position(), 1)
	r.deeper(x.Position())
	v := r.eval1(x, env)
	r.depth--
	return v
}

func (r *run) eval1(x Expr, env *ienv) ival {
	switch x := x.(type) {
	case *Var:
		return r.lookup(env, x.Name, x.Pos)
	case *Const:
		if x.Universe {
			return ival{k: kUniv}
		}
		return ival{k: kEmpty}
	case *TagLit:
		enum, ok := r.tags[x.Name]
		if !ok {
			panic(&Error{Pos: x.Pos, Msg: "tag '" + x.Name + " is not declared by an enum", Err: errUnbound})
		}
		return ival{k: kTag, tag: x.Name, enum: enum}
	case *Tuple:
		v := ival{k: kTuple}
		for _, e := range x.Elems {
			v.vals = append(v.vals, r.eval(e, env))
		}
		return v.bounded(x.Pos)
	case *Op:
		return r.op(x, env)
	case *Unary:
		return r.unary(x, env)
	case *SetLit:
		return r.setLit(x, env)
	case *App:
		f := r.eval(x.Fun, env)
		return r.apply(f, r.eval(x.Arg, env), x)
	case *Fun:
		return ival{k: kFun, fun: &iclosure{x, env}}
	case *Let:
		if x.Rec {
			return r.eval(x.Body, r.letRecLazy(x.Binds, env))
		}
		return r.eval(x.Body, r.bindLet(x.Binds, env))
	case *Match:
		return r.match(x, env)
	case *MatchSet:
		return r.matchSet(x, env)
	case *Try:
		var v ival
		if err := r.try(func() { v = r.eval(x.X, env) }); err != nil {
			return r.eval(x.With, env)
		}
		return v
	case *If:
		if r.cond(x.Cond, env) {
			return r.eval(x.Then, env)
		}
		return r.eval(x.Else, env)
	}
	panic(errorf(x.Position(), "internal error: unknown expression %T", x))
}

func (r *run) bindLet(binds []*Binding, env *ienv) *ienv {
	out := env
	for _, b := range binds {
		t := &ithunk{eval: func() ival { return r.eval(b.X, env) }}
		out = r.bindPattern(out, b.Pat, t, b.Pos)
	}
	return out
}

func (r *run) bindPattern(env *ienv, p Pattern, t *ithunk, pos Pos) *ienv {
	if !p.Tuple {
		return env.bind(p.Names[0].Name, t)
	}
	for i, id := range p.Names {
		env = env.bind(id.Name, &ithunk{eval: func() ival {
			return component(t.force(r, pos, id.Name), i, len(p.Names), pos)
		}})
	}
	return env
}

func component(v ival, i, n int, pos Pos) ival {
	switch {
	case v.k == kPair && n == 2:
		return ival{k: kEvent, a: []int{v.a, v.b}[i]}
	case v.k == kTuple && len(v.vals) == n:
		return v.vals[i]
	case v.k == kTuple:
		panic(errorf(pos, "%d values expected, found a tuple of %d", n, len(v.vals)))
	}
	panic(errorf(pos, "%d values expected, found a %s", n, v.describe()))
}

func (r *run) apply(f, arg ival, x *App) ival {
	switch f.k {
	case kPrim:
		return f.prim.apply(r, x.Pos, arg)
	case kFun:
	default:
		panic(errorf(x.Pos, "%s is a %s, not a function", Format(x.Fun), f.describe()))
	}
	p := f.fun.def.Param
	for i := range p.Names {
		if p.Tuple {
			component(arg, i, len(p.Names), x.Pos)
		}
	}
	return r.eval(f.fun.def.Body, r.bindPattern(f.fun.env, p, have(arg), x.Pos))
}

func (r *run) match(x *Match, env *ienv) ival {
	v := r.eval(x.X, env)
	if v.k != kTag {
		panic(errorf(x.X.Position(), "match needs a tag, this is a %s", v.describe()))
	}
	for _, c := range x.Clauses {
		if c.Tag.Name == v.tag {
			return r.eval(c.Body, env)
		}
	}
	if x.Default == nil {
		panic(errorf(x.Pos, "no clause matches '%s", v.tag))
	}
	return r.eval(x.Default, env)
}

// matchSet takes a set apart. The two-name form takes the least element, the
// three-name form the middle one.
func (r *run) matchSet(x *MatchSet, env *ienv) ival {
	v := r.eval(x.X, env)
	var elems []ival
	var build func(list []ival) ival
	switch v.k {
	case kEmpty:
	case kSet:
		v.set.Each(func(e int) bool { elems = append(elems, ival{k: kEvent, a: e}); return true })
		build = func(list []ival) ival {
			s := rel.NewSet(r.ex.N)
			for _, e := range list {
				s.Add(e.a)
			}
			return ival{k: kSet, set: s}
		}
	case kRel:
		v.rel.Each(func(i, j int) bool { elems = append(elems, ival{k: kPair, a: i, b: j}); return true })
		build = func(list []ival) ival {
			s := rel.NewRel(r.ex.N)
			for _, e := range list {
				s.Add(e.a, e.b)
			}
			return ival{k: kRel, rel: s}
		}
	case kVals:
		elems = v.vals
		build = func(list []ival) ival { return ival{k: kVals, vals: list, size: v.size} }
	default:
		panic(errorf(x.X.Position(), "match with {} needs a set, this is a %s", v.describe()))
	}
	r.spend(x.Pos, len(elems)+1)
	if len(elems) == 0 {
		return r.eval(x.Empty, env)
	}
	at := 0
	if x.Pre != nil {
		at = len(elems) / 2
		env = env.bind(x.Pre.Name, have(build(elems[:at])))
	}
	env = env.bind(x.Rest.Name, have(build(elems[at+1:])))
	return r.eval(x.Body, env.bind(x.Elem.Name, have(elems[at])))
}

func (r *run) cond(c Cond, env *ienv) bool {
	r.spend(c.Position(), 1)
	switch c := c.(type) {
	case *Variant:
		return r.it.variant[c.Name]
	case *NotCond:
		return !r.cond(c.X, env)
	case *AndCond:
		return r.cond(c.L, env) && r.cond(c.R, env)
	case *OrCond:
		return r.cond(c.L, env) || r.cond(c.R, env)
	case *Compare:
		return r.compare(c, r.eval(c.L, env), r.eval(c.R, env))
	}
	panic(errorf(c.Position(), "internal error: unknown condition %T", c))
}

func (r *run) compare(c *Compare, v, w ival) bool {
	pos := c.R.Position()
	switch c.Kind {
	case CmpIn:
		return r.member(c, v, w)
	case CmpSubset:
		v, w = liftTagI(v), liftTagI(w)
		switch {
		case v.k == kEmpty || w.k == kUniv:
			return true
		case v.k == kSet || w.k == kSet:
			return rel.Subset(r.asSet(v, c.L.Position(), "subset"), r.asSet(w, pos, "subset"))
		case v.k == kRel || w.k == kRel:
			return rel.Subset(r.asRel(v, c.L.Position(), "subset"), r.asRel(w, pos, "subset"))
		case v.k == kVals && (w.k == kVals || w.k == kEmpty):
			out, ok := mergeVals(OpDiff, v.vals, w.vals)
			if ok {
				return len(out) == 0
			}
		}
		panic(errorf(pos, "a %s is compared with a %s", v.describe(), w.describe()))
	}
	if v.k == kUniv {
		v, w = w, v
	}
	if w.k == kUniv && v.k != kUniv {
		if v.k == kSet {
			w = ival{k: kSet, set: r.asSet(w, pos, "=")}
		} else {
			w = ival{k: kRel, rel: r.asRel(w, pos, "=")}
		}
	}
	if w.k == kUniv {
		return true
	}
	res, ok := compareVals(v, w)
	if !ok {
		panic(errorf(pos, "a %s is compared with a %s", v.describe(), w.describe()))
	}
	return res == 0
}

func (r *run) member(c *Compare, v, w ival) bool {
	pos := c.R.Position()
	if v.k == kTuple && len(v.vals) == 2 && v.vals[0].k == kEvent && v.vals[1].k == kEvent && w.k != kVals {
		v = ival{k: kPair, a: v.vals[0].a, b: v.vals[1].a}
	}
	switch {
	case w.k == kEmpty:
		return false
	case v.k == kEvent && w.k != kVals:
		return r.asSet(w, pos, "in").Has(v.a)
	case v.k == kPair && w.k != kVals:
		return r.asRel(w, pos, "in").Has(v.a, v.b)
	case w.k != kVals:
		panic(errorf(pos, "a %s cannot be an element of a %s", v.describe(), w.describe()))
	}
	for _, e := range w.vals {
		res, ok := compareVals(v, e)
		if !ok {
			panic(errorf(pos, "a %s cannot be an element of a set of such", v.describe()))
		}
		if res == 0 {
			return true
		}
	}
	return false
}
