package optcheck

import "optcheck/isa"

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

// joinOf finds the branch that decides from which of a block's two predecessors
// control comes. ok is false if there is no single one whose predicate is known.
// Only the immediate dominator can be it: a branch before that reaches it, and
// through it both predecessors, by either way.
func (m *machine) joinOf(b, p, q int) (j join, ok bool) {
	fl := m.flow
	d := fl.idom[b]
	if d < 0 {
		return join{}, false
	}
	s, known := m.preds[d]
	succs := fl.blocks[d].Succs
	if !known || s.pred == none || len(succs) != 2 {
		return join{}, false
	}
	toP, toQ := fl.ways(d, p, b), fl.ways(d, q, b)
	taken := succs[0] != succs[1] && fl.blocks[succs[0]].First != fl.blocks[d].End
	switch {
	case toP == [2]bool{true, false} && toQ == [2]bool{false, true}:
		return join{s.pred, s.want == taken}, true
	case toP == [2]bool{false, true} && toQ == [2]bool{true, false}:
		return join{s.pred, s.want != taken}, true
	}
	return join{}, false
}

// entry merges the states of a block's predecessors.
func (m *machine) entry(b int) *state {
	st := takeState(m.arch.registers())
	first := true
	var known *join
	if ps := m.flow.blocks[b].Preds; len(ps) == 2 && m.in[ps[0]] != nil && m.in[ps[1]] != nil {
		if j, ok := m.joinOf(b, ps[0], ps[1]); ok {
			known = &j
		}
	}
	for _, p := range m.flow.blocks[b].Preds {
		q := m.in[p]
		if q == nil {
			continue // back edge, or unreachable
		}
		if first {
			st.set(q)
			first = false
			continue
		}
		for r := range st.v {
			if st.v[r] != q.v[r] {
				x, y := m.written(st.v[r], r), m.written(q.v[r], r)
				v, ok := m.arch.join(m, x, y, st, q)
				switch {
				case x == y:
					v = x
				case !ok:
					v = m.tr.pool.mk(node{kind: kPhi, imm: uint64(b)<<32 | uint64(r), a: x, b: y, c: none})
					if known != nil {
						m.tr.joins[v] = *known
					}
				}
				st.v[r] = v
			}
			st.t[r] |= q.t[r]
		}
		m.mergeSlots(b, st, q, known)
	}
	if first {
		for r := range st.v {
			st.v[r] = none
		}
		clear(st.t)
		m.arch.launch(m, st)
	}
	if len(m.flow.carried[b]) > 0 {
		st.slots = nil // of what the loop may have stored nothing is known
	}
	for _, r := range m.flow.carried[b] {
		st.v[r] = m.tr.pool.mk(node{kind: kPhi, imm: uint64(b)<<32 | uint64(r), a: st.v[r], b: none, c: none})
		if m.loopT != nil && m.loopT[b] != nil {
			st.t[r] |= m.loopT[b][r]
		}
	}
	return st
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

// ways are the conditions under which a branch is taken: its guard, and further
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
