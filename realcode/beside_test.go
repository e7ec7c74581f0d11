package realcode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// checkerOf is one of a kernel's operations, each with a counterpart of its own.
func checkerOf(t *testing.T, before, body string) *checker {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 8 .b64 s[8];\n"+before+
		".visible .entry k(.param .u64 p, .param .u64 q) {\n.reg .pred c; .reg .b32 r<9>; .reg .b64 d<9>;\nld.param.u64 d1, [p]; ld.param.u64 d2, [q];\n"+body+"\nret;\n}\n"))
	require.NoError(t, err)
	src, err := readSource(m, m.Func("k"))
	require.NoError(t, err)
	c := &checker{name: "k", sm: 90, res: &Result{}, matcher: &matcher{src: src, mach: &machine{sm: 90}}, failed: make([]bool, len(src.ops)),
		ends: map[*ptx.Func]loopEnds{}}
	for k := range src.ops {
		c.img = append(c.img, images{main: []int32{int32(k)}})
	}
	c.pg, err = unroll(src.steps, src.entries[m.Func("k")], 0, nil, maxNodes())
	require.NoError(t, err)
	c.inPTX = nodesOf(c.pg, len(src.ops), func(n int) int32 { return c.pg.letter[n] })
	return c
}

// TestNear: which operation beside another one a slice is made with, and the barrier between.
func TestNear(t *testing.T) {
	const at = "fence.acq_rel.gpu;"
	for _, x := range []struct {
		name, body string
		dir        int
		wanted     []func(*Op) bool
		want       string // "" for none
		barriers   int
	}{
		{"behind", at + "st.global.u32 [d1], 1; st.global.u32 [d2], 2;", 1, nil, "st.global.u32 [d1], 1", 0},
		{"before", "st.global.u32 [d1], 1; st.global.u32 [d2], 2;" + at, -1, nil, "st.global.u32 [d2], 2", 0},
		{"the first wish", at + "st.global.u32 [d1], 1; ld.global.u32 r1, [d2]; st.global.u32 [d1+8], r1;", 1, []func(*Op) bool{loads, stores},
			"ld.global.u32 r1, [d2]", 0},
		{"the second wish", at + "st.global.u32 [d1], 1;", 1, []func(*Op) bool{loads, stores}, "st.global.u32 [d1], 1", 0},
		{"none that is wanted", at + "st.global.u32 [d1], 1;", 1, []func(*Op) bool{loads}, "", 0},
		{"none at all", "st.global.u32 [d1], 1;" + at, 1, nil, "", 0},
		{"global memory first", at + "st.shared.u32 [s], 1; st.global.u32 [d1], 2;", 1, nil, "st.global.u32 [d1], 2", 0},
		{"shared memory, if there is nothing else", at + "st.shared.u32 [s], 1;", 1, nil, "st.shared.u32 [s], 1", 0},
		{"the next one, for an order of the CTA", "fence.acq_rel.cta; st.shared.u32 [s], 1; st.global.u32 [d1], 2;", 1, nil,
			"st.shared.u32 [s], 1", 0},
		{"past a barrier", at + "bar.sync 0; st.global.u32 [d1], 1;", 1, nil, "st.global.u32 [d1], 1", 1},
		{"past two, as past one", at + "bar.sync 0; bar.sync 0; st.global.u32 [d1], 1;", 1, nil, "st.global.u32 [d1], 1", 1},
		{"a barrier that is not between", at + "st.global.u32 [d1], 1; bar.sync 0;", 1, nil, "st.global.u32 [d1], 1", 0},
		{"not past a fence", at + at + "st.global.u32 [d1], 1;", 1, nil, "", 0},
		{"not past a release", at + "st.release.gpu.global.u32 [d2], 2; st.global.u32 [d1], 1;", 1, []func(*Op) bool{stores}, "", 0},
		{"not past an acquire", at + "ld.acquire.gpu.global.u32 r1, [d2]; st.global.u32 [d1], r1;", 1, []func(*Op) bool{stores}, "", 0},
		{"past a relaxed one", at + "ld.relaxed.gpu.global.u32 r1, [d2]; st.global.u32 [d1], r1;", 1, []func(*Op) bool{stores},
			"st.global.u32 [d1], r1", 0},
		{"not in another function", "call f, (d1);" + at, 1, nil, "", 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := checkerOf(t, ".func f(.param .u64 a) { .reg .b64 d; ld.param.u64 d, [a]; st.global.u32 [d], 1; ret; }\n",
				strings.ReplaceAll(x.body, ";", ";\n"))
			k := -1
			for i, op := range c.src.ops {
				if op.Effect.Kind == ptx.Fence && (k < 0 || x.dir < 0) {
					k = i
				}
			}
			if x.wanted == nil {
				x.wanted = []func(*Op) bool{relaxed}
			}
			n := c.near(k, x.dir, x.wanted...)
			if x.want == "" {
				require.Nil(t, n.op)
				require.Empty(t, n.barriers)
				return
			}
			require.NotNil(t, n.op)
			require.Equal(t, x.want, n.op.Inst.Text)
			require.Len(t, n.barriers, x.barriers)
			for j, op := range c.src.ops { // what the machine code lacks, or what goes to the same place, is none
				if op == n.op {
					c.img[j].main = nil
					require.NotEqual(t, n.op, c.near(k, x.dir, x.wanted...).op)
					c.img[j].main = []int32{int32(j)}
					c.src.ops[k].addr = op.addr
					require.Equal(t, op.addr.root == "", c.near(k, x.dir, x.wanted...).op == n.op)
				}
			}
		})
	}
}

