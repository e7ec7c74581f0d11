package optcheck

import (
	"slices"

	"optcheck/isa"
)

func (m *machine) keepLoopTaint(head int) {
	if m.loopT == nil {
		m.loopT = make([][]taint, len(m.flow.blocks))
	}
	if m.loopT[head] == nil {
		m.loopT[head] = make([]taint, m.arch.registers())
	}
	for r := range m.cur.t {
		m.loopT[head][r] |= m.cur.t[r]
	}
}

// join says which path a merged value comes from: node.a if the predicate has
// the wanted value, else node.b.
type join struct {
	pred value
	want bool
}

// maxParting is the number of predecessors from which on nobody looks for the branch that separates them.
const maxParting = 16

// part divides the predecessors of a block into two parts, so that it is known which of them control comes from.
func (m *machine) part(b int, preds []int) (p, q []int, j join, ok bool) {
	if p, q, j, ok = m.byBranch(b, preds); ok {
		return p, q, j, ok
	}
	return m.byBlock(b, preds)
}

// byBlock separates from the others a predecessor that leads only to b, if the condition under which it runs is
// known.
func (m *machine) byBlock(b int, preds []int) (p, q []int, j join, ok bool) {
	for i, x := range preds {
		c := m.conds[x]
		if len(c.when) == 0 || len(m.flow.blocks[x].Succs) != 1 || m.flow.inLoop[x] {
			continue
		}
		if runs := m.tr.pool.anyOf([][]sense{c.when}); runs != none {
			return []int{x}, slices.Delete(slices.Clone(preds), i, i+1), join{runs, true}, true
		}
	}
	return nil, nil, join{}, false
}

// byBranch divides the predecessors of a block by the branch that decides which part control comes from. ok is false
// if there is no single branch with a known predicate. Only the last block on every path to any of them can be that
// branch: an earlier one leads to all of them.
func (m *machine) byBranch(b int, preds []int) (p, q []int, j join, ok bool) {
	fl := m.flow
	d := preds[0]
	for _, x := range preds[1:] {
		d = fl.dominator(d, x)
	}
	if len(fl.blocks[d].Succs) != 2 {
		return nil, nil, join{}, false
	}
	s, known := m.preds[d]
	if !known {
		return nil, nil, join{}, false
	}
	first := -1 // the way to the first predecessor
	for _, x := range preds {
		w := fl.ways(d, x, b)
		if w[0] == w[1] {
			return nil, nil, join{}, false
		}
		way := 0
		if w[1] {
			way = 1
		}
		if first < 0 {
			first = way
		}
		if way == first {
			p = append(p, x)
		} else {
			q = append(q, x)
		}
	}
	succs := fl.blocks[d].Succs
	taken := succs[0] != succs[1] && fl.blocks[succs[0]].First != fl.blocks[d].End
	return p, q, join{s.pred, s.want == (taken == (first == 0))}, len(q) > 0
}

// entry merges the states of a block's predecessors.
func (m *machine) entry(b int) *state {
	preds, back := make([]int, 0, 2), false
	for _, p := range m.flow.blocks[b].Preds {
		switch {
		case m.in[p] != nil:
			preds = append(preds, p)
		case m.flow.pos[p] >= 0:
			back = true
		}
	}
	var st *state
	if len(preds) > 0 {
		st = m.merged(b, preds, !back && len(preds) <= maxParting)
	} else {
		st = takeState(m.arch.registers())
		for r := range st.v {
			st.v[r] = none
		}
		clear(st.t)
		m.arch.launch(m, st)
	}
	exact := m.view != nil && m.view.loops.at(m.flow.blocks[b].First) && m.view.loops.exact
	if len(m.flow.carried[b]) > 0 && !exact {
		st.slots = nil // what the loop may have stored is unknown
	}
	for _, r := range m.flow.carried[b] {
		if !exact { // see enter
			st.v[r] = m.tr.pool.mk(node{kind: kPhi, imm: phiOf(b, b, r), a: st.v[r], b: none, c: none})
		}
		if m.loopT != nil && m.loopT[b] != nil {
			st.t[r] |= m.loopT[b][r]
		}
	}
	return st
}

