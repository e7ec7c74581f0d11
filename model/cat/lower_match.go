package cat

func (l *lowerer) match(x *Match, env *senv) sval {
	v := l.eval(x.X, env)
	switch {
	case v.k == kTag && v.tag != "":
		for _, c := range x.Clauses {
			if c.Tag.Name == v.tag {
				return l.eval(c.Body, env)
			}
		}
		if x.Default == nil {
			panic(errorf(x.Pos, "no clause matches '%s", v.tag))
		}
		return l.eval(x.Default, env)
	case v.k == kTag || v.k == kAny:
		if v.k == kTag {
			l.setRare(x.Pos, "match on a tag that depends on the execution")
		}
		var out sval
		for i, c := range x.Clauses {
			w := l.eval(c.Body, env)
			if i > 0 {
				w = join(out, w)
			}
			out = w
		}
		if x.Default != nil {
			w := l.eval(x.Default, env)
			if len(x.Clauses) > 0 {
				w = join(out, w)
			}
			out = w
		}
		return blur(out)
	}
	panic(errorf(x.X.Position(), "match needs a tag, this is a %s", v.describe()))
}

// blur forgets everything about a value but its kind.
func blur(v sval) sval { return join(v, v) }

func (l *lowerer) matchSet(x *MatchSet, env *senv) sval {
	v := l.eval(x.X, env)
	part := func(elem, rest sval) sval {
		e := bind(env, x.Rest.Name, ready(rest))
		if x.Pre != nil {
			e = bind(e, x.Pre.Name, ready(rest))
		}
		return l.eval(x.Body, bind(e, x.Elem.Name, ready(elem)))
	}
	switch v.k {
	case kEmpty:
		return l.eval(x.Empty, env)
	case kVals:
		if !v.known {
			l.setRare(x.Pos, "match on a set")
			return join(l.eval(x.Empty, env), part(v.element(), valsOf(v.element())))
		}
		if len(v.elems) == 0 {
			return l.eval(x.Empty, env)
		}
		if x.Pre == nil {
			return part(v.elems[0], tagSet(v.elems[1:]))
		}
		l.setRare(x.Pos, "match on a set split in three")
		return join(l.eval(x.Empty, env), part(v.element(), valsOf(v.element())))
	case kSet:
		l.setRare(x.Pos, "match on a set of events")
		return join(l.eval(x.Empty, env), part(kindVal(kEvent), kindVal(kSet)))
	case kRel:
		l.setRare(x.Pos, "match on a relation")
		return join(l.eval(x.Empty, env), part(kindVal(kPair), kindVal(kRel)))
	case kAny:
		return join(l.eval(x.Empty, env), part(anyVal, anyVal))
	}
	panic(errorf(x.X.Position(), "match with {} needs a set, this is a %s", v.describe()))
}

// cond evaluates a condition; ok is false if it depends on the execution.
func (l *lowerer) cond(c Cond, env *senv) (val, ok bool) {
	l.step(c.Position())
	switch c := c.(type) {
	case *Variant:
		return l.variants[c.Name], true
	case *NotCond:
		v, ok := l.cond(c.X, env)
		return !v, ok
	case *AndCond:
		v, ok := l.cond(c.L, env)
		w, ok2 := l.cond(c.R, env)
		return v && w, ok && ok2
	case *OrCond:
		v, ok := l.cond(c.L, env)
		w, ok2 := l.cond(c.R, env)
		return v || w, ok && ok2
	case *Compare:
		return l.compare(c, l.eval(c.L, env), l.eval(c.R, env))
	}
	return false, false
}

func (l *lowerer) compare(c *Compare, v, w sval) (val, ok bool) {
	if c.Kind == CmpIn {
		if v.symbolic() && w.k == kVals && w.known {
			for _, e := range w.elems {
				if e.key() == v.key() {
					return true, true
				}
			}
			return false, true
		}
		if w.k == kEmpty {
			return false, true
		}
		l.member(c, v, w)
		return false, false
	}
	if v.symbolic() && w.symbolic() {
		if c.Kind == CmpEqual {
			return v.key() == w.key(), true
		}
		v, w = liftTag(v), liftTag(w)
		for _, e := range v.elems {
			found := false
			for _, f := range w.elems {
				found = found || e.key() == f.key()
			}
			if !found {
				return false, true
			}
		}
		return true, true
	}
	if !compatible(v.k, w.k) {
		panic(errorf(c.R.Position(), "a %s is compared with a %s", v.describe(), w.describe()))
	}
	return false, false
}

// member checks the kinds of "v in w".
func (l *lowerer) member(c *Compare, v, w sval) {
	bad := false
	switch v.k {
	case kEvent:
		bad = w.k != kSet && w.k != kUniv && w.k != kAny && w.k != kVals
	case kPair:
		bad = w.k != kRel && w.k != kUniv && w.k != kAny && w.k != kVals
	case kAny:
	case kTuple:
		bad = w.k != kVals && w.k != kRel && w.k != kUniv && w.k != kAny
	default:
		bad = w.k != kVals && w.k != kAny
	}
	if bad {
		panic(errorf(c.R.Position(), "a %s cannot be an element of a %s", v.describe(), w.describe()))
	}
}

func compatible(a, b kind) bool {
	poly := func(k kind) bool { return k == kEmpty || k == kUniv }
	setlike := func(k kind) bool { return k == kSet || k == kRel || k == kVals || poly(k) }
	return a == b || a == kAny || b == kAny || poly(a) && setlike(b) || poly(b) && setlike(a)
}

// liftTag turns a tag into the set of that tag.
func liftTag(v sval) sval {
	if v.k == kTag && v.tag != "" {
		return tagSet([]sval{v})
	}
	return v
}