// TestElection: a copy without a condition is that of the lane that was elected for the operation beside it, or else the last one.
func TestElection(t *testing.T) {
	const other, first, last = 7, 8, 9
	pred := func(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassPred, Num: n} }
	elect := func(n uint16) *isa.Inst {
		return &isa.Inst{Op: "ELECT", Args: []isa.Operand{{Kind: isa.OpdPred, Reg: pred(n)}}}
	}
	copied, nop, jump, pop := &isa.Inst{Op: "UBLKCP", Role: isa.RoleCopy}, &isa.Inst{Op: "NOP"}, &isa.Inst{Op: "BRA", Flow: isa.FlowJump},
		&isa.Inst{Op: "BSYNC", Flow: isa.FlowPop}
	for _, x := range []struct {
		name  string
		code  string // a, b: elections of the two; c: the copy, of operation 1; 0 to 2: of these operations, under the first; . nothing, j a jump, p a meeting
		want  int32
		sets  []assign // of the dot, if there is one
		defs  []int32
		guard int32
	}{
		{name: "the last one", code: "abc", want: last},
		{name: "the only one", code: "ac", want: first},
		{name: "none", code: ".c", want: -1},
		{name: "one behind it", code: "ca", want: -1},
		{name: "that of the next operation", code: "abc2", want: first},
		{name: "that of the one before", code: "ab0c", want: first},
		{name: "not that of an operation further on", code: "abc1", want: last},
		{name: "not that behind another image of its own", code: "abc12", want: last},
		{name: "not that behind a jump", code: "abcj2", want: last},
		{name: "none in front of a jump", code: "ajc", want: -1},
		{name: "the end of a divergent stretch is no jump", code: "apc", want: first},
		{name: "a copy of it", code: "a.c2", sets: []assign{{dst: other, src: first}}, guard: -1, want: other},
		{name: "its contrary", code: "a.c2", sets: []assign{{dst: other, src: first, neg: true}}, guard: -1, want: first},
		{name: "that or something else", code: "a.c2", sets: []assign{{dst: other, src: first, fork: true}}, guard: -1, want: first},
		{name: "that with something else", code: "a.c2", sets: []assign{{dst: other, src: first, with: "AND"}}, guard: -1, want: first},
		{name: "a constant", code: "a.c2", sets: []assign{{dst: other, src: -1}}, guard: -1, want: first},
		{name: "a copy under a condition", code: "a.c2", sets: []assign{{dst: other, src: first}}, guard: 3, want: first},
		{name: "set to something else", code: "a.c", defs: []int32{first}, guard: -1, want: -1},
	} {
		t.Run(x.name, func(t *testing.T) {
			m := &machine{conds: conds{pred(0).String(): first, pred(1).String(): last}}
			c := &checker{matcher: &matcher{mach: m, img: make([]images, 3)}}
			at := int32(-1)
			for i, r := range x.code {
				s, in, owner := step{guard: -1}, nop, int32(-1)
				switch r {
				case 'a':
					in = elect(0)
				case 'b':
					in = elect(1)
				case 'c':
					in, owner, at = copied, 1, int32(i)
				case 'j':
					in = jump
				case 'p':
					in = pop
				case '.':
					s = step{guard: x.guard, sets: x.sets, defs: x.defs}
				default:
					owner = r - '0'
					if s.guard = first; strings.Contains(x.code, ".") {
						s.guard = other
					}
				}
				m.insts, m.steps, c.owner = append(m.insts, in), append(m.steps, s), append(c.owner, owner)
			}
			c.underElection(1, at)
			require.Equal(t, x.want, m.steps[at].guard)
			require.Equal(t, map[bool]string{true: oneLane}[x.want >= 0], c.img[1].shape)
		})
	}
	for name, x := range map[string]struct {
		in    isa.Inst
		guard int32
	}{
		"it has a condition": {*copied, 5}, "no copy": {isa.Inst{Op: "USTORE", Role: isa.RoleStore}, -1},
		"not uniform": {isa.Inst{Op: "LDGSTS", Role: isa.RoleCopy}, -1},
	} {
		m := &machine{conds: conds{pred(0).String(): first}, insts: []*isa.Inst{elect(0), &x.in}, steps: []step{{guard: -1}, {guard: x.guard}}}
		c := &checker{matcher: &matcher{mach: m, img: make([]images, 1), owner: []int32{-1, 0}}}
		c.underElection(0, 1)
		require.Equal(t, x.guard, m.steps[1].guard, name)
	}
	turn := &machine{conds: conds{pred(0).String(): first}, insts: []*isa.Inst{elect(0)}, steps: []step{{guard: 2}}}
	_, ok := (&checker{matcher: &matcher{mach: turn}}).elects(0)
	require.False(t, ok, "a loop in which each lane has its turn")
}

