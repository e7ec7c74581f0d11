package optcheck

import (
	"optcheck/isa"
	"optcheck/target"
)

// amd is the architecture of AMD's targets: a thread is a lane of a wave, masks decide
// what it executes (see package isa), and the wave waits for memory by counters.
type amd struct {
	plain
	name  string
	model *amdModel
}

var _ = register(target.AMD, func(t target.Target) arch { return &amd{name: t.Name, model: amdModels[t.Family]} })

func (*amd) registers() int   { return regMax }
func (*amd) predicated() bool { return false }

func (a *amd) pointer() int64 {
	if a.model.clauses {
		return 4
	}
	return 8
}

// launch makes every launched lane active.
func (*amd) launch(m *machine, st *state) {
	all := m.tr.pool.constant(^uint32(0))
	st.v[regIndex(isa.RegExec)] = all
	st.v[regIndex(isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecExecHi})] = all
}

func (a *amd) bank(m *machine, bank int, off int64) value {
	first := int64(0)
	if a.model.clauses {
		first = isa.ArgsTeraScale
	}
	if bank == isa.ConstKernarg && off >= first {
		return m.tr.pool.param(off - first)
	}
	if a.model.clauses && bank == isa.ConstBuffer+1 && off%16 == 0 {
		// AMD's own compiler for TeraScale passes one argument per row of constant buffer 1.
		return m.tr.pool.param(off / 16 * a.pointer())
	}
	return a.plain.bank(m, bank, off)
}

// symbol recognises the constant buffers of AMD's own OpenCL 1.x compiler.
func (*amd) symbol(word uint64) (key, bool) {
	return key{base: baseBank, num: int64(word)}, word>>32 >= isa.ConstBuffer
}

// address evaluates the words of an address; see addressWords.
func (*amd) address(m *machine, in *isa.Inst) (value, key) {
	lo, hi := m.addressWords(in)
	if lo == none {
		return none, key{}
	}
	return lo, m.located(lo, hi, in.Mem.Space)
}

// guard returns EXEC, or for branches the mask that is tested. A guard whose value is known counts as none.
func (*amd) guard(m *machine, in *isa.Inst) (value, taint, bool) {
	if in.Guard.Reg.Class == isa.ClassNone {
		return none, 0, false
	}
	g := m.maskBit(m.get(in.Guard.Reg))
	if in.Flow != isa.FlowNext {
		g = m.asBool(m.get(in.Guard.Reg))
	}
	if c, ok := m.tr.pool.isConst(g); ok {
		return none, 0, (c != 0) == in.Guard.Neg && in.Flow == isa.FlowNext
	}
	return g, m.cur.t[regIndex(in.Guard.Reg)], false
}

func (*amd) branch(m *machine, in *isa.Inst, _ value) {
	if in.Guard.Reg.Class != isa.ClassNone {
		m.preds[m.block] = sense{m.asBool(m.get(in.Guard.Reg)), !in.Guard.Neg}
	}
}

// instruction evaluates accesses to private memory, which are spills, and single lanes
// of a register.
func (*amd) instruction(m *machine, i int, in *isa.Inst, guard value, t taint) bool {
	if at, ok := m.scratch(in); ok {
		m.private(i, in, at, extended(in), guard, t)
		return true
	}
	return m.lane(i, in)
}

// content returns the value that an active lane sees: a selection made under the current mask or a wider one is the
// selected value.
func (*amd) content(m *machine, v value) value {
	p := m.tr.pool
	for m.guardV != none && !m.guardNeg && p.nodes[v].kind == kSel {
		switch n := p.nodes[v]; {
		case p.implies(m.guardV, n.c):
			v = n.a
		case p.implies(m.guardV, p.flat(^uint8(lutA), n.c, none, none)):
			v = n.b
		default:
			return v
		}
	}
	return v
}

// join merges two paths, one of which skips code that no lane is active for. The other then holds a selection by EXEC
// of which that one's value is the rest: the selection is right for both. known must say that it is that path which skips.
func (*amd) join(m *machine, x, y value, st, q *state, known *join) (value, bool) {
	e := regIndex(isa.RegExec)
	for i, s := range [2][2]value{{x, y}, {y, x}} {
		n := m.tr.pool.nodes[s[0]]
		skips := known != nil && known.want == (i == 0) && m.implied([]*state{q, st}[i].v[e], known.pred)
		if skips && n.kind == kSel && n.b == s[1] && m.implied(st.v[e], n.c) && m.implied(q.v[e], n.c) {
			return s[0], true
		}
	}
	return none, false
}

func (*amd) holds(m *machine, s sense) bool {
	c, ok := m.tr.pool.isConst(s.pred)
	return ok && (c != 0) == s.want
}

func (*amd) barrier(*isa.Inst) int { return 0 }

// result recognises the loads by which TeraScale fetches the result of an atomic from a buffer of its own.
func (a *amd) result(p *pass, ev int) bool {
	if p.tr.events[ev].role != isa.RoleLoad || !a.model.clauses {
		return false
	}
	for o := range ev {
		if p.tr.events[o].role == isa.RoleAtomic {
			return true
		}
	}
	return false
}

func (*amd) stronger(*pass) {}

func (*amd) beyond(*Checked) string { return "" }
