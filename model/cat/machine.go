package cat

import (
	"context"
	"errors"
	"fmt"

	"optcheck/model/rel"
)

// ErrNoFixpoint is the cause of the error for a recursive definition that
// does not settle.
var ErrNoFixpoint = errors.New("recursive definition has no fixpoint")

// maxRounds bounds the rounds of a recursive definition that is not monotone.
const maxRounds = 1000

// Machine evaluates a Program over one universe of events. It is not safe for
// concurrent use; running it allocates nothing.
type Machine struct {
	// Ctx, if not nil, ends a long Run with its error.
	Ctx context.Context

	p     *Program
	n     int
	sets  []rel.Set // by slot
	rels  []rel.Rel // by slot
	own   []uint64  // memory of the values that are computed
	holds []bool    // by check
	row   rel.Set   // scratch
	count int
}

// NewMachine returns a machine for executions of n events. All inputs are
// empty at first.
func (p *Program) NewMachine(n int) (*Machine, error) {
	if p.Rare != nil {
		return nil, errorf(p.Rare.Pos, "%s needs the interpreter", p.Rare.What)
	}
	m := &Machine{p: p, sets: make([]rel.Set, len(p.ops)), rels: make([]rel.Rel, len(p.ops)), holds: make([]bool, len(p.checks))}
	if err := m.Reset(n); err != nil {
		return nil, err
	}
	return m, nil
}

// Reset makes the machine ready for executions of n events, with all inputs
// empty. It reuses memory.
func (m *Machine) Reset(n int) error {
	if n < 0 || n > rel.MaxEvents {
		return fmt.Errorf("%d events: at most %d are supported", n, rel.MaxEvents)
	}
	m.n = n
	w := rel.Words(n)
	need := w
	for i := range m.p.ops {
		if m.p.ops[i].code == opFix {
			continue
		}
		if need += w; !m.p.ops[i].isSet {
			need += w*n - w
		}
	}
	if cap(m.own) < need {
		m.own = make([]uint64, need)
	}
	m.own = m.own[:need]
	rel.Clear(m.own)
	off := 0
	take := func(k int) []uint64 {
		off += k
		return m.own[off-k : off : off]
	}
	m.row = take(w)
	for i := range m.p.ops {
		switch {
		case m.p.ops[i].code == opFix:
		case m.p.ops[i].isSet:
			m.sets[i] = take(w)
		default:
			m.rels[i] = take(w * n)
		}
	}
	m.alias()
	for _, s := range m.p.static {
		m.constant(s)
		if err := m.exec(s); err != nil {
			return err
		}
	}
	return nil
}

// alias lets the results of recursive definitions share memory with the last
// round's values.
func (m *Machine) alias() {
	for _, i := range m.p.results {
		o := &m.p.ops[i]
		src := m.p.fixes[m.p.ops[o.a].a].next[o.b]
		m.sets[i], m.rels[i] = m.sets[src], m.rels[src]
	}
}

func (m *Machine) constant(s int32) {
	o := &m.p.ops[s]
	switch {
	case o.code == opConstAll && o.isSet:
		m.sets[s].Fill(m.n)
	case o.code == opConstAll:
		m.rels[s].Fill()
	case o.code == opConstID:
		rel.Identity(m.rels[s])
	}
}

// BindRel makes r the value of input i without copying: the machine reads it
// at every Run. An input that the program does not use (i < 0) is ignored.
func (m *Machine) BindRel(i int, r rel.Rel) {
	if i >= 0 {
		m.rels[m.p.inputs[i].slot] = r
		m.alias()
	}
}

// BindSet makes s the value of input i without copying.
func (m *Machine) BindSet(i int, s rel.Set) {
	if i >= 0 {
		m.sets[m.p.inputs[i].slot] = s
		m.alias()
	}
}

// SetRel copies r into the value of input i.
func (m *Machine) SetRel(i int, r rel.Rel) {
	if i >= 0 {
		copy(m.rels[m.p.inputs[i].slot], r)
	}
}

// SetSet copies s into the value of input i.
func (m *Machine) SetSet(i int, s rel.Set) {
	if i >= 0 {
		copy(m.sets[m.p.inputs[i].slot], s)
	}
}

// Holds reports the result of check i in the last Run that evaluated it.
func (m *Machine) Holds(i int) bool { return m.holds[i] }

// Run executes a plan. It stops at the first check of kind KindCheck that
// fails and returns its index; -1 means that none failed. Other tests never
// stop it; see Holds. The error is not nil if a recursive definition does not
// settle or the context ended.
func (m *Machine) Run(pl *Plan) (int, error) {
	for _, s := range pl.steps {
		if s >= 0 {
			if err := m.exec(s); err != nil {
				return -1, err
			}
			continue
		}
		i := int(^s)
		ok := m.check(&m.p.checks[i])
		m.holds[i] = ok
		if !ok && m.p.checks[i].Kind == KindCheck {
			return i, nil
		}
	}
	return -1, nil
}