// TestLoopEnds: what decides a guarded access in a loop, and not its end, may leave it.
func TestLoopEnds(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 p) {
	.reg .b32 r<4>; .reg .b64 d; .reg .pred c, e;
	ld.param.u64 d, [p];
W:	ld.global.u32 r1, [d];
	setp.eq.u32 c, r1, 0;
	@c st.global.u32 [d+8], r1;
	setp.eq.u32 e, r2, 0;
	@e bra W;
	ret;
}
`
	const code = `1 LDC.64 R2, c[0x0][0x380]
+ LDCU.64 UR4, c[0x0][0x358]
2 LDG.E R0, desc[UR4][R2.64]
3 ISETP.NE.AND P0, PT, R0, RZ, PT
4 @!P0 STG.E desc[UR4][R2.64+0x8], R0
5 ISETP.NE.AND P1, PT, R4, RZ, PT
6 @!P1 BRA 0x40
7 EXIT
`
	require.NotContains(t, fmt.Sprint(checkText(t, text, code, nil).Notes), "whose end it decides")
	require.Contains(t, fmt.Sprint(checkText(t, strings.Replace(text, "e, r2", "e, r1", 1),
		strings.Replace(code, "P1, PT, R4", "P1, PT, R0", 1), nil).Notes), "whose end it decides")
}

// TestLeftLoops: a weak load that has left the loop whose end it decides is told.
func TestLeftLoops(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 p) {
	.reg .b32 r<4>; .reg .b64 d; .reg .pred c;
	ld.param.u64 d, [p];
W:	ld.global.u32 r1, [d];
	setp.eq.u32 c, r1, 0;
	@c bra W;
	st.global.u32 [d+4], r1;
	ret;
}
`
	const begin, load, end = "1 LDC.64 R2, c[0x0][0x380]\n+ LDCU.64 UR4, c[0x0][0x358]\n", "2 LDG.E R0, desc[UR4][R2.64]\n",
		"5 STG.E desc[UR4][R2.64+0x4], R0\n6 EXIT\n"
	const test = "3 ISETP.NE.AND P0, PT, R0, RZ, PT\n"
	for _, x := range []struct{ name, old, new, code, want string }{
		{"in its loop", "", "", load + test + "4 @!P0 BRA 0x20\n", ""},
		{"before its loop", "", "", load + test + "4 @!P0 BRA 0x40\n", "for ever"},
		{"without a loop", "", "", load + test + "4 NOP\n", "does not wait"},
		{"without a loop, a jump on", "", "", load + test + "4 @!P0 BRA 0x50\n", "does not wait"},
		{"twice, without a loop", "", "", load + load + test + "4 NOP\n", ""},
		{"before its loop, and once in it", "", "", load + load + test + "4 @!P0 BRA 0x30\n", ""},
		{"volatile", "ld.global", "ld.volatile.global", load + test + "4 @!P0 BRA 0x40\n", ""},
		{"nobody knows where it goes", "[d];", "[d*2];", load + test + "4 @!P0 BRA 0x20\n", ""},
		{"its loop ends for another reason", "setp.eq.u32 c, r1, 0", "setp.eq.u32 c, r2, 0", load + test + "4 @!P0 BRA 0x40\n", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			require.Contains(t, text, x.old)
			r := checkText(t, strings.Replace(text, x.old, x.new, 1), begin+x.code+end, nil)
			said := fmt.Sprint(r.Notes)
			require.Equal(t, x.want != "", strings.Contains(said, "whose end it decides"), "%s: %s %v", x.name, said, r)
			require.Contains(t, said, x.want)
		})
	}
}
