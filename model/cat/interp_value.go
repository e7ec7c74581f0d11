package cat

import (
	"slices"
	"strings"

	"optcheck/model/rel"
)

// ival is a value of the interpreter. Values are never changed once made.
type ival struct {
	k    kind
	set  rel.Set // kSet
	rel  rel.Rel // kRel
	a, b int     // kEvent: a; kPair: a, b
	tag  string  // kTag
	enum string
	vals []ival // kTuple: components; kVals: elements, ascending, no duplicates
	size int    // number of parts of a tuple or set of values
	fun  *iclosure
	prim *iprim
	proc *iproc
}

type iclosure struct {
	def *Fun
	env *ienv
}

type iproc struct {
	def *ProcedureStmt
	env *ienv
}

type iprim struct {
	name  string
	apply func(r *run, pos Pos, v ival) ival
}

func (v ival) describe() string {
	if v.k == kTag {
		return "tag '" + v.tag
	}
	return v.k.String()
}

// bounded counts the parts of a tuple, or of a set of values by its largest element: without a
// bound, doubling makes values that take forever to compare.
func (v ival) bounded(pos Pos) ival {
	v.size = 1
	for _, e := range v.vals {
		if v.k == kTuple {
			v.size += max(e.size, 1)
		} else {
			v.size = max(v.size, 2*e.size)
		}
	}
	if v.size > maxTuple {
		panic(limitf(pos, "a value of more than %d parts", maxTuple))
	}
	return v
}

// compareVals orders values of one kind; ok is false for kinds that have no
// order. The empty set is equal to every empty set, relation or set of values.
func compareVals(v, w ival) (c int, ok bool) {
	if v.k == kEmpty && w.k != kEmpty {
		c, ok = compareVals(w, v)
		return -c, ok
	}
	switch v.k {
	case kEmpty:
		return 0, true
	case kSet, kRel:
		if w.k == kEmpty {
			if rel.IsEmpty(v.set) && rel.IsEmpty(v.rel) {
				return 0, true
			}
			return 1, true
		}
		if w.k != v.k {
			return 0, false
		}
		if v.k == kSet {
			return slices.Compare(v.set, w.set), true
		}
		return slices.Compare(v.rel, w.rel), true
	case kVals:
		if w.k == kEmpty {
			return min(len(v.vals), 1), true
		}
	}
	if v.k != w.k {
		return 0, false
	}
	switch v.k {
	case kEvent:
		return v.a - w.a, true
	case kPair:
		if v.a != w.a {
			return v.a - w.a, true
		}
		return v.b - w.b, true
	case kTag:
		if v.enum != w.enum {
			return strings.Compare(v.enum, w.enum), true
		}
		return strings.Compare(v.tag, w.tag), true
	case kTuple, kVals:
		for i := range min(len(v.vals), len(w.vals)) {
			if c, ok := compareVals(v.vals[i], w.vals[i]); c != 0 || !ok {
				return c, ok
			}
		}
		return len(v.vals) - len(w.vals), true
	}
	return 0, false
}

// addVal adds e to the ascending list; ok is false if it has another kind.
func addVal(list []ival, e ival) (out []ival, ok bool) {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		c, ok := compareVals(e, list[mid])
		if !ok {
			return nil, false
		}
		if c == 0 {
			return list, true
		}
		if c < 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if len(list) == 0 {
		if _, ok := compareVals(e, e); !ok {
			return nil, false
		}
	}
	out = make([]ival, 0, len(list)+1)
	out = append(out, list[:lo]...)
	out = append(out, e)
	return append(out, list[lo:]...), true
}

// mergeVals returns the union, intersection or difference of two ascending lists.
func mergeVals(kind OpKind, v, w []ival) (out []ival, ok bool) {
	i, j := 0, 0
	for i < len(v) || j < len(w) {
		c := 0
		switch {
		case i == len(v):
			c = 1
		case j == len(w):
			c = -1
		default:
			if c, ok = compareVals(v[i], w[j]); !ok {
				return nil, false
			}
		}
		switch {
		case c < 0:
			if kind != OpInter {
				out = append(out, v[i])
			}
			i++
		case c > 0:
			if kind == OpUnion {
				out = append(out, w[j])
			}
			j++
		default:
			if kind != OpDiff {
				out = append(out, v[i])
			}
			i, j = i+1, j+1
		}
	}
	return out, true
}

// ienv is an environment: a list of bindings that ends in the shared ground.
type ienv struct {
	name   string
	val    *ithunk
	next   *ienv
	ground *run // only in the last one
}

func (e *ienv) bind(name string, t *ithunk) *ienv {
	if name == "_" {
		return e
	}
	return &ienv{name: name, val: t, next: e}
}

// ithunk is a value that is computed on demand.
type ithunk struct {
	state uint8 // 0 not computed, 1 being computed, 2 computed, 3 failed
	eval  func() ival
	val   ival
	err   *Error
}

func (t *ithunk) force(r *run, pos Pos, name string) ival {
	switch t.state {
	case 1:
		panic(errorf(pos, "%s depends on itself", name))
	case 2:
		return t.val
	case 3:
		panic(t.err)
	}
	t.state = 1
	r.open = append(r.open, t)
	v := t.eval()
	r.open = r.open[:len(r.open)-1]
	t.val, t.state, t.eval = v, 2, nil
	return v
}

func have(v ival) *ithunk { return &ithunk{state: 2, val: v} }
