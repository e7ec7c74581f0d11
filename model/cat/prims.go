package cat

import "strings"

// primitives are the predefined names.
var primitives = []sprim{
	{"domain", func(l *lowerer, pos Pos, v sval) sval { return l.boundOf(pos, "domain", v, l.b.domain) }},
	{"range", func(l *lowerer, pos Pos, v sval) sval { return l.boundOf(pos, "range", v, l.b.rng) }},
	{"tag2events", tagEvents},
	{"tag2instrs", tagEvents},
	{"tag2scope", tagScope},
	{"tag2level", tagScope},
	{"loc2events", func(l *lowerer, pos Pos, v sval) sval {
		needTag(pos, "loc2events", v)
		l.setRare(pos, "primitive loc2events")
		return kindVal(kSet)
	}},
	{"as_transitive", func(_ *lowerer, pos Pos, v sval) sval {
		needRel(pos, "as_transitive", v)
		return v
	}},
	{"classes-loc", partition},
	{"partition", partition},
	{"classes", func(l *lowerer, pos Pos, v sval) sval {
		needRel(pos, "classes", v)
		l.setRare(pos, "primitive classes")
		return valsOf(kindVal(kSet))
	}},
	{"linearisations", func(l *lowerer, pos Pos, v sval) sval {
		needPair(pos, "linearisations", v)
		l.setRare(pos, "primitive linearisations")
		return valsOf(kindVal(kRel))
	}},
	{"co-extending", coExtending},
	{"fail", func(l *lowerer, pos Pos, v sval) sval {
		if l.rare == nil && v.k != kAny {
			panic(errorf(pos, "fail on a %s", v.describe()))
		}
		return anyVal
	}},
	unsupported("lift"), unsupported("delift"), unsupported("deliftinter"),
	unsupported("bisimulation"), unsupported("fromto"), unsupported("tag2fenced"),
	unsupported("different-values"), unsupported("same-oa"),
	unsupported("at-least-one-writable"), unsupported("oa-changes"),
}

// unsupported returns a primitive that the language has and this package lacks.
func unsupported(name string) sprim {
	return sprim{name, func(_ *lowerer, pos Pos, _ sval) sval {
		panic(errorf(pos, "primitive %s is not supported", name))
	}}
}

func needRel(pos Pos, name string, v sval) {
	switch v.k {
	case kRel, kEmpty, kUniv, kAny, kPair:
		return
	}
	panic(errorf(pos, "%s needs a relation, this is a %s", name, v.describe()))
}

func needSet(pos Pos, name string, v sval) {
	switch v.k {
	case kSet, kEmpty, kUniv, kAny, kEvent:
		return
	}
	panic(errorf(pos, "%s needs a set of events, this is a %s", name, v.describe()))
}

func needTag(pos Pos, name string, v sval) {
	if v.k != kTag && v.k != kAny {
		panic(errorf(pos, "%s needs a tag, this is a %s", name, v.describe()))
	}
}

// needPair checks the arguments (set, relation).
func needPair(pos Pos, name string, v sval) {
	if v.k == kAny {
		return
	}
	if v.k != kTuple || len(v.elems) != 2 {
		panic(errorf(pos, "%s needs a set of events and a relation, this is a %s", name, v.describe()))
	}
	needSet(pos, name, v.elems[0])
	needRel(pos, name, v.elems[1])
}

func (l *lowerer) boundOf(pos Pos, name string, v sval, f func(int32) int32) sval {
	needRel(pos, name, v)
	switch v.k {
	case kEmpty, kUniv:
		return v
	case kRel:
		return setVal(f(v.slot))
	}
	return kindVal(kSet)
}

func partition(l *lowerer, pos Pos, v sval) sval {
	needSet(pos, "partition", v)
	l.setRare(pos, "primitive partition")
	return valsOf(kindVal(kSet))
}

// coExtending (S, d) is this package's own: the set of the coherence orders on S that contain d
// between accesses of one location. The engine's current choice stands for all of them. It
// replaces an enumeration.
func coExtending(l *lowerer, pos Pos, v sval) sval {
	needPair(pos, "co-extending", v)
	out := valsOf(kindVal(kRel))
	if v.k != kTuple {
		return out
	}
	for _, name := range []string{"co", "loc"} {
		if !has(l.sig.Rels, name) {
			panic(&Error{Pos: pos, Msg: name + " is not defined", Err: errUnbound})
		}
	}
	s, ok := l.asSet(v.elems[0], &Const{Pos: pos}, "co-extending")
	d := v.elems[1].slot
	switch v.elems[1].k {
	case kEmpty:
		d = l.b.empty(false)
	case kUniv:
		d = l.b.all(false)
	}
	if !ok || d == noSlot {
		return out
	}
	co, loc := l.b.input("co", false, pos), l.b.input("loc", false, pos)
	only := relVal(l.b.restrict(s, co, s))
	out.only = &only
	out.guard = l.b.diff(false, l.b.restrict(s, l.b.inter(false, d, loc), s), co)
	return out
}

// tagNames returns the names under which the set of the events with a tag is looked up: herd's,
// with a capital first letter, and all capitals.
func tagNames(tag string) []string {
	return []string{strings.ToUpper(tag[:1]) + tag[1:], strings.ToUpper(tag)}
}

func tagEvents(l *lowerer, pos Pos, v sval) sval {
	needTag(pos, "tag2events", v)
	if v.tag == "" {
		return l.unknownTag(pos, v, "tag2events", kSet)
	}
	for _, name := range tagNames(v.tag) {
		if has(l.sig.Sets, name) {
			return setVal(l.b.input(name, true, pos))
		}
	}
	panic(&Error{Pos: pos, Msg: "there is no set of the events with tag '" + v.tag + " (" + strings.Join(tagNames(v.tag),
		", ") + ")", Err: errUnbound})
}

func tagScope(l *lowerer, pos Pos, v sval) sval {
	needTag(pos, "tag2scope", v)
	if v.tag == "" {
		return l.unknownTag(pos, v, "tag2scope", kRel)
	}
	if has(l.sig.Rels, v.tag) {
		return relVal(l.b.input(v.tag, false, pos))
	}
	panic(&Error{Pos: pos, Msg: "there is no scope relation " + v.tag, Err: errUnbound})
}

func (l *lowerer) unknownTag(pos Pos, v sval, name string, k kind) sval {
	if v.k == kTag {
		l.setRare(pos, "%s of a tag that depends on the execution", name)
	}
	return kindVal(k)
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
