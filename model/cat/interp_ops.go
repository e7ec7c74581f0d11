package cat

import "optcheck/model/rel"

// work counts an operation on relations.
func (r *run) work(pos Pos) { r.spend(pos, 1+r.ex.N*rel.Words(r.ex.N)/8) }

func liftTagI(v ival) ival {
	if v.k == kTag {
		return ival{k: kVals, vals: []ival{v}}
	}
	return v
}

func (r *run) asRel(v ival, pos Pos, what string) rel.Rel {
	switch v.k {
	case kRel:
		return v.rel
	case kEmpty, kUniv, kPair:
		x := rel.NewRel(r.ex.N)
		if v.k == kUniv {
			x.Fill()
		} else if v.k == kPair {
			x.Add(v.a, v.b)
		}
		return x
	}
	panic(errorf(pos, "%s needs a relation, this is a %s", what, v.describe()))
}

func (r *run) asSet(v ival, pos Pos, what string) rel.Set {
	switch v.k {
	case kSet:
		return v.set
	case kEmpty, kUniv, kEvent:
		s := rel.NewSet(r.ex.N)
		if v.k == kUniv {
			s.Fill(r.ex.N)
		} else if v.k == kEvent {
			s.Add(v.a)
		}
		return s
	}
	panic(errorf(pos, "%s needs a set of events, this is a %s", what, v.describe()))
}

func (r *run) newRel(f func(d rel.Rel)) ival {
	d := rel.NewRel(r.ex.N)
	f(d)
	return ival{k: kRel, rel: d}
}

func (r *run) op(x *Op, env *ienv) ival {
	args := make([]ival, len(x.Args))
	for i, a := range x.Args {
		args[i] = r.eval(a, env)
	}
	r.work(x.Pos)
	switch x.Kind {
	case OpUnion, OpInter:
		v := liftTagI(args[0])
		for i := 1; i < len(args); i++ {
			v = r.meet(x, v, liftTagI(args[i]), x.Args[i].Position())
		}
		return v
	case OpDiff:
		return r.diff(x, liftTagI(args[0]), liftTagI(args[1]))
	case OpSeq:
		return r.seq(x, args)
	case OpProduct:
		s := r.asSet(args[0], x.Args[0].Position(), "the product")
		t := r.asSet(args[1], x.Args[1].Position(), "the product")
		return r.newRel(func(d rel.Rel) { rel.Cross(d, s, t) })
	}
	return r.insert(x, args[0], args[1])
}

// noSet fails for values to which set operations do not apply.
func noSet(v ival, kind OpKind, pos Pos) {
	switch v.k {
	case kEvent, kPair, kTag, kTuple, kFun, kPrim, kProc:
		panic(errorf(pos, "%q on a %s", kind, v.describe()))
	}
}

func (r *run) meet(x *Op, v, w ival, pos Pos) ival {
	noSet(v, x.Kind, pos)
	noSet(w, x.Kind, pos)
	union := x.Kind == OpUnion
	switch {
	case v.k == kEmpty && union, v.k == kUniv && !union:
		return w
	case w.k == kEmpty && union, w.k == kUniv && !union:
		return v
	case v.k == kEmpty || w.k == kEmpty:
		return ival{k: kEmpty}
	case v.k == kUniv || w.k == kUniv:
		return ival{k: kUniv}
	case v.k != w.k:
		panic(errorf(pos, "%q mixes a %s and a %s", x.Kind, v.describe(), w.describe()))
	}
	return r.combine(x.Kind, v, w, pos)
}

// combine returns the union, intersection or difference of two values of one kind.
func (r *run) combine(kind OpKind, v, w ival, pos Pos) ival {
	if v.k == kVals {
		r.spend(pos, len(v.vals)+len(w.vals))
		out, ok := mergeVals(kind, v.vals, w.vals)
		if !ok {
			panic(errorf(pos, "%q mixes sets of different values", kind))
		}
		return ival{k: kVals, vals: out, size: max(v.size, w.size)}
	}
	if v.k == kSet {
		d := rel.NewSet(r.ex.N)
		setOp(kind, d, v.set, w.set)
		return ival{k: kSet, set: d}
	}
	return r.newRel(func(d rel.Rel) { setOp(kind, d, v.rel, w.rel) })
}

func setOp[T ~[]uint64](kind OpKind, d, a, b T) {
	switch kind {
	case OpUnion:
		rel.Union(d, a, b)
	case OpInter:
		rel.Inter(d, a, b)
	default:
		rel.Diff(d, a, b)
	}
}

func (r *run) diff(x *Op, v, w ival) ival {
	noSet(v, x.Kind, x.Args[0].Position())
	noSet(w, x.Kind, x.Args[1].Position())
	switch {
	case v.k == kEmpty || w.k == kUniv:
		return ival{k: kEmpty}
	case w.k == kEmpty:
		return v
	case v.k == kUniv:
		return r.complement(w, x.Args[0].Position())
	case v.k != w.k:
		panic(errorf(x.Args[1].Position(), "%q mixes a %s and a %s", x.Kind, v.describe(), w.describe()))
	}
	return r.combine(OpDiff, v, w, x.OpPos)
}