// merged returns the state in which control arrives from one of several predecessors. If known is set it tries to
// divide them into two parts of which it may be known which; else it merges one after the other.
func (m *machine) merged(b int, preds []int, known bool) *state {
	st := takeState(m.arch.registers())
	if len(preds) == 1 {
		st.set(m.in[preds[0]])
		return st
	}
	if known {
		if p, q, j, ok := m.part(b, preds); ok {
			states.Put(st)
			x, y := m.merged(b, p, true), m.merged(b, q, true)
			m.merge(b, q[0], x, y, &j)
			states.Put(y)
			return x
		}
	}
	st.set(m.in[preds[0]])
	for _, p := range preds[1:] {
		m.merge(b, p, st, m.in[p], nil)
	}
	return st
}

// merge makes st the state at the head of b if control arrives with st or with q, whose first predecessor is p; known
// says which, if that is known.
func (m *machine) merge(b, p int, st, q *state, known *join) {
	for r := range st.v {
		if st.v[r] != q.v[r] {
			x, y := m.written(st.v[r], r), m.written(q.v[r], r)
			v, ok := m.arch.join(m, x, y, st, q, known)
			switch {
			case x == y:
				v = x
			case !ok:
				v = m.phi(phiOf(b, p, r), x, y, known)
			}
			st.v[r] = v
		}
		st.t[r] |= q.t[r]
	}
	m.mergeSlots(b, p, st, q, known)
}

// phiOf returns the identity of the value of register r at the head of block b, where the states of predecessors are
// merged with p's.
func phiOf(b, p, r int) uint64 { return uint64(b)<<40 | uint64(p)<<16 | uint64(r) }

// phi returns a value that is a or b; known says which, if that is known.
func (m *machine) phi(at uint64, a, b value, known *join) value {
	v := m.tr.pool.mk(node{kind: kPhi, imm: at, a: a, b: b, c: none})
	if known != nil {
		m.tr.joins[v] = *known
	}
	return v
}

// written returns the value of a register: its content at the entry if the function did not write it.
func (m *machine) written(v value, r int) value {
	if v == none {
		return m.tr.pool.unwritten(r)
	}
	return v
}

// blockCond reports whether a block may be skipped, which reads decide it, and under which predicates it runs: those
// of the branch it depends on, and of the branches that this one depends on. A block that depends on several branches
// can be reached by any of them.
func (m *machine) blockCond(b int) (cond bool, t taint, when []sense) {
	var ways [][]sense
	for _, d := range m.flow.control[b] {
		br := int(d.at)
		p, ok := m.preds[br]
		if !ok {
			p = sense{pred: none}
		}
		if !d.taken {
			p.want = !p.want
		}
		var way []sense
		decided := m.arch.holds(m, p)
		if !decided {
			way = append(way, p)
		}
		o := m.conds[br]
		t |= o.t
		way = append(way, o.when...)
		m.flow.steps -= len(o.when)
		if len(way) == 0 {
			m.conds[b] = blockCondition{}
			return false, 0, nil
		}
		ways = append(ways, way)
		if s := m.in[br]; s != nil && !decided {
			for _, u := range m.tr.fn.Insts[m.flow.blocks[br].End-1].Uses { // the guard's among them
				t |= s.t[regIndex(u)]
			}
		}
	}
	switch len(ways) {
	case 0:
	case 1:
		when = ways[0]
	default:
		when = []sense{{m.tr.pool.anyOf(ways), true}}
	}
	m.conds[b] = blockCondition{t, when}
	return len(ways) > 0, t, when
}

// blockCondition is the condition under which a block runs.
type blockCondition struct {
	t    taint
	when []sense
}

// ways returns the conditions under which a branch is taken: its guard, and further
// predicates among its operands (BRA P1, target).
func (m *machine) ways(in *isa.Inst, guard value) (way []sense) {
	if guard != none {
		way = append(way, sense{guard, !in.Guard.Neg})
	}
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == isa.OpdPred && (!o.Zero || o.Not) {
			v, _ := m.operand(*o)
			way = append(way, sense{v, true})
		}
	}
	return way
}

// taken records the conditions under which the branch at the end of the block is taken.
func (m *machine) taken(way []sense) {
	switch len(way) {
	case 0:
	case 1:
		m.preds[m.block] = way[0]
	default:
		m.preds[m.block] = sense{m.tr.pool.anyOf([][]sense{way}), true}
	}
}
