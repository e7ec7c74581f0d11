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
	open := len(l.open)
	defer func() {
		if l.fatal {
			return
		}
		r := recover()
		if e, ok := r.(*Error); ok {
			l.failed(open, e)
		}
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

// join returns what is known about a value that is one of two.
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

// first returns the pattern's first name, "" if it binds none.
func (p Pattern) first() string {
	if len(p.Names) == 0 {
		return ""
	}
	return p.Names[0].Name
}

// named records the name of a value for explanations.
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