func (r *run) complement(v ival, pos Pos) ival {
	switch v.k {
	case kEmpty:
		return ival{k: kUniv}
	case kUniv:
		return ival{k: kEmpty}
	case kSet:
		d := rel.NewSet(r.ex.N)
		rel.ComplementSet(d, v.set, r.ex.N)
		return ival{k: kSet, set: d}
	case kRel:
		return r.newRel(func(d rel.Rel) { rel.Complement(d, v.rel) })
	case kVals:
		if len(v.vals) > 0 && v.vals[0].k == kTag {
			all := ival{k: kVals}
			for _, t := range r.enums[v.vals[0].enum] {
				all.vals, _ = addVal(all.vals, ival{k: kTag, tag: t, enum: v.vals[0].enum})
			}
			return r.combine(OpDiff, all, v, pos)
		}
		panic(errorf(pos, "there is no universe of such values"))
	}
	panic(errorf(pos, "\"~\" needs a set or a relation, this is a %s", v.describe()))
}

func (r *run) seq(x *Op, args []ival) ival {
	var acc rel.Rel
	empty := false
	for i, a := range args {
		if a.k == kSet {
			panic(errorf(x.Args[i].Position(), "\";\" needs relations, this is a set of events (write [%s] for its identity)", Format(x.Args[i])))
		}
		empty = empty || a.k == kEmpty
		b := r.asRel(a, x.Args[i].Position(), "\";\"")
		if i == 0 {
			acc = b
			continue
		}
		r.work(x.Pos)
		d := rel.NewRel(r.ex.N)
		rel.Seq(d, acc, b)
		acc = d
	}
	if empty {
		return ival{k: kEmpty}
	}
	return ival{k: kRel, rel: acc}
}

func (r *run) unary(x *Unary, env *ienv) ival {
	v := r.eval(x.X, env)
	pos := x.X.Position()
	r.work(pos)
	switch x.Kind {
	case OpComplement:
		return r.complement(liftTagI(v), pos)
	case OpToID:
		if v.k == kEmpty {
			return v
		}
		s := r.asSet(v, pos, "[ ]")
		return r.newRel(func(d rel.Rel) { rel.ToID(d, s) })
	}
	switch {
	case v.k == kPair && x.Kind == OpInverse:
		return ival{k: kPair, a: v.b, b: v.a}
	case v.k == kUniv, v.k == kEmpty && (x.Kind == OpInverse || x.Kind == OpPlus):
		return v
	case v.k != kRel && v.k != kPair && v.k != kEmpty:
		panic(errorf(pos, "%q needs a relation, this is a %s", x.Kind, v.describe()))
	}
	a := r.asRel(v, pos, x.Kind.String())
	return r.newRel(func(d rel.Rel) {
		switch x.Kind {
		case OpInverse:
			rel.Inverse(d, a)
		case OpPlus:
			rel.Plus(d, a)
		case OpStar:
			rel.Star(d, a)
		case OpOpt:
			rel.Opt(d, a)
		}
	})
}

func (r *run) setLit(x *SetLit, env *ienv) ival {
	out := ival{k: kVals}
	for i, e := range x.Elems {
		v := r.eval(e, env)
		if v.k == kUniv {
			panic(errorf(e.Position(), "the universe cannot be an element of a set"))
		}
		list, ok := addVal(out.vals, v)
		if !ok || i > 0 && !compatible(v.k, out.vals[0].k) {
			if i == 0 {
				panic(errorf(e.Position(), "a %s cannot be an element of a set", v.describe()))
			}
			panic(errorf(e.Position(), "a set cannot hold a %s and a %s", out.vals[0].describe(), v.describe()))
		}
		out.vals = list
	}
	switch out.vals[0].k {
	case kEvent:
		s := rel.NewSet(r.ex.N)
		for _, e := range out.vals {
			s.Add(e.a)
		}
		return ival{k: kSet, set: s}
	case kPair:
		return r.newRel(func(d rel.Rel) {
			for _, e := range out.vals {
				d.Add(e.a, e.b)
			}
		})
	}
	return out.bounded(x.Pos)
}

// insert evaluates e ++ s.
func (r *run) insert(x *Op, v, w ival) ival {
	pos := x.Args[0].Position()
	switch v.k {
	case kUniv:
		panic(errorf(pos, "the universe cannot be an element of a set"))
	case kFun, kPrim, kProc:
		panic(errorf(pos, "a %s cannot be an element of a set", v.describe()))
	}
	if v.k == kTuple && w.k == kRel && len(v.vals) == 2 && v.vals[0].k == kEvent && v.vals[1].k == kEvent {
		v = ival{k: kPair, a: v.vals[0].a, b: v.vals[1].a}
	}
	switch {
	case w.k == kUniv:
		return w
	case v.k == kEvent && (w.k == kSet || w.k == kEmpty):
		s := rel.Clone(r.asSet(w, pos, "++"))
		s.Add(v.a)
		return ival{k: kSet, set: s}
	case v.k == kPair && (w.k == kRel || w.k == kEmpty):
		s := rel.Clone(r.asRel(w, pos, "++"))
		s.Add(v.a, v.b)
		return ival{k: kRel, rel: s}
	case w.k == kRel:
		panic(errorf(pos, "only a pair of events can be put into a relation, this is a %s", v.describe()))
	case w.k == kSet:
		panic(errorf(pos, "only an event can be put into a set of events, this is a %s", v.describe()))
	case w.k != kVals && w.k != kEmpty:
		panic(errorf(x.Args[1].Position(), "\"++\" needs a set, this is a %s", w.describe()))
	}
	r.spend(pos, len(w.vals)+1)
	list, ok := addVal(w.vals, v)
	if !ok {
		panic(errorf(pos, "a set cannot hold a %s and a %s", w.vals[0].describe(), v.describe()))
	}
	size := max(w.size, 2*v.size, 1)
	if size > maxTuple {
		panic(limitf(pos, "a value of more than %d parts", maxTuple))
	}
	return ival{k: kVals, vals: list, size: size}
}
