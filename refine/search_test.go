package refine_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/refine"
)

// TestSearch: inputs are found that take a condition both ways, whatever of the input it depends on.
func TestSearch(t *testing.T) {
	for name, body := range map[string]string{
		"a number":             "setp.eq.u32 %p1, %r1, 123456;",
		"a sum":                "mad.lo.u32 %r5, %r1, 12, 7; setp.gt.u32 %p1, %r5, 1000000;",
		"two numbers":          "sub.u32 %r5, %r1, %r2; setp.eq.s32 %p1, %r5, 4711;",
		"a wide number":        "setp.eq.u64 %p1, %d3, 81985529216486895;",
		"a pointer":            "setp.eq.u64 %p1, %d0, 0;",
		"memory":               "ld.global.u32 %r5, [%d2]; setp.eq.u32 %p1, %r5, 987654321;",
		"threads of the block": "mov.u32 %r5, %ntid.x; setp.gt.u32 %p1, %r5, 300;",
		"through a predicate":  "setp.eq.u32 %p2, %r1, 77777; selp.u32 %r5, 1, 0, %p2; setp.ne.u32 %p1, %r5, 0;",
		"a table":              "and.b32 %r5, %r1, 15; T: .branchtargets done, done, done, done, done, done, done, done, done, done, done, here, done, done, done, done; brx.idx %r5, T; here: setp.gt.u32 %p1, %r0, 3;",
		"both of two":          "setp.eq.u32 %p2, %r1, 77777; setp.eq.and.u32 %p1, %r2, 55555, %p2;",
	} {
		t.Run(name, func(t *testing.T) {
			p := lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 k, .param .u64 wide)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
	ld.param.u64 %d0, [out]; ld.param.u64 %d4, [in]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [k]; ld.param.u64 %d3, [wide];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	mad.wide.u32 %d2, %r0, 4, %d4;
	`+body+`
	@!%p1 bra done;
	st.global.u32 [%d1], %r0;
done:
	ret;
}
`)
			without, err := refine.Compare(t.Context(), p, p, refine.Options{Runs: 2})
			require.NoError(t, err)
			require.Len(t, without.Unseen, 1, "an input reaches it by chance")
			with, err := refine.Compare(t.Context(), p, p, refine.Options{Runs: 2, Search: 1 << 22})
			require.NoError(t, err)
			require.Empty(t, with.Cannot)
			require.Empty(t, with.Findings)
			require.Empty(t, with.Unseen)
			require.Equal(t, with.Source.OutcomesOf, with.Source.Outcomes)
		})
	}
}

// TestBorders: a comparison is seen at its border, where it shows that it is another one.
func TestBorders(t *testing.T) {
	text := func(cond string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
	ld.param.u64 %d0, [out]; ld.param.u32 %r1, [n];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	mad.lo.u32 %r2, %r1, 5, 3;
	setp.`+cond+`.u32 %p1, %r2, 2003;
	selp.u32 %r3, 1, 2, %p1;
	st.global.u32 [%d1], %r3;
	ret;
}
`)
	}
	machine := text("le")
	machine.Machine = true
	res, err := refine.Compare(t.Context(), text("lt"), machine, refine.Options{Runs: 2, Search: 1 << 22})
	require.NoError(t, err)
	require.Len(t, res.Findings, 1)
}

