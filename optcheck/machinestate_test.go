package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/model/explore"
	"optcheck/spec"
)

// TestMachineState: registers hold what the test computes from the words read.
func TestMachineState(t *testing.T) {
	x, err := litmus.Parse("state", []byte(`GPU_PTX state
{
x=0; y=0;
0:.reg .pred p; 0:.reg .pred q; 0:.reg .s32 r0; 0:.reg .s32 r1; 0:.reg .u32 r2; 0:.reg .s32 r3;
}
 T0                          ;
 ld.relaxed.gpu.s32 r0, [x]  ;
 setp.eq.s32 p, r0, 7        ;
 not.pred q, p               ;
 @!q ld.relaxed.gpu.s32 r1, [y] ;
 not.b32 r3, r0              ;
ScopeTree(grid(cta(warp T0)))
x: global, y: global
exists (0:r0=7 /\ 0:r1=1 /\ 0:r3=0)
`))
	require.NoError(t, err)
	cl, err := litmus.ToOpenCL(x)
	require.NoError(t, err)
	s, err := spec.FromTest(x, 0, spec.Pointers)
	require.NoError(t, err)
	threads := []LiftedThread{{Spec: s, Lifted: &LiftedAMD{reads: 2, regs: map[int]*expr{0: {op: exLoad, read: 0}, 1: {op: exLoad, read: 1}}}}}
	for _, c := range []struct {
		read []uint32
		done []bool
		want []int64
	}{
		{[]uint32{7, 1}, []bool{true, true}, []int64{7, 1, 0xfffffff8}},
		{[]uint32{6, 1}, []bool{true, true}, []int64{6, 0, 0xfffffff9}},
		{[]uint32{6, 0}, []bool{true, false}, []int64{6, 0, 0xfffffff9}},
	} {
		got, err := MachineState(cl, threads, &explore.Final{Read: [][]uint32{c.read}, Done: [][]bool{c.done}, Memory: []uint32{0, 0}})
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%v", c.read)
	}
}

// TestValues: what an access gives is all that the machine code makes of it,
// not only the load that it may come from.
func TestValues(t *testing.T) {
	pool := newValuePool()
	load := func(read int64) value { return pool.mk(node{kind: kLoad, a: value(read), b: 0, c: none}) }
	p := &pass{s: &spec.Spec{Entries: []spec.Entry{{Kind: spec.Kind{Op: litmus.OpLd}}}}, match: []int{-1}, word: []int{0},
		owner: make([][]int, 2), r: &Result{},
		tr: &trace{pool: pool, fn: &isa.Func{Insts: make([]isa.Inst, 2)}, reads: []int{0, 1},
			events: []event{{inst: 0, role: isa.RoleLoad, read: 0}, {inst: 1, role: isa.RoleLoad, read: 1}}}}
	flag := pool.mk(node{kind: kCmp, imm: uint64(cmpCodes["EQ"]), a: load(1), b: pool.constant(0), c: none})
	p.oper = []value{pool.mk(node{kind: kSel, a: load(0), b: pool.constant(5), c: flag})}
	p.matchRead(0)
	require.Zero(t, p.match[0])
	regs, err := newLifter(p, nil).values()
	require.NoError(t, err)
	for _, words := range [][2]uint32{{7, 0}, {7, 1}} {
		w, ok := regs[0].eval(nil, func(r int) (uint32, bool) { return words[r], true })
		require.True(t, ok)
		require.Equal(t, map[uint32]uint32{0: 7, 1: 5}[words[1]], w)
	}
}
