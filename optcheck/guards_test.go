package optcheck

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestSettledBranches: where code does not end, jumps alone are settled.
func TestSettledBranches(t *testing.T) {
	for _, flow1 := range []isa.Flow{isa.FlowNext, isa.FlowJump} {
		for _, branches := range []bool{false, true} {
			tr := &trace{pool: newValuePool(), fn: &isa.Func{Insts: []isa.Inst{{Flow: flow1}}}}
			tr.guards = map[int]value{0: tr.pool.truth(true)}
			settled := tr.settle(&flow{order: []int{0}, blocks: []isa.Block{{First: 0, End: 1}}}, branches)
			require.Equal(t, !branches || flow1 == isa.FlowJump, settled)
		}
	}
}

// TestWordsOfLoads: a load may go on behind the last location, and not begin in front of the first.
func TestWordsOfLoads(t *testing.T) {
	a, err := archOf("gfx900")
	require.NoError(t, err)
	for off, want := range map[int64]struct {
		ops  int
		fail bool
	}{0: {1, false}, -4: {0, true}} {
		tr := &trace{arch: a, pool: newValuePool(), fn: &isa.Func{Insts: make([]isa.Inst, 1)}, events: []event{{role: isa.RoleLoad,
			addr: key{base: baseParam, off: off}, mem: isa.Mem{Width: 12, Space: isa.SpaceGlobal}}}}
		l := &lifter{out: &Lifted{reads: make([]liftRead, 1)}, p: &pass{tr: tr, owner: make([][]int, 1), s: &spec.Spec{Layout: spec.Offsets, Locations: 1}}}
		done, err := l.words(0, liftOp{entry: -1})
		require.True(t, done)
		require.Equal(t, want.fail, err != nil, "%d: %v", off, err)
		require.Len(t, l.out.ops, want.ops)
	}
}

// TestWriteBackBeforeWrites: a write-back completes before the next write, not before the loads in between.
func TestWriteBackBeforeWrites(t *testing.T) {
	a, err := archOf("gfx942")
	require.NoError(t, err)
	for late, lacks := range []int{0, 0, 0, 1} { // the last instruction until which the write-back is outstanding
		c := &amdCheck{w: &waits{}, m: a.(*amd).model}
		tr := &trace{fn: &isa.Func{Insts: []isa.Inst{{}, {Op: "buffer_wbl2"}, {}, {}}}}
		for i, role := range []isa.Role{isa.RoleStore, isa.RoleCache, isa.RoleLoad, isa.RoleStore} {
			tr.events = append(tr.events, event{inst: i, role: role, read: -1})
			var before []pending
			if i > 1 && i <= late {
				before = []pending{{inst: 1, open: []openCounter{{counter: isa.CountVM}}}}
			}
			c.w.before = append(c.w.before, before)
		}
		c.w.tr, c.w.model = tr, c.m
		ld, st := spec.Entry{Kind: spec.Kind{Op: litmus.OpLd}}, spec.Entry{Kind: spec.Kind{Op: litmus.OpSt}}
		c.pass = &pass{tr: tr, owner: make([][]int, 4), match: []int{0, -1, 2, 3}, s: &spec.Spec{Entries: []spec.Entry{st, {Kind: spec.Kind{Op: litmus.OpFence}}, ld, st}}}
		require.Len(t, c.writeBack(1, wb(isa.ScopeNone, "buffer_wbl2"), 0, 4), lacks, late)
	}
}

// TestCombinedBehindGuard: the operand of an atomic that lanes combine, and that may be skipped, selects between the combined value and
// the token.
func TestCombinedBehindGuard(t *testing.T) {
	tr := &trace{pool: newValuePool()}
	p, v := tr.pool, &pass{tr: tr}
	word, other, cond, token := p.param(0), p.param(8), p.mk(node{kind: kLoad, a: 0, b: 0, c: none}), p.param(16)
	tr.markers = []marker{{m: spec.Marker{Header: &spec.Header{}}, oper: token}}
	product := p.mk(node{kind: kFun, imm: uint64(isa.MicroMul) << 8, a: word, b: none, c: none})
	selected := p.mk(node{kind: kSel, a: word, b: token, c: cond})
	for _, c := range []struct {
		want    value
		guarded bool
		is      bool
	}{{word, false, true}, {word, true, true}, {selected, true, true}, {selected, false, false}, {other, true, false}, {token, true, false}} {
		require.Equal(t, c.is, v.combinedOf(product, c.want, c.guarded), "%+v", c)
	}
}