// RunAll is Run without stopping: all checks of the plan are evaluated.
func (m *Machine) RunAll(pl *Plan) error {
	for _, s := range pl.steps {
		if s < 0 {
			m.holds[^s] = m.check(&m.p.checks[^s])
		} else if err := m.exec(s); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) exec(s int32) error {
	o := &m.p.ops[s]
	if o.isSet {
		m.execSet(s, o)
		return nil
	}
	r := m.rels
	switch o.code {
	case opUnion:
		rel.Union(r[s], r[o.a], r[o.b])
	case opInter:
		rel.Inter(r[s], r[o.a], r[o.b])
	case opDiff:
		rel.Diff(r[s], r[o.a], r[o.b])
	case opComplement:
		rel.Complement(r[s], r[o.a])
	case opSeq:
		rel.Seq(r[s], r[o.a], r[o.b])
	case opInverse:
		rel.Inverse(r[s], r[o.a])
	case opPlus:
		rel.Plus(r[s], r[o.a])
	case opStar:
		rel.Star(r[s], r[o.a])
	case opOpt:
		rel.Opt(r[s], r[o.a])
	case opToID:
		rel.ToID(r[s], m.sets[o.a])
	case opCross:
		rel.Cross(r[s], m.sets[o.a], m.sets[o.b])
	case opRestrict:
		rel.Restrict(r[s], m.sets[o.a], r[o.b], m.sets[o.c])
	case opRestrictDom:
		rel.RestrictDomain(r[s], m.sets[o.a], r[o.b])
	case opRestrictRan:
		rel.RestrictRange(r[s], r[o.a], m.sets[o.b])
	case opFix:
		return m.execFix(m.p.fixes[o.a])
	}
	if m.Ctx != nil {
		if m.count++; m.count&1023 == 0 || m.n > 64 {
			return m.Ctx.Err()
		}
	}
	return nil
}

func (m *Machine) execSet(s int32, o *op) {
	d := m.sets[s]
	switch o.code {
	case opUnion:
		rel.Union(d, m.sets[o.a], m.sets[o.b])
	case opInter:
		rel.Inter(d, m.sets[o.a], m.sets[o.b])
	case opDiff:
		rel.Diff(d, m.sets[o.a], m.sets[o.b])
	case opComplement:
		rel.ComplementSet(d, m.sets[o.a], m.n)
	case opDomain:
		rel.Domain(d, m.rels[o.a])
	case opRange:
		rel.Range(d, m.rels[o.a])
	}
}

// execFix runs the rounds of a recursive definition: within a round later
// definitions see the new values of earlier ones, and the rounds end when
// every new value is included in the old one.
func (m *Machine) execFix(f *fix) error {
	for _, v := range f.phis {
		rel.Clear(m.rels[v])
		rel.Clear(m.sets[v])
	}
	limit := len(f.phis)*m.n*m.n + 2
	if !f.mono {
		limit = min(limit, maxRounds)
	}
	for round := 0; ; round++ {
		for _, s := range f.ops {
			if err := m.exec(s); err != nil {
				return err
			}
		}
		over := true
		for i, v := range f.phis {
			x := f.next[i]
			over = over && rel.Subset(m.rels[x], m.rels[v]) && rel.Subset(m.sets[x], m.sets[v])
		}
		if over {
			return nil
		}
		if round >= limit {
			return &Error{Pos: f.pos, Msg: fmt.Sprintf("recursive definition of %s did not settle in %d rounds", f.names[0],
				round), Err: ErrNoFixpoint}
		}
		for i, v := range f.phis {
			copy(m.rels[v], m.rels[f.next[i]])
			copy(m.sets[v], m.sets[f.next[i]])
		}
	}
}

// check evaluates one check from the values at hand.
func (m *Machine) check(c *Check) bool {
	var ok bool
	switch c.code {
	case checkAcyclic:
		ok = rel.Acyclic(m.rels[c.slot])
	case checkIrreflexive:
		ok = rel.Irreflexive(m.rels[c.slot])
	case checkEmpty:
		if c.isSet {
			ok = rel.IsEmpty(m.sets[c.slot])
		} else {
			ok = rel.IsEmpty(m.rels[c.slot])
		}
	case checkDisjoint:
		if c.isSet {
			ok = rel.Disjoint(m.sets[c.a], m.sets[c.b])
		} else {
			ok = rel.Disjoint(m.rels[c.a], m.rels[c.b])
		}
	case checkSubset:
		if c.isSet {
			ok = rel.Subset(m.sets[c.a], m.sets[c.b])
		} else {
			ok = rel.Subset(m.rels[c.a], m.rels[c.b])
		}
	case checkIrreflSeq:
		ok = rel.IrreflexiveSeq(m.rels[c.a], m.rels[c.b])
	}
	return ok != c.Negated
}
