package cat

import (
	"sort"
	"strings"
)

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func (l *lowerer) lookup(env *senv, name string, pos Pos) sval {
	for e := env; e != nil; e = e.next {
		if l.steps++; e.name == name {
			if e.val.lib && e.val.state != 2 && l.fromUser {
				return l.forceLib(e.val, name, pos)
			}
			return e.val.force(l)
		}
	}
	l.step(pos)
	panic(&Error{Pos: pos, Msg: name + " is not defined", Err: errUnbound})
}

// forceLib evaluates a definition of the prelude; its errors are those of the
// user's file that needs it.
func (l *lowerer) forceLib(t *thunk, name string, pos Pos) (v sval) {
	defer func() {
		r := recover()
		if e, ok := r.(*Error); ok && strings.HasPrefix(e.Pos.File, LibraryPrefix) && !strings.HasPrefix(pos.File, LibraryPrefix) {
			panic(&Error{Pos: pos, Msg: name + " cannot be used: " + e.Msg, Err: e.Err})
		} else if r != nil {
			panic(r)
		}
	}()
	return t.force(l)
}

func (l *lowerer) eval(x Expr, env *senv) sval {
	l.step(x.Position())
	l.enter(x.Position())
	v := l.eval1(x, env)
	l.leave()
	return v
}

func (l *lowerer) eval1(x Expr, env *senv) sval {
	switch x := x.(type) {
	case *Var:
		return l.lookup(env, x.Name, x.Pos)
	case *Const:
		if x.Universe {
			return univVal
		}
		return emptyVal
	case *TagLit:
		enum, ok := l.tags[x.Name]
		if !ok {
			panic(&Error{Pos: x.Pos, Msg: "tag '" + x.Name + " is not declared by an enum", Err: errUnbound})
		}
		return sval{k: kTag, slot: noSlot, tag: x.Name, enum: enum}
	case *Tuple:
		v := sval{k: kTuple, slot: noSlot}
		for _, e := range x.Elems {
			v.elems = append(v.elems, l.eval(e, env))
		}
		return v.bounded(x.Pos)
	case *Op:
		return l.op(x, env)
	case *Unary:
		return l.unary(x, env)
	case *SetLit:
		return l.setLit(x, env)
	case *App:
		f := l.eval(x.Fun, env)
		return l.apply(f, l.eval(x.Arg, env), x.Pos, Format(x.Fun))
	case *Fun:
		f := &sfun{x, env}
		if !l.applied[x] {
			l.closures = append(l.closures, f)
		}
		return sval{k: kFun, slot: noSlot, fun: f}
	case *Let:
		return l.eval(x.Body, l.bindLet(x.Binds, x.Rec, env, false))
	case *Match:
		return l.match(x, env)
	case *MatchSet:
		return l.matchSet(x, env)
	case *Try:
		var v sval
		rare := l.rare
		if err := l.try(func() { v = l.eval(x.X, env) }); err != nil {
			l.rare = rare
			return l.eval(x.With, env)
		}
		return v
	case *If:
		c, ok := l.cond(x.Cond, env)
		if !ok {
			l.setRare(x.Pos, "if on values of the execution")
			return join(l.eval(x.Then, env), l.eval(x.Else, env))
		}
		if c {
			return l.eval(x.Then, env)
		}
		return l.eval(x.Else, env)
	}
	panic(errorf(x.Position(), "internal error: unknown expression %T", x))
}

// join is what is known of a value that is one of two.
func join(a, b sval) sval {
	if a.k == kEmpty || a.k == kUniv {
		if a.k == b.k {
			return a
		}
		a, b = b, a
	}
	if b.k != a.k && b.k != kEmpty && b.k != kUniv {
		return anyVal
	}
	switch a.k {
	case kSet, kRel, kEvent, kPair:
		return kindVal(a.k)
	case kTag:
		if a.enum != b.enum && b.k == kTag {
			return anyVal
		}
		return sval{k: kTag, slot: noSlot, enum: a.enum}
	case kVals:
		if a.elem == nil {
			a = b
		}
		if a.elem == nil {
			return sval{k: kVals, slot: noSlot}
		}
		return valsOf(a.element())
	case kTuple:
		if b.k != kTuple || len(a.elems) != len(b.elems) {
			return anyVal
		}
		v := sval{k: kTuple, slot: noSlot}
		for i := range a.elems {
			v.elems = append(v.elems, join(a.elems[i], b.elems[i]))
		}
		return v
	}
	return anyVal
}

// bindLet binds the names of a let; top is set for statements.
func (l *lowerer) bindLet(binds []*Binding, rec bool, env *senv, top bool) *senv {
	if rec {
		return l.letRec(binds, env)
	}
	out := env
	for _, b := range binds {
		t := &thunk{name: b.Pat.first(), pos: b.Pos, lib: !l.fromUser}
		t.eval = func() sval { return l.named(l.eval(b.X, env), t.name) }
		if top && l.fromUser {
			l.lets = append(l.lets, t)
		}
		out = l.bindPattern(out, b.Pat, t, b.Pos)
	}
	return out
}

// first is the pattern's first name, "" if it binds none.
func (p Pattern) first() string {
	if len(p.Names) == 0 {
		return ""
	}
	return p.Names[0].Name
}

// named remembers the name of a value for explanations.
func (l *lowerer) named(v sval, name string) sval {
	if (v.k == kRel || v.k == kSet) && v.slot != noSlot && l.b.ops[v.slot].name == "" {
		l.b.ops[v.slot].name = name
	}
	return v
}

// bindPattern binds the names of a pattern to the parts of a value.
func (l *lowerer) bindPattern(env *senv, p Pattern, t *thunk, pos Pos) *senv {
	if !p.Tuple {
		return bind(env, p.Names[0].Name, t)
	}
	for i, id := range p.Names {
		part := &thunk{name: id.Name, pos: pos}
		part.eval = func() sval { return l.component(t.force(l), i, len(p.Names), pos) }
		env = bind(env, id.Name, part)
	}
	return env
}

func (l *lowerer) component(v sval, i, n int, pos Pos) sval {
	switch v.k {
	case kAny:
		return anyVal
	case kPair:
		if n == 2 {
			return kindVal(kEvent)
		}
	case kTuple:
		if len(v.elems) == n {
			return v.elems[i]
		}
		panic(errorf(pos, "%d values expected, found a tuple of %d", n, len(v.elems)))
	}
	panic(errorf(pos, "%d values expected, found a %s", n, v.describe()))
}

func (l *lowerer) apply(f, arg sval, pos Pos, name string) sval {
	switch f.k {
	case kAny:
		return anyVal
	case kPrim:
		return f.prim.apply(l, pos, arg)
	case kFun:
	default:
		panic(errorf(pos, "%s is a %s, not a function", name, f.describe()))
	}
	def := f.fun.def
	if n := l.active[def]; n >= maxCalls || n >= 2 && l.rare != nil {
		l.setRare(pos, "recursive function %s", def.Name)
		return anyVal
	}
	if p := def.Param; p.Tuple {
		// A wrong number of arguments is the caller's mistake.
		for i := range p.Names {
			l.component(arg, i, len(p.Names), pos)
		}
		if len(p.Names) == 0 && arg.k == kTuple && len(arg.elems) > 0 {
			panic(errorf(pos, "0 values expected, found a tuple of %d", len(arg.elems)))
		}
	}
	l.applied[def] = true
	l.active[def]++
	defer func() { l.active[def]-- }()
	return l.eval(def.Body, l.bindPattern(f.fun.env, def.Param, ready(arg), pos))
}

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

// blur forgets everything of a value but its kind.
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
