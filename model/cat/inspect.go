package cat

import "optcheck/model/rel"

// InputRel returns the machine's own memory for input i, a relation, to be
// filled in place; nil if the program does not use it (i < 0). It is empty
// after Reset and valid until the next Reset.
func (m *Machine) InputRel(i int) rel.Rel {
	if i < 0 {
		return nil
	}
	return m.rels[m.p.inputs[i].slot]
}

// InputSet is InputRel for a set.
func (m *Machine) InputSet(i int) rel.Set {
	if i < 0 {
		return nil
	}
	return m.sets[m.p.inputs[i].slot]
}

// CheckValue returns the relation that check i tests, as far as it was
// computed by the last Run: for an acyclic check a relation with the same
// cycles. Two values mean that the check is evaluated without computing their
// combination: a ∩ b or a \ b for empty, a;b for irreflexive. Nil stands for a
// check of a set.
func (m *Machine) CheckValue(i int) (a, b rel.Rel) {
	switch c := &m.p.checks[i]; {
	case c.isSet:
		return nil, nil
	case c.a != noSlot:
		return m.rels[c.a], m.rels[c.b]
	default:
		return m.rels[c.slot], nil
	}
}

// Inclusion says which requirement on a relation a check of the form "empty a \ b" makes.
type Inclusion uint8

// The inclusions.
const (
	NoInclusion   Inclusion = iota
	InInput                 // a ⊆ r or a ⊆ r+
	InEitherOrder           // a ⊆ r | r^-1 or a ⊆ r+ | (r+)^-1
)

// Inclusion reports whether check i requires that pairs be in the input named r, in a way that
// does not get harder when r and the other growing inputs grow on the right-hand side only: the
// left-hand side may not shrink with them.
func (p *Program) Inclusion(i int, r string, growing Mask) Inclusion {
	c, in := &p.checks[i], p.Input(r)
	if in < 0 || c.code != checkSubset || c.isSet || c.Negated || p.ops[c.a].down.Meets(growing) {
		return NoInclusion
	}
	slot := p.inputs[in].slot
	is := func(s int32) bool { return s == slot || p.ops[s].code == opPlus && p.ops[s].a == slot }
	if is(c.b) {
		return InInput
	}
	if o := &p.ops[c.b]; o.code == opUnion {
		inv := func(s int32) bool { return p.ops[s].code == opInverse && is(p.ops[s].a) }
		if is(o.a) && inv(o.b) || is(o.b) && inv(o.a) {
			return InEitherOrder
		}
	}
	return NoInclusion
}

// Sides returns, for a check of the form "empty a \ b", the inputs that a depends on, and the
// index of b if it is an input; -1 if it is not, or if the check has another form.
func (p *Program) Sides(i int) (a Mask, b int) {
	c := &p.checks[i]
	if c.code != checkSubset || c.isSet || c.Negated {
		return Mask{}, -1
	}
	a, b = p.ops[c.a].deps, -1
	if o := &p.ops[c.b]; o.code == opInput {
		b = int(o.a)
	}
	return a, b
}
