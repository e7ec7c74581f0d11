package cat

import (
	"sort"
	"strings"
)

// kind is the kind of a value of the language.
type kind uint8

const (
	kAny   kind = iota // not known statically
	kEmpty             // 0 or {}: empty set, relation or set of values
	kUniv              // _: all events or all pairs
	kSet
	kRel
	kEvent
	kPair
	kTag
	kVals // set of values
	kTuple
	kFun
	kPrim
	kProc
)

func (k kind) String() string {
	return [...]string{"value", "empty set", "universe", "set of events", "relation", "event",
		"pair of events", "tag", "set of values", "tuple", "function", "primitive", "procedure"}[k]
}

// sval is a value as the compiler knows it: its kind, and for a set or
// relation the slot that will hold it, noSlot if only the kind is known.
type sval struct {
	k     kind
	slot  int32
	tag   string
	enum  string
	elems []sval // tuple: components; set of values with known: its elements
	size  int    // number of parts of a tuple or known set of values
	known bool   // kVals: elems are all elements
	elem  *sval  // kVals: what an element is like, nil if unknown
	only  *sval  // kVals: its only element, if guard is empty; else there is none
	guard int32
	fun   *sfun
	prim  *sprim
	proc  *sproc
}

// sfun is a closure.
type sfun struct {
	def *Fun
	env *senv
}

// sproc is a procedure.
type sproc struct {
	def *ProcedureStmt
	env *senv
}

// sprim is a primitive of the language.
type sprim struct {
	name  string
	apply func(l *lowerer, pos Pos, arg sval) sval
}

var (
	anyVal   = sval{k: kAny, slot: noSlot}
	emptyVal = sval{k: kEmpty, slot: noSlot}
	univVal  = sval{k: kUniv, slot: noSlot}
)

func setVal(slot int32) sval { return sval{k: kSet, slot: slot} }
func relVal(slot int32) sval { return sval{k: kRel, slot: slot} }
func kindVal(k kind) sval    { return sval{k: k, slot: noSlot} }

// valsOf returns a set of values of which only the kind of the elements is known.
func valsOf(elem sval) sval { return sval{k: kVals, slot: noSlot, elem: &elem} }

// tagSet returns the known set of the given tags.
func tagSet(elems []sval) sval {
	v := sval{k: kVals, slot: noSlot, known: true, elems: normTags(elems)}
	if len(v.elems) > 0 {
		e := v.elems[0]
		v.elem = &e
	}
	return v
}

// normTags sorts values made of tags and drops duplicates.
func normTags(elems []sval) []sval {
	out := append([]sval(nil), elems...)
	sort.Slice(out, func(i, j int) bool { return out[i].key() < out[j].key() })
	n := 0
	for i, e := range out {
		if i == 0 || e.key() != out[n-1].key() {
			out[n] = e
			n++
		}
	}
	return out[:n]
}

// bounded counts the parts of a tuple or known set: without a bound, doubling makes values that
// take forever to compare.
func (v sval) bounded(pos Pos) sval {
	v.size = 1
	for _, e := range v.elems {
		v.size += max(e.size, 1)
	}
	if v.size > maxTuple {
		panic(limitf(pos, "a value of more than %d parts", maxTuple))
	}
	return v
}

// symbolic reports whether a value consists of tags only, so that the
// compiler can compare it.
func (v sval) symbolic() bool {
	switch v.k {
	case kTag:
		return true
	case kTuple:
		for _, e := range v.elems {
			if !e.symbolic() {
				return false
			}
		}
		return true
	case kVals:
		return v.known
	}
	return v.k == kEmpty
}

// key returns a text that is equal for equal symbolic values.
func (v sval) key() string {
	switch v.k {
	case kTag:
		return "'" + v.enum + "." + v.tag
	case kEmpty:
		return "{}"
	}
	parts := make([]string, len(v.elems))
	for i, e := range v.elems {
		parts[i] = e.key()
	}
	if v.k == kVals {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// describe names the value's kind in messages.
func (v sval) describe() string {
	if v.k == kTag && v.tag != "" {
		return "tag '" + v.tag
	}
	return v.k.String()
}

// senv is an environment of the compiler: a persistent list of bindings.
type senv struct {
	name string
	val  *thunk
	next *senv
}

// thunk is a value that is computed when it is first used: an unused definition may contain
// undefined names.
type thunk struct {
	state uint8 // 0 not computed, 1 being computed, 2 computed, 3 failed
	eval  func() sval
	val   sval
	err   *Error
	rare  *Rare // the construct that the compiler cannot follow, if any
	name  string
	pos   Pos
	lib   bool // bound by the prelude
}

func (t *thunk) force(l *lowerer) sval {
	switch t.state {
	case 1:
		panic(errorf(t.pos, "%s depends on itself", t.name))
	case 2:
		if l.rare == nil {
			l.rare = t.rare
		}
		return t.val
	case 3:
		panic(t.err)
	}
	t.state = 1
	rare := l.rare
	l.rare = nil
	l.open = append(l.open, t)
	v := t.eval()
	l.open = l.open[:len(l.open)-1]
	t.rare = l.rare
	if rare != nil {
		l.rare = rare
	}
	t.val, t.state, t.eval = v, 2, nil
	return v
}

func ready(v sval) *thunk { return &thunk{state: 2, val: v} }