// TestLaneTaint: a vector register of which one lane is set to what was read, depends on the read.
func TestLaneTaint(t *testing.T) {
	a, err := archOf("gfx900")
	require.NoError(t, err)
	m := &machine{arch: a, tr: &trace{arch: a, pool: newValuePool()}, guardV: none, cur: takeState(a.registers())}
	for r := range m.cur.v {
		m.cur.v[r] = m.tr.pool.constant(0)
	}
	set, from := isa.Reg{Class: isa.ClassGPR, Num: 16}, isa.Reg{Class: isa.ClassUGPR, Num: 4}
	for r, had := range map[isa.Reg]taint{set: 1, from: 2} {
		m.cur.v[regIndex(r)], m.cur.t[regIndex(r)] = m.tr.pool.param(int64(had)), had
	}
	require.True(t, m.lane(0, &isa.Inst{Op: "v_writelane_b32", Defs: []isa.Reg{set},
		Args: []isa.Operand{{Kind: isa.OpdReg, Reg: set}, {Kind: isa.OpdReg, Reg: from}, {Kind: isa.OpdImm, Imm: 2}}}))
	require.Equal(t, taint(3), m.cur.t[regIndex(set)])
}

// TestLiftedMinimum: minima and maxima of the test take the sign that the machine code compares with.
func TestLiftedMinimum(t *testing.T) {
	for atom, signed := range map[litmus.AtomOp]bool{litmus.AtomMin: true, litmus.AtomMax: true, litmus.AtomAdd: false} {
		src := &litmus.Thread{Body: []litmus.Instr{{Op: litmus.OpRed, Atom: atom, Type: litmus.U32}}}
		l := &threadLifter{src: src, th: &litmus.Thread{}, addrs: map[int]string{0: "r1"}, t: &litmus.Test{Locations: []litmus.Location{{Name: "x"}}},
			in: &LiftedThread{Spec: &spec.Spec{Entries: []spec.Entry{{}}}}, code: &Lifted{}}
		require.NoError(t, l.op(&liftOp{read: -1, half: noHalf}))
		want := litmus.U32
		if signed {
			want = litmus.S32
		}
		require.Equal(t, want, l.th.Body[0].Type)
	}
}

// TestUnguarded: what a guarded access read stands beside the token, and nothing else does.
func TestUnguarded(t *testing.T) {
	tr := &trace{pool: newValuePool()}
	v, p := &pass{tr: tr, s: &spec.Spec{}}, tr.pool
	read, other, token := p.mk(node{kind: kLoad, a: 0, b: 0, c: none}), p.mk(node{kind: kLoad, a: 1, b: 0, c: none}), p.param(v.s.ResultParam()+8)
	sel := func(a, b value) value { return p.mk(node{kind: kSel, a: a, b: b, c: p.param(0)}) }
	both, early := sel(read, other), sel(read, p.param(v.s.ResultParam())) // the address of the results is no token
	joined := p.mk(node{kind: kPhi, a: read, b: none, c: none})
	for in, want := range map[value]value{none: none, read: read, sel(read, token): read, sel(token, read): read, both: both,
		early: early, joined: joined} {
		require.Equal(t, want, v.unguarded(in))
	}
}

// TestOneLane: the number of lanes is a factor that neither reads nor parameters decide.
func TestOneLane(t *testing.T) {
	tr := &trace{pool: newValuePool()}
	v, p := &pass{tr: tr}, tr.pool
	opaque := func(of value) value { return p.mk(node{kind: kOpaque, a: none, b: none, c: of}) }
	read, operand := p.mk(node{kind: kLoad, a: 0, b: 0, c: none}), p.param(8)
	for _, c := range []struct {
		lanes value
		is    bool
	}{{opaque(p.constant(7)), true}, {opaque(p.param(16)), false}, {opaque(read), false}, {p.constant(3), false}} {
		product := p.mk(node{kind: kFun, imm: uint64(isa.MicroMul) << 8, a: operand, b: c.lanes, c: none})
		got, ok := v.ofOneLane(&event{mem: isa.Mem{Width: 4}, data: []value{product}})
		require.Equal(t, c.is, ok)
		require.True(t, !ok || got == operand)
	}
}

// TestCasesEnd: so many values are computed, and no more.
func TestCasesEnd(t *testing.T) {
	tr := &trace{pool: newValuePool()}
	a, b := tr.pool.constant(1), tr.pool.constant(2)
	s := &cases{tr: tr, known: make([]word, len(tr.pool.nodes)), at: 1}
	require.True(t, s.word(a).ok)
	require.False(t, s.word(b).ok)
}

// TestCombinationsEnd: combinations are those of what the random samples read; what is read later makes no more of them.
func TestCombinationsEnd(t *testing.T) {
	s := &sampler{asked: map[[2]int]bool{}, chosen: map[[2]int]uint32{}, rnd: rand.New(rand.NewPCG(1, 2)), words: []uint32{5, 7, 9, 11}, near: 2}
	n := 0
	for ; s.next(); n++ {
		s.Read(0, 0)
		if n > randomSamples {
			s.Read(1, 0)
		}
	}
	require.Equal(t, randomSamples+2, n)
}
