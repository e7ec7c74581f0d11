package cat

// op evaluates a binary or n-ary operation.
func (l *lowerer) op(x *Op, env *senv) sval {
	args := make([]sval, len(x.Args))
	for i, a := range x.Args {
		args[i] = l.eval(a, env)
	}
	switch x.Kind {
	case OpUnion, OpInter:
		v := liftTag(args[0])
		for i := 1; i < len(args); i++ {
			v = l.meet(x, v, liftTag(args[i]), x.Args[i].Position())
		}
		return v
	case OpDiff:
		return l.diff(x, liftTag(args[0]), liftTag(args[1]))
	case OpSeq:
		return l.seq(x, args)
	case OpProduct:
		s, ok1 := l.asSet(args[0], x.Args[0], "the product")
		t, ok2 := l.asSet(args[1], x.Args[1], "the product")
		if !ok1 || !ok2 {
			return kindVal(kRel)
		}
		return relVal(l.b.cross(s, t))
	}
	return l.insert(x, args[0], args[1])
}

// meet returns the union or intersection of two values.
func (l *lowerer) meet(x *Op, v, w sval, pos Pos) sval {
	for _, a := range []sval{v, w} {
		switch a.k {
		case kEvent, kPair, kTag, kTuple, kFun, kPrim, kProc:
			panic(errorf(pos, "%q on a %s", x.Kind, a.describe()))
		}
	}
	union := x.Kind == OpUnion
	switch {
	case v.k == kAny || w.k == kAny:
		if v.k == kAny {
			v = w
		}
		if v.k == kEmpty || v.k == kUniv {
			return anyVal
		}
		return blur(v)
	case v.k == kEmpty && union, v.k == kUniv && !union:
		return w
	case w.k == kEmpty && union, w.k == kUniv && !union:
		return v
	case v.k == kEmpty || w.k == kEmpty:
		return emptyVal
	case v.k == kUniv || w.k == kUniv:
		return univVal
	case v.k != w.k:
		panic(errorf(pos, "%q mixes a %s and a %s", x.Kind, v.describe(), w.describe()))
	case v.k == kVals:
		return l.valsOp(x.Kind, v, w)
	}
	if union {
		return sval{k: v.k, slot: l.b.union(v.k == kSet, v.slot, w.slot)}
	}
	return sval{k: v.k, slot: l.b.inter(v.k == kSet, v.slot, w.slot)}
}

// valsOp returns the union, intersection or difference of sets of values.
func (l *lowerer) valsOp(kind OpKind, v, w sval) sval {
	if !v.known || !w.known {
		return join(v, w)
	}
	has := map[string]bool{}
	for _, e := range w.elems {
		has[e.key()] = true
	}
	var out []sval
	for _, e := range v.elems {
		if kind == OpUnion || has[e.key()] == (kind == OpInter) {
			out = append(out, e)
		}
	}
	if kind == OpUnion {
		out = append(out, w.elems...)
	}
	return tagSet(out)
}

func (l *lowerer) diff(x *Op, v, w sval) sval {
	for i, a := range []sval{v, w} {
		switch a.k {
		case kEvent, kPair, kTag, kTuple, kFun, kPrim, kProc:
			panic(errorf(x.Args[i].Position(), "%q on a %s", x.Kind, a.describe()))
		}
	}
	switch {
	case v.k == kEmpty || w.k == kUniv:
		return emptyVal
	case w.k == kEmpty:
		return v
	case w.k == kAny:
		return blur(v)
	case v.k == kAny:
		return blur(w)
	case v.k == kUniv && w.k == kVals:
		return l.complementTags(w, x.Args[0].Position())
	case v.k == kUniv:
		return sval{k: w.k, slot: l.b.complement(w.k == kSet, w.slot)}
	case v.k != w.k:
		panic(errorf(x.Args[1].Position(), "%q mixes a %s and a %s", x.Kind, v.describe(), w.describe()))
	case v.k == kVals:
		return l.valsOp(OpDiff, v, w)
	}
	return sval{k: v.k, slot: l.b.diff(v.k == kSet, v.slot, w.slot)}
}

// complementTags returns the complement of a set of tags within its enumeration.
func (l *lowerer) complementTags(v sval, pos Pos) sval {
	if v.elem == nil || v.elem.k != kTag {
		panic(errorf(pos, "there is no universe of such values"))
	}
	if !v.known {
		return v
	}
	var all []sval
	for _, t := range l.enums[v.elem.enum] {
		all = append(all, sval{k: kTag, slot: noSlot, tag: t, enum: v.elem.enum})
	}
	return l.valsOp(OpDiff, tagSet(all), v)
}

func (l *lowerer) seq(x *Op, args []sval) sval {
	slot := noSlot
	empty, unknown := false, false
	for i, a := range args {
		s := noSlot
		switch a.k {
		case kEmpty:
			empty = true
			continue
		case kUniv:
			s = l.b.all(false)
		case kRel:
			s = a.slot
		case kAny, kPair:
			unknown = true
			continue
		case kSet:
			panic(errorf(x.Args[i].Position(), "\";\" needs relations, this is a set of events (write [%s] for its identity)", Format(x.Args[i])))
		default:
			panic(errorf(x.Args[i].Position(), "\";\" needs relations, this is a %s", a.describe()))
		}
		switch {
		case s == noSlot:
			unknown = true
		case slot == noSlot:
			slot = s
		default:
			slot = l.b.seq(slot, s)
		}
	}
	if empty {
		return emptyVal
	}
	if unknown {
		return kindVal(kRel)
	}
	return relVal(slot)
}

