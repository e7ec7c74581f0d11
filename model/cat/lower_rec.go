package cat

// letRec binds the names of a recursive let: functions by closing over
// themselves, sets and relations by a fixpoint.
func (l *lowerer) letRec(binds []*Binding, env *senv) *senv {
	var vals []*Binding
	out := env
	var funs []*sfun
	for _, b := range binds {
		f, ok := b.X.(*Fun)
		if !ok {
			vals = append(vals, b)
			continue
		}
		if b.Pat.Tuple {
			panic(errorf(b.Pos, "%d values expected, found a function", len(b.Pat.Names)))
		}
		clo := &sfun{def: f}
		funs = append(funs, clo)
		out = bind(out, b.Pat.Names[0].Name, ready(sval{k: kFun, slot: noSlot, fun: clo}))
	}
	if len(vals) > 0 {
		if len(funs) > 0 {
			l.setRare(binds[0].Pos, "recursion of functions and values together")
		}
		out = l.letRecValues(vals, out, len(funs) > 0)
	}
	for _, f := range funs {
		f.env = out
		if !l.applied[f.def] {
			l.closures = append(l.closures, f)
		}
	}
	return out
}

// recVar is a variable of a recursive definition.
type recVar struct {
	name string
	val  sval
	pos  Pos
}

// letRecValues binds recursive sets and relations. The fixpoint is built when one of the names
// is used.
func (l *lowerer) letRecValues(binds []*Binding, env *senv, opaque bool) *senv {
	var vars []recVar
	for _, b := range binds {
		for _, id := range b.Pat.Names {
			vars = append(vars, recVar{id.Name, anyVal, id.Pos})
		}
	}
	group := &thunk{name: binds[0].Pat.first(), pos: binds[0].Pos}
	group.eval = func() sval {
		stack := len(l.b.stack)
		defer func() { l.b.stack = l.b.stack[:stack] }()
		v := sval{k: kTuple, slot: noSlot}
		if opaque {
			for range vars {
				v.elems = append(v.elems, anyVal)
			}
			return v
		}
		l.recKinds(binds, vars, env)
		v.elems = l.fixpoint(binds, vars, env)
		return v
	}
	if l.fromUser {
		l.lets = append(l.lets, group)
	}
	for i, w := range vars {
		t := &thunk{name: w.name, pos: w.pos}
		t.eval = func() sval { return group.force(l).elems[i] }
		env = bind(env, w.name, t)
	}
	return env
}

// round evaluates the right-hand sides once; set stores the value of variable
// i and returns the value under which later ones see it.
func (l *lowerer) round(binds []*Binding, vars []recVar, env *senv, set func(i int, v sval) sval) {
	e := env
	for _, w := range vars {
		e = bind(e, w.name, ready(w.val))
	}
	i := 0
	for _, b := range binds {
		v := l.eval(b.X, e)
		for k, id := range b.Pat.Names {
			c := v
			if b.Pat.Tuple {
				c = l.component(v, k, len(b.Pat.Names), b.Pos)
			}
			e = bind(e, id.Name, ready(set(i, c)))
			i++
		}
	}
}

// recKinds determines the kinds of recursive variables by evaluating the right-hand sides:
// first with variables of unknown kind, then with the still unknown ones empty, as in the first
// round. A variable that is empty or universal in every execution has that constant as its
// value.
func (l *lowerer) recKinds(binds []*Binding, vars []recVar, env *senv) {
	weak := func(k kind) bool { return k == kAny || k == kEmpty || k == kUniv }
	for _, last := range []bool{false, true} {
		for pass := 0; pass <= 2*len(vars)+1; pass++ {
			changed := false
			l.round(binds, vars, env, func(i int, v sval) sval {
				v = blur(v)
				old := vars[i].val.k
				if weak(old) && v.k != old && (!weak(v.k) || v.k == kUniv || last && v.k == kAny) {
					changed = true
					vars[i].val = v
				}
				return vars[i].val
			})
			if !changed {
				break
			}
		}
		if last {
			return
		}
		for i := range vars {
			if vars[i].val.k == kAny {
				vars[i].val = emptyVal
			}
		}
	}
}

// fixpoint emits the operations of a recursive definition whose variables' kinds are known and
// returns the variables' values.
func (l *lowerer) fixpoint(binds []*Binding, vars []recVar, env *senv) []sval {
	unknown := l.rare != nil
	var names []string
	var isSet []bool
	for i := range vars {
		w := &vars[i]
		switch w.val.k {
		case kAny:
			unknown = true
		case kVals, kTag, kEvent, kPair, kTuple:
			l.setRare(w.pos, "recursive definition of a %s", w.val.k)
			unknown = true
		}
		names = append(names, w.name)
		isSet = append(isSet, w.val.k == kSet)
	}
	kinds := make([]sval, len(vars))
	for i := range vars {
		kinds[i] = blur(vars[i].val)
	}
	if unknown {
		return kinds
	}
	region, phis := l.b.openFix(binds[0].Pos, names, isSet)
	for i := range vars {
		if k := vars[i].val.k; k == kSet || k == kRel {
			vars[i].val.slot = phis[i]
		}
	}
	next := make([]int32, len(vars))
	known := true
	l.round(binds, vars, env, func(i int, v sval) sval {
		next[i] = l.b.empty(isSet[i])
		switch k := vars[i].val.k; {
		case v.k == kAny:
			known, kinds[i] = false, anyVal
		case k == kEmpty || k == kUniv:
			if v.k != k {
				l.setRare(vars[i].pos, "recursion on a value without kind")
				known, kinds[i] = false, anyVal
			}
		case v.k == kUniv:
			next[i] = l.b.all(isSet[i])
		case v.k == k:
			next[i] = v.slot
		case v.k != kEmpty:
			panic(errorf(vars[i].pos, "%s is a %s in one round of the recursion and a %s in the next", names[i], k, v.describe()))
		}
		known = known && next[i] != noSlot
		return v
	})
	if !known {
		l.b.stack = l.b.stack[:len(l.b.stack)-1]
		return kinds
	}
	out := make([]sval, len(vars))
	for i, s := range l.b.closeFix(region, next) {
		out[i] = vars[i].val
		if k := out[i].k; k == kSet || k == kRel {
			out[i].slot = s
		}
	}
	return out
}
