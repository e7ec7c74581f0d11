package cat

import "optcheck/model/rel"

// Edge is a pair of a base relation. With Inverse it was used backwards: the
// relation has the pair (To, From).
type Edge struct {
	From, To int
	Rel      string
	Inverse  bool
}

// Step is one edge of a cycle or one pair: Via is a path of base edges from
// From to To that explains it. A part that no base relation explains is an
// edge that carries the name of its definition, or an operator.
type Step struct {
	From, To int
	Name     string // name of the definition that the step comes from, or ""
	Via      []Edge
}

// Explanation says why a test came out as it did.
type Explanation struct {
	Check *Check
	Cycle []int  // for acyclic and irreflexive: the events of a shortest cycle
	Steps []Step // the edges of the cycle; for empty the first pair
	Elems []int  // for empty on a set: its members
}

// maxDescent bounds the work for one step of an explanation.
const maxDescent = 4000

// Explain looks for the reason of a failed check (or set flag) under the
// inputs as they are now. If the tested value is acyclic, irreflexive or
// empty there is nothing to show and the explanation has no steps.
func (m *Machine) Explain(i int) (*Explanation, error) {
	all := m.p.AllInputs()
	if err := m.RunAll(m.p.Plan(PlanOptions{Changed: all, Known: all, Checks: []int{i}, values: true})); err != nil {
		return nil, err
	}
	c := &m.p.checks[i]
	e := &Explanation{Check: c}
	if c.isSet {
		e.Elems = m.sets[c.slot].Events()
		return e, nil
	}
	r := m.rels[c.slot]
	pred := c.Pred
	if c.code == checkAcyclic {
		pred = Acyclic
	}
	var pairs [][2]int
	e.Cycle, pairs = witness(pred, r)
	for _, p := range edges(e.Cycle, pairs) {
		e.Steps = append(e.Steps, m.explainPair(c.slot, p[0], p[1]))
	}
	return e, nil
}

// edges returns the edges of a cycle, or the first one of a list of pairs.
func edges(cycle []int, pairs [][2]int) [][2]int {
	var out [][2]int
	for k, a := range cycle {
		out = append(out, [2]int{a, cycle[(k+1)%len(cycle)]})
	}
	if len(cycle) == 0 && len(pairs) > 0 {
		out = pairs[:1]
	}
	return out
}

func (m *Machine) explainPair(slot int32, i, j int) Step {
	d := &descent{m: m, left: maxDescent}
	s := Step{From: i, To: j, Name: d.branch(slot, i, j)}
	s.Via = d.path(slot, i, j, 0)
	return s
}

// descent explains a pair by going down the expression of its relation.
type descent struct {
	m    *Machine
	left int
}

// branch names the innermost definition along unions that has the pair.
func (d *descent) branch(slot int32, i, j int) string {
	name := ""
	for n := 0; n < 100; n++ {
		o := &d.m.p.ops[slot]
		if o.name != "" {
			name = o.name
		}
		if o.code != opUnion {
			break
		}
		if slot = o.a; !d.m.rels[slot].Has(i, j) {
			slot = o.b
		}
	}
	return name
}

// path returns base edges that lead from i to j; none for an identity step.
func (d *descent) path(slot int32, i, j, depth int) []Edge {
	m := d.m
	o := &m.p.ops[slot]
	if d.left--; d.left < 0 || depth > 200 {
		return d.opaque(slot, i, j)
	}
	depth++
	switch o.code {
	case opInput:
		return []Edge{{From: i, To: j, Rel: o.name}}
	case opUnion:
		if m.rels[o.a].Has(i, j) {
			return d.path(o.a, i, j, depth)
		}
		return d.path(o.b, i, j, depth)
	case opInter:
		// The smaller one of the two says more: rf rather than ext.
		if rel.Count(m.rels[o.b]) < rel.Count(m.rels[o.a]) {
			return d.path(o.b, i, j, depth)
		}
		return d.path(o.a, i, j, depth)
	case opDiff, opRestrictRan:
		return d.path(o.a, i, j, depth)
	case opRestrict, opRestrictDom:
		return d.path(o.b, i, j, depth)
	case opInverse:
		return reversed(d.path(o.a, j, i, depth))
	case opSeq:
		for _, k := range m.rels[o.a].Row(i).Events() {
			if m.rels[o.b].Has(k, j) {
				return append(d.path(o.a, i, k, depth), d.path(o.b, k, j, depth)...)
			}
		}
	case opToID, opConstID:
		return nil
	case opOpt, opStar, opPlus:
		return d.closure(o, i, j, depth)
	case opFixResult:
		return d.path(m.p.fixes[m.p.ops[o.a].a].next[o.b], i, j, depth)
	case opPhi:
		return d.path(m.p.fixes[o.region].next[o.b], i, j, depth)
	}
	return d.opaque(slot, i, j)
}

func (d *descent) closure(o *op, i, j, depth int) []Edge {
	r := d.m.rels[o.a]
	if i == j && o.code != opPlus && !r.Has(i, j) {
		return nil
	}
	if o.code == opOpt {
		return d.path(o.a, i, j, depth)
	}
	var out []Edge
	p := rel.Path(r, i, j)
	for k := 1; k < len(p); k++ {
		out = append(out, d.path(o.a, p[k-1], p[k], depth)...)
	}
	return out
}

// opaque returns the edge for a pair that is not taken apart.
func (d *descent) opaque(slot int32, i, j int) []Edge {
	o := &d.m.p.ops[slot]
	name := o.name
	if name == "" {
		switch o.code {
		case opCross:
			name = d.setName(o.a) + " * " + d.setName(o.b)
		case opComplement:
			if name = d.m.p.ops[o.a].name; name == "" {
				name = "…"
			}
			name = "~" + name
		case opConstAll:
			name = "_"
		default:
			name = "…"
		}
	}
	return []Edge{{From: i, To: j, Rel: name}}
}

func (d *descent) setName(s int32) string {
	switch o := &d.m.p.ops[s]; {
	case o.name != "":
		return o.name
	case o.code == opConstAll:
		return "_"
	}
	return "…"
}

// reversed turns a path around.
func reversed(p []Edge) []Edge {
	out := make([]Edge, len(p))
	for k, e := range p {
		out[len(p)-1-k] = Edge{From: e.To, To: e.From, Rel: e.Rel, Inverse: !e.Inverse}
	}
	return out
}
