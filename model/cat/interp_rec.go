package cat

import (
	"fmt"

	"optcheck/model/rel"
)

// letRecLazy binds recursive definitions that are evaluated when one of their
// names is used.
func (r *run) letRecLazy(binds []*Binding, env *ienv) *ienv {
	var done *ienv
	out := env
	for _, id := range names(binds) {
		out = out.bind(id, &ithunk{eval: func() ival {
			if done == nil {
				done = r.letRec(binds, env, func(*ienv) bool { return true })
			}
			return r.lookup(done, id, binds[0].Pos)
		}})
	}
	return out
}

// letRec binds recursive definitions; check is called after every round of a fixpoint and ends
// it by returning false.
func (r *run) letRec(binds []*Binding, env *ienv, check func(*ienv) bool) *ienv {
	var funs, vals []*Binding
	for _, b := range binds {
		if _, ok := b.X.(*Fun); ok {
			funs = append(funs, b)
		} else {
			vals = append(vals, b)
		}
	}
	closures := func(env *ienv) *ienv {
		var list []*iclosure
		for _, b := range funs {
			c := &iclosure{def: b.X.(*Fun)}
			list = append(list, c)
			if b.Pat.Tuple {
				panic(errorf(b.Pos, "%d values expected, found a function", len(b.Pat.Names)))
			}
			env = env.bind(b.Pat.Names[0].Name, have(ival{k: kFun, fun: c}))
		}
		for _, c := range list {
			c.env = env
		}
		return env
	}
	if len(vals) == 0 {
		return closures(env)
	}
	ids := names(vals)
	old := make([]ival, len(ids))
	for i := range old {
		old[i] = ival{k: kEmpty}
	}
	limit := r.ex.N*r.ex.N*len(old) + maxRounds
	for round := 0; ; round++ {
		// Functions see the values of the previous round, later definitions of values those of
		// this round.
		e := env
		for i, id := range ids {
			e = e.bind(id, have(old[i]))
		}
		e = closures(e)
		i := 0
		cur := make([]ival, len(old))
		for _, b := range vals {
			v := r.eval(b.X, e)
			for k, id := range b.Pat.Names {
				c := v
				if b.Pat.Tuple {
					c = component(v, k, len(b.Pat.Names), b.Pos)
				}
				cur[i] = c
				e = e.bind(id.Name, have(c))
				i++
			}
		}
		out := closures(e)
		if !check(out) || r.settled(old, cur, binds[0].Pos) {
			return out
		}
		if round >= limit {
			panic(&Error{Pos: binds[0].Pos, Msg: fmt.Sprintf("recursive definition of %s did not settle in %d rounds",
				binds[0].Pat.first(), round), Err: ErrNoFixpoint})
		}
		old = cur
	}
}

func names(binds []*Binding) []string {
	var out []string
	for _, b := range binds {
		for _, id := range b.Pat.Names {
			out = append(out, id.Name)
		}
	}
	return out
}

// settled reports whether every new value is included in the old one.
func (r *run) settled(old, cur []ival, pos Pos) bool {
	for i, w := range cur {
		v := old[i]
		switch {
		case w.k == kEmpty || v.k == kUniv:
		case w.k == kSet || w.k == kUniv && v.k == kSet:
			if !rel.Subset(r.asSet(w, pos, "recursion"), r.asSet(v, pos, "recursion")) {
				return false
			}
		case w.k == kRel || w.k == kUniv:
			if !rel.Subset(r.asRel(w, pos, "recursion"), r.asRel(v, pos, "recursion")) {
				return false
			}
		case w.k == kVals && (v.k == kVals || v.k == kEmpty):
			out, ok := mergeVals(OpDiff, w.vals, v.vals)
			if !ok {
				panic(errorf(pos, "illegal recursion on a %s", w.describe()))
			}
			if len(out) > 0 {
				return false
			}
		default:
			panic(errorf(pos, "illegal recursion on a %s", w.describe()))
		}
	}
	return true
}
