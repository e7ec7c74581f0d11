package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestNoDigest: code without a digest of what the test computes is not known to be the test.
func TestNoDigest(t *testing.T) {
	for digest, undecided := range map[uint32]bool{0: true, 5: false} {
		p := &pass{tr: &trace{pool: newValuePool()}, s: &spec.Spec{Digest: digest}, r: &Result{}}
		checkCode(p)
		require.Equal(t, undecided, p.r.Undecided == "the code carries no digest of the values and conditions of the test; name the test with --against",
			p.r.Undecided)
	}
}

// TestImpliedByFences: a fence is implied by a wider one beside it that the test asks for, and by nothing else.
func TestImpliedByFences(t *testing.T) {
	for role, implied := range map[isa.Role]bool{isa.RoleFence: true, isa.RoleCache: false} {
		tr := &trace{events: []event{{role: role, mem: isa.Mem{Scope: isa.ScopeSys}}, {role: isa.RoleFence, mem: isa.Mem{Scope: isa.ScopeGPU}}}}
		p := &pass{tr: tr, owner: [][]int{{0}, nil}, s: &spec.Spec{Entries: []spec.Entry{{Kind: spec.Kind{Op: litmus.OpFence}}}}}
		require.Equal(t, implied, nvidia{sm: 80}.implied(&lifter{p: p, done: make([]bool, 2), bad: map[int]bool{}}, 1), role)
	}
}

// TestUnreadArms: what stands for a matched reduction on the other side of a predicate, and what keeps results alive, is no unread access.
func TestUnreadArms(t *testing.T) {
	e := spec.Entry{Kind: spec.Kind{Op: litmus.OpLd, Width: 4}}
	a, err := archOf("sm_80")
	require.NoError(t, err)
	for _, x := range []event{{}, {arm: true}, {result: true}} {
		x.role, x.mem, x.addr = isa.RoleLoad, isa.Mem{Width: 4, Space: isa.SpaceGlobal}, key{base: baseParam}
		tr := &trace{arch: a, pool: newValuePool(), fn: &isa.Func{Insts: make([]isa.Inst, 1)}, events: []event{x}}
		p := &pass{tr: tr, owner: make([][]int, 1), match: []int{-1}, s: &spec.Spec{Layout: spec.Offsets, Locations: 1, Entries: []spec.Entry{e}}}
		want := 0
		if x.arm || x.result {
			want = -1
		}
		require.Equal(t, want, p.unreadEvent(0, e))
	}
}

// TestUnreadLines: an unread access is on its line, else between those of its neighbours, else on the line of no access of the test.
func TestUnreadLines(t *testing.T) {
	e := spec.Entry{Kind: spec.Kind{Op: litmus.OpLd, Width: 4}}
	a, err := archOf("sm_80")
	require.NoError(t, err)
	s := &spec.Spec{Layout: spec.Offsets, Locations: 1, Entries: []spec.Entry{e, e}}
	s.Entries[1].Pos = 1 // on line 2; the other one, which is read, on line 1
	for _, x := range []struct {
		lines []int // of loads of the machine code
		first int   // which of them is the one that is read, -1 for none
		want  int
	}{
		{[]int{2, 0, 0}, -1, 0}, {[]int{0, 2, 0}, -1, 1}, {[]int{0, 0, 0}, -1, 0}, {[]int{9, 0, 0}, -1, 0}, {[]int{1, 0, 2}, -1, 2},
		{[]int{0, 1, 0}, 0, 1}, {[]int{1, 0, 0}, 1, 2}, {[]int{1, 1, 9}, 2, -1}, {[]int{9, 1, 1}, 2, 0}, {[]int{0, 1, 1}, 2, 0}, {[]int{2, 1, 0}, 1, 0},
	} {
		tr := &trace{arch: a, pool: newValuePool(), fn: &isa.Func{Insts: make([]isa.Inst, 3)}}
		p := &pass{tr: tr, owner: make([][]int, 3), match: []int{x.first, -1}, s: s}
		for i, line := range x.lines {
			tr.events = append(tr.events, event{inst: i, role: isa.RoleLoad, mem: isa.Mem{Width: 4, Space: isa.SpaceGlobal}, addr: key{base: baseParam}})
			tr.fn.Insts[i].Src.Line = line
		}
		if x.first >= 0 {
			p.owner[x.first] = []int{0}
		}
		require.Equal(t, x.want, p.unreadEvent(1, s.Entries[1]), "%+v", x)
	}
}

// TestMergedSlots: where paths join, of a slot into which they stored different widths nothing is known.
func TestMergedSlots(t *testing.T) {
	a, err := archOf("sm_80")
	require.NoError(t, err)
	at := slot{none, 8}
	for bytes, kept := range map[int]bool{4: true, 2: false} {
		m := &machine{arch: a, tr: &trace{arch: a, pool: newValuePool()}, guardV: none}
		v := m.tr.pool.constant(3)
		st, q := &state{slots: map[slot]cell{at: {v: v, bytes: 4}}}, &state{slots: map[slot]cell{at: {v: v, bytes: bytes}}}
		m.mergeSlots(0, 0, st, q, &join{})
		_, ok := st.slots[at]
		require.Equal(t, kept, ok, bytes)
	}
}

// TestNeverExits: an exit that is never performed is none.
func TestNeverExits(t *testing.T) {
	for _, never := range []bool{false, true} {
		fn := &isa.Func{Insts: []isa.Inst{{Flow: isa.FlowExit, Guard: isa.Guard{Never: never}}}}
		f := &flow{blocks: []isa.Block{{First: 0, End: 1, Succs: []int{1}}, {}}}
		require.Equal(t, !never, f.exits(fn, 0))
	}
}

// TestCombinedWords: a combined operand of eight bytes has two words, of a parameter and of what was read.
func TestCombinedWords(t *testing.T) {
	pool := newValuePool()
	for _, c := range []struct {
		v        value
		low, top expr
	}{
		{pool.param(16), expr{op: exParam, k: 16}, expr{op: exParam, k: 20}},
		{pool.mk(node{kind: kLoad, a: 0, b: 0, c: none}), expr{op: exLoad}, expr{op: exLoad, word: 1}},
	} {
		e := spec.Entry{Kind: spec.Kind{Op: litmus.OpRed, Atom: litmus.AtomAdd, Width: 8}}
		tr := &trace{pool: pool, events: []event{{read: -1}}, fn: &isa.Func{Insts: make([]isa.Inst, 1)}}
		p := &pass{tr: tr, owner: [][]int{{0}}, oper: []value{c.v}, s: &spec.Spec{Locations: 1, Entries: []spec.Entry{e}}, r: &Result{}}
		op := &liftOp{}
		require.NoError(t, (&lifter{p: p, out: &Lifted{}}).combined(0, op))
		require.Equal(t, [][]*expr{{&c.low, &c.top}}, op.data)
	}
}