// TestUndecided: of a condition that no run shows on both sides, machine code that compares the same operands alike is right; of other code
// it is not known.
func TestUndecided(t *testing.T) {
	text := func(body string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .f32 %f<5>; .reg .b16 %h;
	ld.param.u64 %d0, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r1, [n];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	mad.wide.u32 %d2, %r0, 4, %d2;
	`+body+`
	st.global.u32 [%d1], %r3;
	ret;
}
`)
	}
	synchronised := "st.release.gpu.global.u32 [%d2+512], %r3; atom.acq_rel.gpu.global.add.u32 %r5, [%d2+1024], %r3; bar.sync 0; ld.acquire.gpu.global.u32 %r6, [%d2+512]; add.u32 %r3, %r3, %r6;"
	const fence = "fence.acq_rel.gpu; "
	fenced := fence + "st.relaxed.gpu.global.u32 [%d2+512], %r3; " + fence + "atom.relaxed.gpu.global.add.u32 %r5, [%d2+1024], %r3; " + fence +
		"bar.sync 0; ld.relaxed.gpu.global.u32 %r6, [%d2+512]; " + fence + "add.u32 %r3, %r3, %r6;"
	const evens = "ld.global.u32 %r2, [%d2]; and.b32 %r2, %r2, 62; "
	squares := "mul.lo.u32 %r2, %r1, %r1; and.b32 %r2, %r2, 3;"
	for name, c := range map[string]struct {
		program, machine string
		findings, open   int
	}{
		"the same": {squares + "setp.eq.u32 %p1, %r2, 2; selp.u32 %r3, 1, 2, %p1;", squares + "setp.ne.u32 %p1, 2, %r2; selp.u32 %r3, 2, 1, %p1;", 0, 0},
		"gone":     {squares + "setp.eq.u32 %p1, %r2, 2; selp.u32 %r3, 1, 2, %p1;", "mov.u32 %r3, 2;", 0, 1},
		"by its negation, of a number more": {squares + "setp.gt.u32 %p1, %r2, 1; selp.u32 %r3, 1, 2, %p1;",
			squares + "setp.lt.u32 %p1, %r2, 2; selp.u32 %r3, 2, 1, %p1;", 0, 0},
		"twice, and once in the machine code": {evens + "setp.gt.u32 %p1, %r2, 15; selp.u32 %r3, 1, 2, %p1; setp.gt.u32 %p2, %r2, 15; selp.u32 %r4, 4, 8, %p2; add.u32 %r3, %r3, %r4;",
			evens + "setp.gt.u32 %p1, %r2, 15; selp.u32 %r3, 1, 2, %p1; selp.u32 %r4, 4, 8, %p1; add.u32 %r3, %r3, %r4;", 0, 0},
		"another one at the second place": {evens + "setp.gt.u32 %p1, %r2, 15; selp.u32 %r3, 1, 2, %p1; setp.gt.u32 %p2, %r2, 15; selp.u32 %r4, 4, 8, %p2; add.u32 %r3, %r3, %r4;",
			evens + "setp.gt.u32 %p1, %r2, 15; selp.u32 %r3, 1, 2, %p1; setp.gt.u32 %p2, %r2, 14; selp.u32 %r4, 4, 8, %p2; add.u32 %r3, %r3, %r4;", 0, 2},
		"never, by the bounds of a special register": {"mov.u32 %r2, %ntid.x; setp.eq.u32 %p1, %r2, 0; selp.u32 %r3, 1, 2, %p1;", "mov.u32 %r3, 2;", 0, 0},
		"of itself": {"setp.ne.u32 %p1, %r1, %r1; selp.u32 %r3, 1, 2, %p1;", "mov.u32 %r3, 2;", 0, 0},
		"by other means, between what synchronises": {"setp.gt.u32 %p1, %r1, 5; selp.u32 %r3, 1, 2, %p1;" + synchronised,
			"max.u32 %r4, %r1, 5; min.u32 %r4, %r4, 6; sub.u32 %r3, 7, %r4;" + fenced, 0, 0},
		"halves of floating-point numbers": {"ld.global.u16 %h, [%d2]; mov.b32 %f1, {0,%h}; fma.rn.f32 %f2, %f1, %f1, 0f00000000; mov.b32 %r3, %f2;",
			"mov.u32 %r3, 0;", 1, 0},
		"high bytes of numbers": {"ld.global.u32 %r2, [%d2]; shr.u32 %r4, %r2, 20; and.b32 %r3, %r4, 15; mul.wide.u32 %d3, %r3, 4; add.s64 %d1, %d1, %d3;",
			"ld.global.u32 %r2, [%d2]; shr.u32 %r4, %r2, 24; and.b32 %r3, %r4, 15; mul.wide.u32 %d3, %r3, 4; add.s64 %d1, %d1, %d3;", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			machine := text(c.machine)
			machine.Machine = true
			res, err := refine.Compare(t.Context(), text(c.program), machine, refine.Options{Runs: 2, Search: 1 << 22, Shared: true})
			require.NoError(t, err)
			require.Len(t, res.Findings, c.findings)
			require.Len(t, res.Undecided, c.open)
		})
	}
}

// TestReaches: inputs are found on which nothing faults or waits for ever: parts of a struct that index others, halves of a pointer, values that
// only somebody outside of the launch writes, several at once.
func TestReaches(t *testing.T) {
	const wait = "W: ld.volatile.global.v2.u32 {%r5, %r6}, [%d5]; setp.ne.u32 %p1, %r6, %r1; @%p1 bra W; "
	for name, body := range map[string]string{
		"an index into the parameters": "mov.b64 %d3, args; mul.wide.u32 %d5, %r1, 16; add.u64 %d3, %d3, %d5; ld.param.u32 %r5, [%d3+64];",
		"halves of a pointer":          "mov.b64 %d5, {%r1, %r2}; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d5];",
		"a sum that is not aligned":    "mul.wide.u32 %d5, %r1, 1; add.u64 %d5, %d5, %d0; ld.global.u64 %d6, [%d5+3];",
		"an element of a vector":       "add.u64 %d5, %d1, 4096; mul.lo.u32 %r1, %r0, 70001; " + wait,
		"two in turn": "add.u64 %d5, %d1, 4096; mul.lo.u32 %r1, %r0, 70001; W: ld.volatile.global.u32 %r5, [%d5]; ld.volatile.global.u32 %r6, [%d5+512]; " +
			"setp.ne.u32 %p1, %r5, %r1; setp.ne.or.u32 %p1, %r6, %r1, %p1; @%p1 bra W; ",
	} {
		t.Run(name, func(t *testing.T) {
			p := lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .align 16 .b8 args[512])
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
	ld.param.u64 %d0, [args]; ld.param.u32 %r1, [args+8]; ld.param.u32 %r2, [args+12];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	`+body+`
	st.global.u32 [%d1], %r0;
	ret;
}
`)
			res, err := refine.Compare(t.Context(), p, p, refine.Options{Runs: 2, Search: 1 << 22})
			require.NoError(t, err)
			require.Empty(t, res.Findings)
			require.Empty(t, res.Unseen, res.Cannot)
			require.Positive(t, res.Runs, "a run that ends")
		})
	}
}

