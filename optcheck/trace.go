package optcheck

import (
	"fmt"
	"maps"
	"slices"

	"optcheck/isa"
	"optcheck/spec"
)

// maxReads bounds the reading events of a function: taints are 64-bit sets.
const maxReads = 64

// taint is a set of reading events whose values flow into a register.
type taint uint64

// event is one memory-relevant instruction of a function, in flow order.
type event struct {
	inst  int      // index into Func.Insts
	role  isa.Role // access, fence, barrier or cache control
	mem   isa.Mem
	read  int // number of the reading event, or -1
	addr  key
	lo    value // low word of the address, or none
	data  []value
	addrT taint
	dataT taint
	// cond is set when the instruction may be skipped; condT are the reads
	// that decide it; when are the predicates and the sense in which each must
	// hold.
	cond  bool
	condT taint
	when  []sense
	loop  bool // may be performed more than once
	arm   bool // stands for a matched reduction on the other side of a predicate
	// result marks stores that only keep marker results alive.
	result bool
	// values read from several instructions that act as one (lock loops).
	partner int
	own     bool // an access to a harness's own memory
}

// sense is a predicate and whether it must be true.
type sense struct {
	pred value
	want bool
}

// marker is a decoded marker found in a function.
type marker struct {
	m    spec.Marker
	oper value
	t    taint
	inst int
	// recovered markers have lost their xor: the operand became a constant.
	recovered bool
}

// trace is what one pass over a function found.
type trace struct {
	fn      *isa.Func
	pool    *valuePool
	events  []event
	markers []marker
	calls   []int   // calls: what the callee does is not seen
	folded  []value // constants that are markers of constants
	unknown []int   // instructions that no table knows
	reads   []int   // reading event number → index into events
	tooMany bool
	// joins tells for values that come from one of two paths which it is.
	joins map[value]join
	// indirect is set for a branch whose targets are not known.
	indirect bool
	guards   map[int]value // predicates of instructions, in a harness kernel
}

// Register numbering of the flat state.
const (
	regGPR     = 0
	regUGPR    = 256
	regPred    = 512
	regUPred   = 528
	regCC      = 544
	regBarrier = 545
	regSpecial = 577
	regCount   = 705
	// Only AMD code has these.
	regHigh     = 705  // vector registers from 256 on
	regAcc      = 1473 // accumulation registers
	regCountAMD = 1729
)

func regIndex(r isa.Reg) int {
	n := int(r.Num)
	switch r.Class {
	case isa.ClassGPR:
		if n > 255 {
			return regHigh + (n-256)%(regAcc-regHigh)
		}
		return regGPR + n
	case isa.ClassUGPR:
		return regUGPR + n&255
	case isa.ClassPred:
		return regPred + n&15
	case isa.ClassUPred:
		return regUPred + n&15
	case isa.ClassCC:
		return regCC
	case isa.ClassBarrier:
		return regBarrier + n&31
	case isa.ClassSpecial:
		return regSpecial + n&127
	case isa.ClassAcc:
		return regAcc + n&255
	}
	return -1
}

// state is the content of all registers at one point, and of private memory
// where the code is AMD's.
type state struct {
	v     []value
	t     []taint
	slots map[slot]cell
}

func newState(regs int) *state { return &state{v: make([]value, regs), t: make([]taint, regs)} }

// set makes st a copy of another state.
func (st *state) set(o *state) {
	copy(st.v, o.v)
	copy(st.t, o.t)
	st.slots = maps.Clone(o.slots)
}

// machine walks a function in flow order and evaluates it symbolically.
type machine struct {
	tr    *trace
	abi   abi
	regs  int      // registers of the target
	in    []*state // state at the end of each block
	cur   *state
	block int
	cond  bool  // the block may be skipped
	condT taint // reads that decide whether the block runs
	when  []sense
	loop  bool          // the block is part of a loop
	preds map[int]sense // block → predicate under which its final branch is taken
	conds map[int]blockCondition
	flow  *flow
	loopT [][]taint // taint at loop heads from the pass before
	// guardV is the predicate of the instruction being evaluated, or none;
	// guardNeg tells that it runs if the predicate is false.
	guardV   value
	guardNeg bool
	// chosen has the registers that were defined under a predicate in this block.
	chosen   map[int]chosen
	literals map[int64]uint32 // content of constant bank 2, nil if not known
	laneT    map[value]taint  // AMD: taint of what a lane of a register was set to
	view     *view            // of a harness kernel, or nil
}