// asSet returns the slot of a set of events; ok is false if it is not known.
func (l *lowerer) asSet(v sval, x Expr, where string) (slot int32, ok bool) {
	switch v.k {
	case kSet:
		return v.slot, v.slot != noSlot
	case kEmpty:
		return l.b.empty(true), true
	case kUniv:
		return l.b.all(true), true
	case kAny, kEvent:
		return noSlot, false
	}
	panic(errorf(x.Position(), "%s needs a set of events, this is a %s", where, v.describe()))
}

func (l *lowerer) unary(x *Unary, env *senv) sval {
	v := l.eval(x.X, env)
	switch x.Kind {
	case OpComplement:
		switch v = liftTag(v); v.k {
		case kEmpty:
			return univVal
		case kUniv:
			return emptyVal
		case kAny:
			return anyVal
		case kSet, kRel:
			return sval{k: v.k, slot: l.b.complement(v.k == kSet, v.slot)}
		case kVals:
			return l.complementTags(v, x.X.Position())
		}
		panic(errorf(x.X.Position(), "\"~\" needs a set or a relation, this is a %s", v.describe()))
	case OpToID:
		switch s, ok := l.asSet(v, x.X, "[ ]"); {
		case v.k == kEmpty:
			return emptyVal
		case !ok:
			return kindVal(kRel)
		default:
			return relVal(l.b.toID(s))
		}
	}
	switch v.k {
	case kAny:
		return kindVal(kRel)
	case kPair:
		if x.Kind == OpInverse {
			return v
		}
		return kindVal(kRel)
	case kUniv:
		return v
	case kEmpty:
		if x.Kind == OpInverse || x.Kind == OpPlus {
			return v
		}
		return relVal(l.b.id())
	case kRel:
	default:
		panic(errorf(x.X.Position(), "%q needs a relation, this is a %s", x.Kind, v.describe()))
	}
	switch x.Kind {
	case OpInverse:
		return relVal(l.b.inverse(v.slot))
	case OpPlus:
		return relVal(l.b.plus(v.slot))
	case OpStar:
		return relVal(l.b.star(v.slot))
	}
	return relVal(l.b.opt(v.slot))
}

// setLit evaluates {a, b, …}: of events a set, of pairs a relation, of other
// things a set of values.
func (l *lowerer) setLit(x *SetLit, env *senv) sval {
	var elems []sval
	symbolic := true
	for i, e := range x.Elems {
		v := l.eval(e, env)
		switch v.k {
		case kUniv:
			panic(errorf(e.Position(), "the universe cannot be an element of a set"))
		case kFun, kPrim, kProc:
			panic(errorf(e.Position(), "a %s cannot be an element of a set", v.describe()))
		}
		if i > 0 && !compatible(v.k, elems[0].k) {
			panic(errorf(e.Position(), "a set cannot hold a %s and a %s", elems[0].describe(), v.describe()))
		}
		symbolic = symbolic && v.symbolic()
		elems = append(elems, v)
	}
	switch k := elems[0].k; {
	case symbolic:
		return tagSet(elems).bounded(x.Pos)
	case k == kEvent:
		return kindVal(kSet)
	case k == kPair:
		return kindVal(kRel)
	case k == kAny:
		return anyVal
	}
	l.setRare(x.Pos, "a set of sets or relations")
	return valsOf(blur(elems[0]))
}

// insert evaluates e ++ s.
func (l *lowerer) insert(x *Op, v, w sval) sval {
	switch v.k {
	case kUniv:
		panic(errorf(x.Args[0].Position(), "the universe cannot be an element of a set"))
	case kFun, kPrim, kProc:
		panic(errorf(x.Args[0].Position(), "a %s cannot be an element of a set", v.describe()))
	}
	if w.k == kUniv {
		return univVal
	}
	if v.k == kAny || w.k == kAny {
		return anyVal
	}
	switch {
	case v.k == kEvent && (w.k == kSet || w.k == kEmpty):
		return kindVal(kSet)
	case (v.k == kPair || v.k == kTuple && len(v.elems) == 2 && v.elems[0].k == kEvent) && (w.k == kRel || w.k == kEmpty && v.k == kPair):
		return kindVal(kRel)
	case w.k == kRel:
		panic(errorf(x.Args[0].Position(), "only a pair of events can be put into a relation, this is a %s", v.describe()))
	case w.k == kSet:
		panic(errorf(x.Args[0].Position(), "only an event can be put into a set of events, this is a %s", v.describe()))
	case w.k != kVals && w.k != kEmpty:
		panic(errorf(x.Args[1].Position(), "\"++\" needs a set, this is a %s", w.describe()))
	}
	if w.k == kVals && w.elem != nil && !compatible(v.k, w.elem.k) {
		panic(errorf(x.Args[0].Position(), "a set cannot hold a %s and a %s", w.elem.describe(), v.describe()))
	}
	if v.symbolic() && (w.k == kEmpty || w.known) {
		return tagSet(append([]sval{v}, w.elems...)).bounded(x.OpPos)
	}
	l.setRare(x.OpPos, "a set of sets or relations")
	if v.k == kEmpty && w.elem != nil {
		return w
	}
	return valsOf(blur(v))
}