// TestSlight: there are inputs with several of each two things and few of all others, and inputs in which a parameter is a subnormal number.
func TestSlight(t *testing.T) {
	p := lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rows, .param .u32 columns, .param .u32 wide, .param .f32 scale)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<5>; .reg .f32 %f<3>;
	ld.param.u64 %d0, [out]; ld.param.u32 %r1, [rows]; ld.param.u32 %r2, [columns]; ld.param.u32 %r3, [wide]; ld.param.f32 %f1, [scale];
	setp.gt.u32 %p1, %r1, %r2; setp.gt.and.u32 %p1, %r3, 2, %p1; rsqrt.approx.f32 %f2, %f1; setp.gt.f32 %p2, %f2, 0f3f800000;
	@%p1 st.global.f32 [%d0], %f2;
	@%p2 st.global.f32 [%d0+4], %f1;
	ret;
}
`)
	word := func(in *refine.Input, at int) uint32 { return binary.LittleEndian.Uint32(in.Params[at:]) }
	pairs, tiny := refine.Slight(t, p)
	for _, two := range [][3]int{{8, 12, 16}, {8, 16, 12}, {12, 16, 8}} {
		require.True(t, slices.ContainsFunc(pairs, func(in *refine.Input) bool {
			return word(in, two[0]) == 13 && word(in, two[1]) == 13 && word(in, two[2]) == 1
		}), two)
	}
	require.Len(t, tiny, 2)
	for i, w := range []refine.World{refine.Zero, refine.Equal} {
		require.Equal(t, w, tiny[i].World)
		require.Less(t, math.Float32frombits(word(tiny[i], 20)), float32(math.SmallestNonzeroFloat32*(1<<23)))
	}
	res, err := refine.Compare(t.Context(), p, p, refine.Options{Runs: 2, Search: 1 << 22})
	require.NoError(t, err)
	require.Empty(t, res.Findings)
}