// walk evaluates a function. literals are the words of constant bank 2 by their
// byte offset, nil if they are not known.
func walk(fn *isa.Func, pool *valuePool, literals map[int64]uint32, v *view) (*trace, error) {
	a, err := abiOf(fn.Arch)
	if err != nil {
		return nil, err
	}
	fl := newFlow(fn)
	m := &machine{abi: a, flow: fl, guardV: none, chosen: map[int]chosen{}, literals: literals, regs: regCount, view: v}
	if a.amd != nil {
		m.regs = regCountAMD
	}
	passes := 1
	if fl.loops {
		passes = 2
	}
	for i := 0; i < passes; i++ {
		pool.reset()
		m.tr = &trace{fn: fn, pool: pool, joins: map[value]join{}}
		if v != nil {
			m.tr.guards = map[int]value{}
			v.holds = v.holds[:0]
		}
		m.run()
	}
	m.tr.joinLocked()
	if a.amd != nil {
		m.disguised()
	}
	return m.tr, nil
}

func (m *machine) run() {
	m.in = make([]*state, len(m.flow.blocks))
	m.preds, m.conds = map[int]sense{}, map[int]blockCondition{}
	for _, b := range m.flow.order {
		m.block = b
		m.cur = m.entry(b)
		clear(m.chosen)
		m.cond, m.condT, m.when = m.blockCond(b)
		m.loop = m.flow.inLoop[b]
		blk := m.flow.blocks[b]
		for i := blk.First; i < blk.End; i++ {
			m.step(i)
		}
		m.in[b] = m.cur
		for _, s := range blk.Succs {
			if m.flow.isLoopHead(s, b) {
				m.keepLoopTaint(s)
			}
		}
	}
}

