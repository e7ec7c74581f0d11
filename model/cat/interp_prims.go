package cat

import (
	"slices"
	"strings"

	"optcheck/model/rel"
)

// iprimitives are the interpreter's versions of the primitives. It is filled
// in by init because the functions refer to the interpreter.
var iprimitives []iprim

// iprimByName finds them by name.
var iprimByName = map[string]*iprim{}

func init() {
	iprimitives = []iprim{
		{"domain", func(r *run, pos Pos, v ival) ival { return r.bound(pos, "domain", v, rel.Domain) }},
		{"range", func(r *run, pos Pos, v ival) ival { return r.bound(pos, "range", v, rel.Range) }},
		{"tag2events", (*run).tagEvents}, {"tag2instrs", (*run).tagEvents},
		{"tag2scope", (*run).tagScope}, {"tag2level", (*run).tagScope},
		{"loc2events", (*run).locEvents},
		{"as_transitive", func(r *run, pos Pos, v ival) ival { r.asRel(v, pos, "as_transitive"); return v }},
		{"classes-loc", (*run).partition}, {"partition", (*run).partition},
		{"classes", (*run).classes},
		{"linearisations", (*run).linearisations},
		{"co-extending", (*run).coExtending},
		{"fail", func(_ *run, pos Pos, v ival) ival { panic(errorf(pos, "fail on a %s", v.describe())) }},
	}
	known := map[string]bool{}
	for _, p := range iprimitives {
		known[p.name] = true
	}
	for _, p := range primitives {
		if !known[p.name] {
			iprimitives = append(iprimitives, iprim{p.name, func(_ *run, pos Pos, _ ival) ival {
				panic(errorf(pos, "primitive %s is not supported", p.name))
			}})
		}
	}
	for i := range iprimitives {
		iprimByName[iprimitives[i].name] = &iprimitives[i]
	}
}

func (r *run) bound(pos Pos, name string, v ival, f func(rel.Set, rel.Rel)) ival {
	if v.k == kEmpty || v.k == kUniv {
		return v
	}
	x := r.asRel(v, pos, name)
	r.work(pos)
	s := rel.NewSet(r.ex.N)
	f(s, x)
	return ival{k: kSet, set: s}
}

func (r *run) tag(pos Pos, name string, v ival) string {
	if v.k != kTag {
		panic(errorf(pos, "%s needs a tag, this is a %s", name, v.describe()))
	}
	return v.tag
}

func (r *run) tagEvents(pos Pos, v ival) ival {
	tag := r.tag(pos, "tag2events", v)
	for _, name := range tagNames(tag) {
		if r.it.sets[name] {
			return r.baseSet(name, pos)
		}
	}
	panic(&Error{Pos: pos, Msg: "there is no set of the events with tag '" + tag + " (" + strings.Join(tagNames(tag),
		", ") + ")", Err: errUnbound})
}

func (r *run) tagScope(pos Pos, v ival) ival {
	tag := r.tag(pos, "tag2scope", v)
	if !r.it.rels[tag] {
		panic(&Error{Pos: pos, Msg: "there is no scope relation " + tag, Err: errUnbound})
	}
	return r.baseRel(tag, pos)
}

func (r *run) locEvents(pos Pos, v ival) ival {
	tag := r.tag(pos, "loc2events", v)
	s, ok := r.ex.Locs[tag]
	if !ok {
		panic(errorf(pos, "there is no location %s", tag))
	}
	return ival{k: kSet, set: s}
}

// partition splits a set by location.
func (r *run) partition(pos Pos, v ival) ival {
	s := r.asSet(v, pos, "partition")
	loc := r.baseRel("loc", pos).rel
	return r.split(pos, s, loc)
}

// classes splits the events that a relation relates into its classes.
func (r *run) classes(pos Pos, v ival) ival {
	x := r.asRel(v, pos, "classes")
	s, t := rel.NewSet(r.ex.N), rel.NewSet(r.ex.N)
	rel.Domain(s, x)
	rel.Range(t, x)
	rel.Union(s, s, t)
	y := rel.NewRel(r.ex.N)
	rel.Inverse(y, x)
	rel.Union(y, y, x)
	rel.Plus(y, y)
	return r.split(pos, s, y)
}

// split groups the members of s by a symmetric relation. A member that is
// related to none is a class of its own.
func (r *run) split(pos Pos, s rel.Set, same rel.Rel) ival {
	out := ival{k: kVals}
	left := rel.Clone(s)
	s.Each(func(e int) bool {
		if !left.Has(e) {
			return true
		}
		r.work(pos)
		c := rel.Clone(same.Row(e))
		rel.Inter(c, c, left)
		c.Add(e)
		rel.Diff(left, left, c)
		out.vals, _ = addVal(out.vals, ival{k: kSet, set: c})
		return true
	})
	return out
}

// linearisations returns the strict total orders on a set that contain the
// given relation on it; none if that is cyclic.
func (r *run) linearisations(pos Pos, v ival) ival {
	if v.k != kTuple || len(v.vals) != 2 {
		panic(errorf(pos, "linearisations needs a set of events and a relation, this is a %s", v.describe()))
	}
	s := r.asSet(v.vals[0], pos, "linearisations")
	p := r.asRel(v.vals[1], pos, "linearisations")
	before := rel.NewRel(r.ex.N)
	rel.Restrict(before, s, p, s)
	rel.Inverse(before, rel.Clone(before))
	out := ival{k: kVals}
	done, order := rel.NewSet(r.ex.N), rel.NewRel(r.ex.N)
	members := s.Events()
	var step func(k int)
	step = func(k int) {
		r.work(pos)
		if k == len(members) {
			out.vals = append(out.vals, ival{k: kRel, rel: rel.Clone(order)})
			return
		}
		for _, e := range members {
			if done.Has(e) || !rel.Subset(before.Row(e), done) {
				continue
			}
			done.Each(func(d int) bool { order.Add(d, e); return true })
			done.Add(e)
			step(k + 1)
			done.Remove(e)
			done.Each(func(d int) bool { order.Remove(d, e); return true })
		}
	}
	step(0)
	slices.SortFunc(out.vals, func(a, b ival) int { return slices.Compare(a.rel, b.rel) })
	return out
}

// coExtending returns the engine's coherence order on a set if it contains the required pairs;
// see the compiler's version.
func (r *run) coExtending(pos Pos, v ival) ival {
	if v.k != kTuple || len(v.vals) != 2 {
		panic(errorf(pos, "co-extending needs a set of events and a relation, this is a %s", v.describe()))
	}
	s := r.asSet(v.vals[0], pos, "co-extending")
	d := r.asRel(v.vals[1], pos, "co-extending")
	co, loc := r.baseRel("co", pos).rel, r.baseRel("loc", pos).rel
	r.work(pos)
	x := rel.NewRel(r.ex.N)
	rel.Inter(x, d, loc)
	rel.Restrict(x, s, x, s)
	if !rel.Subset(x, co) {
		return ival{k: kEmpty}
	}
	rel.Restrict(x, s, co, s)
	return ival{k: kVals, vals: []ival{{k: kRel, rel: x}}, size: 1}
}
