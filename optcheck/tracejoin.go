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

// maxParting is from how many predecessors on nobody looks which branches part them.
const maxParting = 16

// part divides predecessors of a block so that it is known from which of the two parts
// control comes.
func (m *machine) part(b int, preds []int) (p, q []int, j join, ok bool) {
	if p, q, j, ok = m.byBranch(b, preds); ok || len(preds) == 2 {
		return p, q, j, ok
	}
	return m.byBlock(b, preds)
}

// byBlock parts a predecessor from the others that leads to b and nowhere else, if the
// condition is known under which it runs.
func (m *machine) byBlock(b int, preds []int) (p, q []int, j join, ok bool) {
	for i, x := range preds {
		c, conditional := m.conds[x]
		if !conditional || len(c.when) == 0 || len(m.flow.blocks[x].Succs) != 1 || m.flow.inLoop[x] {
			continue
		}
		if runs := m.tr.pool.anyOf([][]sense{c.when}); runs != none {
			return []int{x}, slices.Delete(slices.Clone(preds), i, i+1), join{runs, true}, true
		}
	}
	return nil, nil, join{}, false
}

// byBranch divides predecessors of a block by the branch that decides from which of the two
// parts control comes. ok is false if there is no single branch whose predicate is known.
// Only the last block that every path to one of them passes can be it: a branch before
// that leads to all of them.
func (m *machine) byBranch(b int, preds []int) (p, q []int, j join, ok bool) {
	fl := m.flow
	d := preds[0]
	for _, x := range preds[1:] {
		d = fl.dominator(d, x)
	}
	if d < 0 || len(fl.blocks[d].Succs) != 2 {
		return nil, nil, join{}, false
	}
	s, known := m.preds[d]
	if !known || s.pred == none {
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
		st.slots = nil // of what the loop may have stored nothing is known
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

// merged returns the state with which control comes from one of some predecessors: two parts
// of them, if known says that it may be known which, and else one after the other.
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

// merge makes st what holds at the head of b if control comes with st or with q, of
// which p is the first predecessor; known tells which, if it is known.
func (m *machine) merge(b, p int, st, q *state, known *join) {
	for r := range st.v {
		if st.v[r] != q.v[r] {
			x, y := m.written(st.v[r], r), m.written(q.v[r], r)
			v, ok := m.arch.join(m, x, y, st, q)
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

// phiOf names register r at the head of block b where those that control may come from
// are merged with p.
func phiOf(b, p, r int) uint64 { return uint64(b)<<40 | uint64(p)<<16 | uint64(r) }

// phi returns a value that is a or b; known tells which, if it is known.
func (m *machine) phi(at uint64, a, b value, known *join) value {
	v := m.tr.pool.mk(node{kind: kPhi, imm: at, a: a, b: b, c: none})
	if known != nil {
		m.tr.joins[v] = *known
	}
	return v
}

// written returns the value of a register, which is its content at the entry if the
// function did not write it.
func (m *machine) written(v value, r int) value {
	if v == none {
		return m.tr.pool.unwritten(r)
	}
	return v
}

// blockCond reports whether a block may be skipped, which reads decide it, and
// under which predicates it runs: those of the branch that it depends on, and
// of the branches that that one depends on. A block that depends on several
// branches is reached by any of them.
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
		if o, ok := m.conds[br]; ok {
			t |= o.t
			way = append(way, o.when...)
			m.flow.steps -= len(o.when)
		}
		if decided && len(way) == 0 {
			m.conds[b] = blockCondition{}
			return false, 0, nil
		}
		ways = append(ways, way)
		if s := m.in[br]; s != nil && !decided {
			in := &m.tr.fn.Insts[m.flow.blocks[br].End-1]
			if i := regIndex(in.Guard.Reg); i >= 0 {
				t |= s.t[i]
			}
			for _, u := range in.Uses {
				if i := regIndex(u); i >= 0 {
					t |= s.t[i]
				}
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

// taken notes the conditions under which the branch at the end of the block is taken.
func (m *machine) taken(way []sense) {
	switch len(way) {
	case 0:
	case 1:
		m.preds[m.block] = way[0]
	default:
		m.preds[m.block] = sense{m.tr.pool.anyOf([][]sense{way}), true}
	}
}