func (m *machine) keepLoopTaint(head int) {
	if m.loopT == nil {
		m.loopT = make([][]taint, len(m.flow.blocks))
	}
	if m.loopT[head] == nil {
		m.loopT[head] = make([]taint, m.regs)
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
func (m *machine) joinOf(b, p, q int) (j join, ok bool) {
	fl := m.flow
	for _, d := range fl.order {
		s, known := m.preds[d]
		if !known || s.pred == none || len(fl.blocks[d].Succs) != 2 || d == b || !fl.dominates(d, b) {
			continue
		}
		var from [2][2]bool // by way out of d: control may come from p, from q
		for i, succ := range fl.blocks[d].Succs {
			if succ == b {
				from[i] = [2]bool{d == p, d == q}
				continue
			}
			from[i] = [2]bool{fl.leadsTo(succ, p, b, d), fl.leadsTo(succ, q, b, d)}
		}
		taken := fl.blocks[d].Succs[0] != fl.blocks[d].Succs[1] && fl.blocks[fl.blocks[d].Succs[0]].First != fl.blocks[d].End
		switch {
		case from[0] == [2]bool{true, false} && from[1] == [2]bool{false, true}:
			return join{s.pred, s.want == taken}, true
		case from[0] == [2]bool{false, true} && from[1] == [2]bool{true, false}:
			return join{s.pred, s.want != taken}, true
		}
	}
	return join{}, false
}

// entry merges the states of a block's predecessors.
func (m *machine) entry(b int) *state {
	st := newState(m.regs)
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
				v, ok := m.maskedJoin(st.v[r], q.v[r], st, q)
				if !ok {
					v = m.tr.pool.mk(node{kind: kPhi, imm: uint64(b)<<32 | uint64(r), a: st.v[r], b: q.v[r], c: none})
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
		m.launch(st)
	}
	for _, r := range m.flow.carried[b] {
		st.v[r] = m.tr.pool.mk(node{kind: kPhi, imm: uint64(b)<<32 | uint64(r), a: st.v[r], b: none, c: none})
		if m.loopT != nil && m.loopT[b] != nil {
			st.t[r] |= m.loopT[b][r]
		}
	}
	return st
}

// blockCond tells whether a block may be skipped, which reads decide it, and
// under which predicates it runs: those of the branch that it depends on, and
// of the branches that that one depends on. A block that depends on several
// branches is reached by any of them.
func (m *machine) blockCond(b int) (cond bool, t taint, when []sense) {
	var ways [][]sense
	for _, br := range m.flow.control[b] {
		p, ok := m.preds[br]
		if !ok {
			p = sense{pred: none}
		}
		if !m.flow.taken(m.tr.fn, br, b) {
			p.want = !p.want
		}
		var way []sense
		decided := m.decided(p)
		if !decided {
			way = append(way, p)
		}
		if o, ok := m.conds[br]; ok {
			t |= o.t
			way = append(way, o.when...)
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

// blockCondition is what decides whether a block runs.
type blockCondition struct {
	t    taint
	when []sense
}

func (m *machine) get(r isa.Reg) value {
	i := regIndex(r)
	if i < 0 {
		return m.tr.pool.constant(0)
	}
	if m.cur.v[i] == none {
		m.cur.v[i] = m.tr.pool.mk(node{kind: kSpecial, imm: 1<<40 | uint64(i), a: none, b: none, c: none})
	}
	v := m.cur.v[i]
	// Under the predicate that selected it, a value is the selected one.
	for m.guardV != none && m.tr.pool.nodes[v].kind == kSel && m.tr.pool.nodes[v].c == m.guardV {
		if m.guardNeg {
			v = m.tr.pool.nodes[v].b
		} else {
			v = m.tr.pool.nodes[v].a
		}
	}
	if m.abi.amd != nil {
		return m.underMask(v)
	}
	return v
}

func (m *machine) taintOf(regs []isa.Reg) (t taint) {
	for _, r := range regs {
		if i := regIndex(r); i >= 0 {
			t |= m.regTaint(i)
		}
	}
	return t
}

// chosen is the taint of a register as an instruction sees it that runs under
// the same predicate as the definition: without that of the old content.
type chosen struct {
	guard value
	neg   bool
	t     taint
}

// regTaint is the taint of a register for the present instruction.
func (m *machine) regTaint(i int) taint {
	if c, ok := m.chosen[i]; ok && m.guardV != none && c.guard == m.guardV && c.neg == m.guardNeg {
		return c.t
	}
	return m.cur.t[i]
}

// operand evaluates one 32-bit source.
func (m *machine) operand(o isa.Operand) (value, taint) {
	p := m.tr.pool
	var v value
	var t taint
	switch o.Kind {
	case isa.OpdReg, isa.OpdPred:
		if o.Zero {
			v = p.constant(0)
			if o.Kind == isa.OpdPred {
				v = p.constant(^uint32(0)) // PT
			}
			break
		}
		v = m.get(o.Reg)
		if i := regIndex(o.Reg); i >= 0 {
			t = m.regTaint(i)
		}
	case isa.OpdImm, isa.OpdFloat:
		v = p.constant(uint32(o.Imm))
	case isa.OpdConst:
		off := o.Off
		if o.Reg.Class != isa.ClassNone && !o.Zero {
			t = m.regTaint(regIndex(o.Reg))
			c, ok := p.isConst(m.get(o.Reg))
			if !ok {
				return p.mk(node{kind: kFun, imm: uint64(o.Bank)<<32 | 1<<48, a: m.get(o.Reg), b: p.constant(uint32(off)), c: none}), t
			}
			off += int64(int32(c))
		}
		v = m.bank(o.Bank, off)
	case isa.OpdSym:
		part := value(0)
		if o.Part == "hi" {
			part = 1
		}
		v = p.mk(node{kind: kSym, imm: p.str(o.Sym), a: part, b: none, c: none})
	case isa.OpdSpecial:
		v = p.mk(node{kind: kSpecial, imm: p.str(o.Sym), a: none, b: none, c: none})
	default:
		v = p.mk(node{kind: kSpecial, imm: p.str("?" + o.Text), a: none, b: none, c: none})
	}
	if o.Not {
		v = p.bits(^uint8(lutA), v, none, none)
	}
	if o.Neg {
		if c, ok := p.isConst(v); ok {
			v = p.constant(-c)
		} else {
			v = p.mk(node{kind: kFun, imm: funNeg, a: v, b: none, c: none})
		}
	}
	return v, t
}

func (m *machine) bank(bank int, off int64) value {
	if bank == 0 && off >= m.abi.params {
		return m.tr.pool.mk(node{kind: kParam, imm: uint64(off - m.abi.params), a: none, b: none, c: none})
	}
	if m.abi.amd != nil && m.abi.amd.model.clauses && bank == isa.ConstBuffer+1 && off%16 == 0 {
		// AMD's own compiler for TeraScale: one argument per row of constant buffer 1.
		return m.tr.pool.mk(node{kind: kParam, imm: uint64(off / 16 * m.abi.pointer()), a: none, b: none, c: none})
	}
	if w, ok := m.literals[off]; ok && bank == 2 {
		return m.tr.pool.constant(w)
	}
	return m.tr.pool.mk(node{kind: kBank, imm: uint64(bank)<<32 | uint64(uint32(off)), a: none, b: none, c: none})
}

// Functions that are no plain micro-operation.
const (
	funNeg  = 1 << 49
	funPrmt = 1 << 50
	funPair = 1 << 51 // a list of values
)

// step evaluates one instruction.
func (m *machine) step(i int) {
	in := &m.tr.fn.Insts[i]
	if in.Guard.Never {
		return
	}
	if in.Role == isa.RoleUnknown {
		m.tr.unknown = append(m.tr.unknown, i)
	}
	if m.abi.amd != nil {
		m.stepAMD(i, in)
		return
	}
	guardV, guardT := none, taint(0)
	m.guardV = none
	if in.Guard.Reg.Class != isa.ClassNone {
		guardV = m.get(in.Guard.Reg)
		guardT = m.cur.t[regIndex(in.Guard.Reg)]
		m.guardV, m.guardNeg = guardV, in.Guard.Neg
	}
	if m.view != nil {
		m.decides(i, in, guardV)
	}
	ev := -1
	switch in.Role {
	case isa.RoleLoad, isa.RoleStore, isa.RoleAtomic, isa.RoleReduction, isa.RoleCopy, isa.RoleFence, isa.RoleBarrier, isa.RoleCache:
		ev = m.event(i, in)
	}
	if in.Flow == isa.FlowIndirect && len(in.Targets) == 0 {
		m.tr.indirect = true
	}
	if in.Flow == isa.FlowCall {
		m.tr.calls = append(m.tr.calls, i)
	}
	if in.Flow != isa.FlowNext {
		m.branch(in, guardV)
	}
	m.define(i, in, ev, guardV, guardT)
	m.guardV = none
}

// branch notes under which predicate a branch is taken: its guard, and further
// predicates among its operands (BRA P1, target). What the state of the warp
// decides besides (BRA.DIV) is known as such only.
func (m *machine) branch(in *isa.Inst, guardV value) {
	p := m.tr.pool
	var way []sense
	if guardV != none {
		way = append(way, sense{guardV, !in.Guard.Neg})
	}
	warp := false
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind == isa.OpdPred && (!o.Zero || o.Not) {
			v, _ := m.operand(*o)
			way = append(way, sense{v, true})
		}
		warp = warp || o.Kind == isa.OpdReg && o.Reg.Class != isa.ClassBarrier
	}
	for _, mod := range in.Mods {
		warp = warp || mod == "CONV" || mod == "DIV" || mod == "ANY" || mod == "ALL"
	}
	if warp && in.Flow == isa.FlowJump {
		way = append(way, sense{p.mk(node{kind: kSpecial, imm: p.str("warp " + in.Text), a: none, b: none, c: none}), true})
	}
	switch len(way) {
	case 0:
	case 1:
		m.preds[m.block] = way[0]
	default:
		m.preds[m.block] = sense{p.anyOf([][]sense{way}), true}
	}
}

type assign struct {
	reg int
	v   value
	t   taint
}

// define computes and stores all definitions of an instruction.
func (m *machine) define(i int, in *isa.Inst, ev int, guardV value, guardT taint) {
	var buf [8]assign
	out := buf[:0]
	covered := func(r int) bool {
		for _, a := range out {
			if a.reg == r {
				return true
			}
		}
		return false
	}
	for k := range in.Micro {
		mi := &in.Micro[k]
		r := regIndex(mi.Dst)
		if r < 0 {
			continue
		}
		v, t := m.micro(i, k, mi)
		out = append(out, assign{r, v, t})
		m.findMarker(i, v, t)
	}
	var useT taint
	useKnown := false
	word := value(0)
	for k, d := range in.Defs {
		r := regIndex(d)
		if r < 0 || covered(r) {
			continue
		}
		if ev >= 0 && m.tr.events[ev].read >= 0 {
			rd := m.tr.events[ev].read
			a := assign{reg: r, t: 1 << uint(rd)}
			if isWordReg(d) {
				a.v = m.tr.pool.mk(node{kind: kLoad, a: value(rd), b: word, c: none})
				word++
			} else {
				a.v = m.opaque(i, k)
			}
			out = append(out, a)
			continue
		}
		if !useKnown {
			useT, useKnown = m.taintOf(in.Uses), true
		}
		out = append(out, assign{r, m.opaque(i, k), useT})
	}
	m.commit(out, guardV, in.Guard.Neg, guardT)
}

// commit stores the definitions of an instruction, under its guard if it has one.
func (m *machine) commit(out []assign, guardV value, neg bool, guardT taint) {
	for _, a := range out {
		if guardV != none {
			if m.abi.amd == nil {
				m.chosen[a.reg] = chosen{guardV, neg, a.t | guardT}
			}
			a.v = m.selected(a, guardV, neg)
			a.t |= m.cur.t[a.reg] | guardT
		} else {
			delete(m.chosen, a.reg)
		}
		m.cur.v[a.reg], m.cur.t[a.reg] = a.v, a.t
	}
}

// selected is the value of a register after a definition under a predicate.
func (m *machine) selected(a assign, guard value, neg bool) value {
	p := m.tr.pool
	old := m.cur.v[a.reg]
	if old == none {
		m.guardV = none // the register's own content, not what a guard selects
		old = m.get(regOf(a.reg))
		m.guardV = guard
	}
	if n := p.nodes[old]; n.kind == kSel && n.c == guard {
		// Where the definition does not happen, the predicate has its other value.
		old = n.b
		if neg {
			old = n.a
		}
	}
	if old == a.v {
		return old
	}
	if neg {
		return p.mk(node{kind: kSel, a: old, b: a.v, c: guard})
	}
	return p.mk(node{kind: kSel, a: a.v, b: old, c: guard})
}

// regOf inverts regIndex for general registers and predicates.
func regOf(i int) isa.Reg {
	switch {
	case i < regUGPR:
		return isa.Reg{Class: isa.ClassGPR, Num: uint16(i)}
	case i < regPred:
		return isa.Reg{Class: isa.ClassUGPR, Num: uint16(i - regUGPR)}
	case i < regUPred:
		return isa.Reg{Class: isa.ClassPred, Num: uint16(i - regPred)}
	case i < regCC:
		return isa.Reg{Class: isa.ClassUPred, Num: uint16(i - regUPred)}
	case i == regCC:
		return isa.Reg{Class: isa.ClassCC}
	case i < regSpecial:
		return isa.Reg{Class: isa.ClassBarrier, Num: uint16(i - regBarrier)}
	case i >= regAcc:
		return isa.Reg{Class: isa.ClassAcc, Num: uint16(i - regAcc)}
	case i >= regHigh:
		return isa.Reg{Class: isa.ClassGPR, Num: uint16(i - regHigh + 256)}
	}
	return isa.Reg{Class: isa.ClassSpecial, Num: uint16(i - regSpecial)}
}

// opaque is a definition of which nothing is known but its sources, which form a
// list in c.
func (m *machine) opaque(inst, def int) value {
	p := m.tr.pool
	src := none
	in := &m.tr.fn.Insts[inst]
	if in.Role == isa.RoleALU {
		for i := range in.Args {
			if o := &in.Args[i]; o.Kind == isa.OpdReg && !o.Zero && slices.Contains(in.Uses, o.Reg) || o.Kind == isa.OpdConst {
				w := *o
				w.Words = 1
				v, _ := m.operand(w)
				src = p.mk(node{kind: kFun, imm: funPair, a: v, b: src, c: none})
			}
		}
	}
	return p.mk(node{kind: kOpaque, a: value(inst), b: value(def), c: src})
}

// micro evaluates one micro-operation.
func (m *machine) micro(inst, k int, mi *isa.Micro) (value, taint) {
	var src [4]value
	var t taint
	for i := range src {
		src[i] = none
	}
	if m.abi.amd != nil && mi.Op == isa.MicroSetpWide {
		return m.wide(inst, k, mi)
	}
	if len(mi.Src) > len(src) {
		for _, s := range mi.Src {
			_, st := m.operand(s)
			t |= st
		}
		return m.opaque(inst, 100+k), t
	}
	for i, s := range mi.Src {
		v, st := m.operand(s)
		src[i] = v
		t |= st
	}
	p := m.tr.pool
	if m.abi.amd != nil {
		if v, ok := m.microAMD(mi, src); ok {
			return v, t
		}
	}
	switch mi.Op {
	case isa.MicroMov:
		return src[0], t
	case isa.MicroAdd:
		v := src[0]
		for _, s := range src[1:len(mi.Src)] {
			v = p.add(v, s)
		}
		return v, t
	case isa.MicroLop3:
		v := p.bits(mi.LUT, src[0], src[1], src[2])
		m.foldedMarker(inst, mi, src, v)
		return v, t
	case isa.MicroShl:
		return m.shl(src[0], src[1]), t
	case isa.MicroSel:
		if c, ok := p.isConst(src[2]); ok {
			if c != 0 {
				return src[0], t
			}
			return src[1], t
		}
		return p.mk(node{kind: kSel, a: src[0], b: src[1], c: src[2]}), t
	case isa.MicroMul, isa.MicroMad:
		if v, ok := m.mul(src[0], src[1]); ok {
			if mi.Op == isa.MicroMad {
				v = p.add(v, src[2])
			}
			return v, t
		}
	case isa.MicroLea:
		return p.add(m.shl(src[0], src[1]), src[2]), t
	case isa.MicroPlop: // predicates are words of equal bits
		return p.bits(mi.LUT, src[0], src[1], src[2]), t
	case isa.MicroTest:
		return p.mk(node{kind: kCmp, imm: uint64(cmpCodes["NE"]), a: p.bits(mi.LUT, src[0], src[1], src[2]), b: p.constant(0), c: none}), t
	case isa.MicroSelCmp:
		imm := uint64(cmpCodes[mi.Cmp])
		if mi.Signed {
			imm |= cmpSigned
		}
		return p.mk(node{kind: kSel, a: src[0], b: src[1], c: p.mk(node{kind: kCmp, imm: imm, a: src[2], b: p.constant(0), c: none})}), t
	case isa.MicroSetp:
		if v, ok := m.compare(mi, src); ok {
			return v, t
		}
	case isa.MicroPrmt:
		return m.prmt(src[0], src[1], src[2]), t
	case isa.MicroSpecial:
		return p.mk(node{kind: kSpecial, imm: p.str(mi.Sym), a: none, b: none, c: none}), t
	case isa.MicroOpaque:
		return m.opaque(inst, 100+k), t
	}
	if src[3] != none {
		src[2] = p.mk(node{kind: kFun, imm: funPair, a: src[2], b: src[3], c: none})
	}
	return p.mk(node{kind: kFun, imm: m.funCode(mi), a: src[0], b: src[1], c: src[2]}), t
}

// compare makes a comparison of a predicate set without a further condition.
func (m *machine) compare(mi *isa.Micro, src [4]value) (value, bool) {
	c, known := cmpCodes[mi.Cmp]
	with, isC := m.tr.pool.isConst(src[2])
	neutral := mi.Bool == "" || isC && (mi.Bool == "AND" && with != 0 || (mi.Bool == "OR" || mi.Bool == "XOR") && with == 0)
	if !known || !neutral || src[3] != none {
		return none, false
	}
	imm := uint64(c)
	if v, known := m.view.compare(m.tr.pool, c, src[0], src[1]); known {
		return v, true
	}
	if mi.Signed {
		imm |= cmpSigned
	}
	return m.tr.pool.mk(node{kind: kCmp, imm: imm, a: src[0], b: src[1], c: none}), true
}

// funCode numbers a micro-operation with its variant.
func (m *machine) funCode(mi *isa.Micro) uint64 {
	if mi.Cmp == "" && mi.Bool == "" && mi.Sym == "" && !mi.Signed {
		return uint64(mi.Op)<<8 | uint64(mi.LUT)
	}
	return 1<<32 | m.tr.pool.str(fmt.Sprint("fn", mi.Op, mi.LUT, mi.Cmp, mi.Bool, mi.Sym, mi.Signed))
}

func (m *machine) shl(a, n value) value {
	p := m.tr.pool
	if k, ok := p.isConst(n); ok {
		if k == 0 {
			return a
		}
		if c, ok := p.isConst(a); ok {
			return p.constant(c << (k & 31))
		}
	}
	return p.mk(node{kind: kFun, imm: uint64(isa.MicroShl) << 8, a: a, b: n, c: none})
}

// prmt permutes bytes; the selector is constant.
func (m *machine) prmt(a, sel, b value) value {
	p := m.tr.pool
	ca, okA := p.isConst(a)
	cb, okB := p.isConst(b)
	cs, okS := p.isConst(sel)
	if okA && okB && okS {
		return p.constant(permute(ca, cs, cb))
	}
	return p.mk(node{kind: kFun, imm: funPrmt, a: a, b: sel, c: b})
}

// permute is the byte permutation of isa.MicroPrmt.
func permute(a, sel, b uint32) (r uint32) {
	ab := uint64(b)<<32 | uint64(a)
	for i := uint(0); i < 4; i++ {
		r |= uint32(ab>>(8*(sel>>(4*i)&7))&0xff) << (8 * i)
	}
	return r
}

func (m *machine) mul(a, b value) (value, bool) {
	p := m.tr.pool
	ca, okA := p.isConst(a)
	cb, okB := p.isConst(b)
	switch {
	case okA && okB:
		return p.constant(ca * cb), true
	case okA && ca == 0, okB && cb == 0:
		return p.constant(0), true
	case okA && ca == 1:
		return b, true
	case okB && cb == 1:
		return a, true
	}
	if okA {
		a, b = b, a
	}
	return p.mk(node{kind: kFun, imm: uint64(isa.MicroMul) << 8, a: a, b: b, c: none}), true
}

// foldedMarker records a marker whose operand is a constant too: the xor itself
// folds, so that only the instruction shows the literal.
func (m *machine) foldedMarker(inst int, mi *isa.Micro, src [4]value, v value) {
	pair, ok := map[uint8][2]int{lutA ^ lutB: {0, 1}, lutA ^ lutC: {0, 2}, lutB ^ lutC: {1, 2}}[mi.LUT]
	if _, folded := m.tr.pool.isConst(v); !ok || !folded {
		return
	}
	for i := range pair {
		o := &mi.Src[pair[i]]
		if o.Kind != isa.OpdImm || !isMarker(uint32(o.Imm)) {
			continue
		}
		if mk, ok := spec.DecodeLiteral(uint32(o.Imm)); ok {
			m.tr.markers = append(m.tr.markers, marker{m: mk, oper: src[pair[1-i]], inst: inst})
			m.tr.folded = append(m.tr.folded, v)
		}
	}
}

// findMarker records v if it is the xor of a value with a marker literal.
func (m *machine) findMarker(inst int, v value, t taint) {
	x, k, ok := m.tr.pool.xorConst(v)
	if !ok {
		return
	}
	mk, ok := spec.DecodeLiteral(k)
	if !ok {
		return
	}
	for _, o := range m.tr.markers {
		if o.m.Literal == k && o.oper == x {
			return
		}
	}
	m.tr.markers = append(m.tr.markers, marker{m: mk, oper: x, t: t, inst: inst})
}
