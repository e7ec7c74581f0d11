package refine_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/refine"
)

// TestUses: an outcome of a condition that no run has seen leaves it open, however often its comparison is made elsewhere, whether or not a store
// is behind it, unless nothing depends on it.
func TestUses(t *testing.T) {
	text := func(body string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .u32 m)
.maxntid 64, 1, 1
{
	.reg .b32 %r<19>; .reg .b64 %d<9>; .reg .pred %p<5>;
	ld.param.u64 %d0, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r9, [m];
	mov.u32 %r0, %tid.x; mov.u32 %r3, 7; mov.u32 %r4, 9;
	mad.wide.u32 %d1, %r0, 4, %d0;
	mul.lo.u32 %r2, %r1, %r1; and.b32 %r2, %r2, 3; mul.lo.u32 %r5, %r9, %r9; and.b32 %r5, %r5, 3;
	`+body+`
	st.global.u32 [%d1], %r3; st.global.u32 [%d1+4096], %r4;
	ret;
}
`)
	}
	twice := "setp.eq.u32 %p1, %r2, 2; @%p1 bra A; mov.u32 %r3, 8; A: bar.sync 0; @%p1 bra B; mov.u32 %r4, 5; B:"
	behind := "setp.ne.u32 %p1, %r2, 2; @%p1 bra A; add.u32 %r3, %r0, 5; A:"
	chosen := "setp.eq.u32 %p1, %r2, 2; selp.u32 %r3, 17, %r0, %p1;"
	twins := "setp.eq.u32 %p1, %r2, 2; @%p1 bra A; mov.u32 %r3, 8; A: bar.sync 0; setp.eq.u32 %p2, %r2, 2; @%p2 bra B; mov.u32 %r4, 5; B:"
	sleeps := "setp.eq.u32 %p1, %r2, 2; @%p1 bra A; nanosleep.u32 20; bra B; A: add.u32 %r6, %r0, 3; nanosleep.u32 %r6; B:"
	ways := "cvt.s64.s32 %d2, %r1; shr.u64 %d3, %d2, 32; setp.eq.u64 %p1, %d3, 0; add.u32 %r7, %r0, 100; cvt.u64.u32 %d5, %r7; @%p1 bra A; " +
		"div.s64 %d4, %d5, %d2; cvt.u32.u64 %r3, %d4; bra B; A: div.u32 %r3, %r7, %r1; B:"
	alone := "mov.u32 %r8, %ntid.x; setp.eq.u32 %p2, %r8, 1; add.u32 %r7, %r2, 4; selp.u32 %r7, %r18, %r7, %p2; setp.lt.u32 %p1, %r7, 4; "
	rounds := "mov.u32 %r6, 0; W: add.u32 %r3, %r3, %r6; add.u32 %r6, %r6, 1; setp.eq.u32 %p1, %r2, 2; @%p1 bra W;"
	copied := func(wait string) string {
		return ".shared .align 4 .b8 part[512]; mov.u32 %r6, part; mad.lo.u32 %r6, %r0, 4, %r6; add.u64 %d2, %d1, 8192; setp.eq.u32 %p1, %r2, 2; " +
			"cp.async.ca.shared.global [%r6], [%d2], 4; cp.async.commit_group; @%p1 bra A; cp.async.ca.shared.global [%r6+256], [%d2+512], 4; " +
			"cp.async.commit_group; A: @%p1 bra B; cp.async.wait_group 1; bra C; B: " + wait + " C: ld.shared.u32 %r3, [%r6];"
	}
	great := ".reg .f32 %f<4>; ld.global.f32 %f1, [%d1+65536]; abs.f32 %f2, %f1; setp.ltu.f32 %p1, %f2, 0f47CE4780; @%p1 bra A; mov.b32 %r3, %f1; A:"
	scaled := ".reg .f32 %f<4>; ld.global.f32 %f1, [%d1+65536]; mul.f32 %f2, %f1, 0f41200000; setp.neu.f32 %p1, %f2, 0fC2C80000; @%p1 bra A; mov.u32 %r3, 7; A:"
	root := ".reg .f32 %f<4>; .reg .f64 %e<2>; ld.global.f32 %f1, [%d1+65536]; mov.f32 %f2, 0f3F800000; setp.geu.f32 %p1, %f1, 0f00000000; @%p1 bra A; " +
		"mov.f32 %f2, 0f7FFFFFFF; A: cvt.f64.f32 %e0, %f2; add.f64 %e1, %e0, %e0; cvt.rn.f32.f64 %f3, %e1; mov.b32 %r3, %f3;"
	finite := ".reg .f32 %f<4>; cvt.rn.f32.s32 %f1, %r1; abs.f32 %f2, %f1; setp.eq.f32 %p1, %f2, 0f7F800000; @%p1 bra A; mov.b32 %r3, %f1; A:"
	odd := ".reg .f32 %f<4>; mov.f32 %f1, 0f40400000; mul.f32 %f2, %f1, 0f3F000000; cvt.rzi.f32.f32 %f2, %f2; add.f32 %f2, %f2, %f2; sub.f32 %f3, %f1, %f2; " +
		"setp.eq.f32 %p1, %f3, 0f3F800000; selp.u32 %r3, %r0, %r1, %p1;"
	parts := "add.u32 %r6, %r1, 1023; shr.u32 %r6, %r6, 10; mov.u32 %r7, 0; W: add.u32 %r3, %r3, %r7; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r6; @%p1 bra W;"
	state := "setp.lt.u32 %p3, %r0, 8; @%p3 st.relaxed.gpu.global.u32 [%d1+65536], 100; bar.sync 0; ld.relaxed.gpu.global.u32 %r6, [%d1+65536]; " +
		"setp.eq.u32 %p1, %r6, 99; vote.sync.any.pred %p2, %p1, -1; @!%p2 bra A; mov.u32 %r3, 8; A:"
	states := strings.Replace(state, "vote.sync.any.pred %p2, %p1, -1", "vote.sync.ballot.b32 %r7, %p1, -1; setp.ne.u32 %p2, %r7, 0", 1)
	blocks := "mov.u32 %r6, %nctaid.x; setp.gt.u32 %p1, %r6, 20000; @!%p1 bra A; mov.u32 %r3, 8; A:"
	further := strings.Replace(blocks, "setp.gt.u32 %p1, %r6, 20000", "sub.u32 %r6, %r6, 20000; setp.gt.s32 %p1, %r6, 0", 1)
	utmost := ".reg .f32 %f<4>; setp.ne.u32 %p3, %r0, 1; @%p3 bra A; ld.global.f32 %f1, [%d1+65536]; ld.global.f32 %f2, [%d1+131072]; mov.b32 %r6, %f2; abs.f32 %f1, %f1; abs.f32 %f2, %f2; " +
		"setp.eq.f32 %p1, %f1, 0f7F800000; setp.eq.f32 %p2, %f2, 0f7F800000; and.pred %p1, %p1, %p2; @!%p1 bra A; setp.lt.s32 %p2, %r6, 0; selp.u32 %r3, 8, 9, %p2; A:"
	infinite := ".reg .f32 %f<4>; setp.ne.u32 %p3, %r0, 1; @%p3 bra A; ld.global.u32 %r5, [%d1+65536]; ld.global.u32 %r6, [%d1+131072]; and.b32 %r7, %r5, 0x7fffffff; and.b32 %r8, %r6, 0x7fffffff; " +
		"setp.eq.s32 %p1, %r7, 0x7F800000; setp.eq.and.s32 %p1, %r8, 0x7F800000, %p1; @!%p1 bra A; setp.lt.s32 %p2, %r6, 0; selp.u32 %r3, 8, 9, %p2; A:"
	other := func(text string) string { return strings.Replace(text, ", 8", ", 18", 1) }
	for name, c := range map[string]struct {
		program, machine string
		wrong            bool
	}{
		"a state of several others":                 {state, states, false},
		"a state of several others, another number": {state, other(states), true},
		"many blocks":                               {blocks, further, false},
		"many blocks, another number":               {blocks, other(further), true},
		"two infinities":                            {utmost, infinite, false},
		"two infinities, another number":            {utmost, other(infinite), true},
		"a great number":                            {great, great, false},
		"a great number is another one":             {great, strings.Replace(great, "mov.b32 %r3, %f1", "mov.b32 %r3, %f2", 1), true},
		"a great number is not asked for":           {great, "", true},
		"a tenth of what is asked for":              {scaled, scaled, false},
		"a tenth of something else":                 {scaled, strings.Replace(scaled, "0fC2C80000", "0fC2C90000", 1), true},
		"any NaN":                                   {root, strings.Replace(root, "0f7FFFFFFF", "0fFFC12345", 1), false},
		"a number in its place":                     {root, strings.Replace(root, "0f7FFFFFFF", "0f7F800000", 1), true},
		"an integer is not infinite":                {finite, ".reg .f32 %f<4>; cvt.rn.f32.s32 %f1, %r1; mov.b32 %r3, %f1;", false},
		"numbers that are known":                    {odd, "mov.u32 %r3, %r0;", false},
		"parts of a thousand":                       {parts, parts, false},
		"parts of a thousand, from the third on":    {parts, strings.Replace(parts, "%r7, 1;", "%r7, 2;", 1), true},
		"a wait for all copies":                     {copied("cp.async.wait_group 0;"), copied("cp.async.wait_group 0;"), false},
		"one that waits for too few":                {copied("cp.async.wait_group 0;"), copied("cp.async.wait_group 1;"), true},
		"two jumps":                                 {twice, twice, false},
		"one of two jumps is gone":                  {twice, "setp.eq.u32 %p1, %r2, 2; @%p1 bra A; mov.u32 %r3, 8; A: bar.sync 0; mov.u32 %r4, 5;", true},
		"what no store is behind":                   {behind, behind, false},
		"another number there":                      {behind, "setp.ne.u32 %p1, %r2, 2; @%p1 bra A; add.u32 %r3, %r0, 6; A:", true},
		"a choice":                                  {chosen, chosen, false},
		"a choice of another number":                {chosen, "setp.eq.u32 %p1, %r2, 2; selp.u32 %r3, 16, %r0, %p1;", true},
		"two comparisons that are alike":            {twins, twins, false},
		"one of them is another one":                {twins, "setp.eq.u32 %p1, %r2, 2; @%p1 bra A; mov.u32 %r3, 8; A: bar.sync 0; setp.eq.u32 %p2, %r2, 3; @%p2 bra B; mov.u32 %r4, 5; B:", true},
		"a time to wait":                            {sleeps, "nanosleep.u32 20;", false},
		"two ways to divide":                        {ways, ways, false},
		"the wrong one of them":                     {ways, "cvt.s64.s32 %d2, %r1; add.u32 %r7, %r0, 100; div.u32 %r3, %r7, %r1;", true},
		"a number that is undefined for one thread": {alone + "@%p1 bra A; mov.u32 %r3, 8; A:", alone + "@%p1 bra A; mov.u32 %r3, 8; A:", false},
		"it alone has gone that way":                {alone + "@%p1 bra A; mov.u32 %r3, 8; A:", alone + "mov.u32 %r3, 8;", true},
		"a loop that ends at once":                  {rounds, rounds, false},
		"another number in its iterations":          {rounds, "mov.u32 %r6, 0; W: add.u32 %r3, %r3, %r6; add.u32 %r6, %r6, 2; setp.eq.u32 %p1, %r2, 2; @%p1 bra W;", true},
	} {
		t.Run(name, func(t *testing.T) {
			machine := text(c.machine)
			machine.Machine = true
			res, err := refine.Compare(t.Context(), text(c.program), machine, refine.Options{Runs: 2, Search: 1 << 22, Shared: true})
			require.NoError(t, err)
			require.Equal(t, c.wrong, len(res.Findings)+len(res.Undecided) > 0, "%v %v", res.Findings, res.Undecided)
			if len(res.Findings) == 0 {
				require.Empty(t, res.Unseen)
			}
		})
	}
}

// TestShared: an input on which the program goes beyond shared memory says nothing, nor does one on which threads of other warps write what is
// read between barriers of the warp.
func TestShared(t *testing.T) {
	text := func(body string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
.maxntid 64, 1, 1
{
	.shared .align 4 .b8 s[1024];
	.reg .b32 %r<19>; .reg .b64 %d<9>; .reg .pred %p<5>;
	ld.param.u64 %d0, [out]; ld.param.u32 %r1, [n];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	mov.u32 %r5, s; shr.u32 %r6, %r0, 5; mad.lo.u32 %r5, %r6, 4, %r5;
	st.shared.u32 [%r5], %r0;
	bar.sync 0;
	`+body+`
	st.global.u32 [%d1], %r3;
	ret;
}
`)
	}
	// A number below 0 is of the other warp, or of nobody.
	body := "bar.warp.sync -1; and.b32 %r7, %r1, -2147483648; shr.s32 %r7, %r7, 29; add.u32 %r7, %r7, %r5; red.shared.add.u32 [%r7], 1; "
	machine := text(body + "ld.shared.u32 %r3, [%r5];")
	machine.Machine = true
	res, err := refine.Compare(t.Context(), text(body+"bar.warp.sync -1; ld.shared.u32 %r3, [%r5];"), machine, refine.Options{Runs: 6, Search: 1 << 22})
	require.NoError(t, err)
	require.Empty(t, res.Findings)
	require.Positive(t, res.Runs)
}

// TestUniform: that groups of lanes share a uniform register is no proof where a strong load has told them different things: they may be together.
func TestUniform(t *testing.T) {
	text := func(loaded, first string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
.maxntid 64, 1, 1
{
	.reg .b32 %r<19>; .reg .b64 %d<9>; .reg .pred %p<5>;
	ld.param.u64 %d0, [out]; ld.param.u64 %d2, [in];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	mad.wide.u32 %d3, %r0, 4, %d2;
	mov.u32 %r6, 5;
	`+loaded+`
	and.b32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 0;
	@%p1 bra B;
	`+first+`
	ret;
B:	st.global.u32 [%d1], %r6;
	ret;
}
`)
	}
	for _, c := range []struct {
		name, load, doubt string
	}{
		{"a strong load decides", "ld.relaxed.gpu.global.u32 %r2, [%d3];", "that its lanes are together where they share uniform registers"},
		{"the thread decides", "mov.u32 %r2, %r0;", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			machine := text(c.load, "mov.u32 %r6, 9; st.global.u32 [%d1], %r6;")
			machine.Machine = true
			for i := range machine.Insts {
				if in := &machine.Insts[i]; in.Text == "mov.u32 %r6, 5" {
					machine.Uniform = []ir.Reg{in.Pre[0].Dst}
				}
			}
			require.NotEmpty(t, machine.Uniform)
			res, err := refine.Compare(t.Context(), text(c.load, "mov.u32 %r7, 9; st.global.u32 [%d1], %r7;"), machine, refine.Options{Runs: 4, Search: 1 << 20, Shared: true})
			require.NoError(t, err)
			require.NotEmpty(t, res.Findings)
			require.Equal(t, c.doubt, res.Findings[0].Doubt())
		})
	}
}

// TestUniformLoops: diverged lanes may count their loops in one uniform register, since those that run go on until they wait; but each loop has to
// begin by itself.
func TestUniformLoops(t *testing.T) {
	text := func(first, second string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
.maxntid 64, 1, 1
{
	.reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<5>;
	ld.param.u64 %d0, [out];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0;
	mov.u32 %r6, 0;
	@%p1 bra B;
	`+first+`
A:	add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 9; @%p2 bra A;
	st.global.u32 [%d1], %r6;
	ret;
B:	`+second+`
C:	add.u32 %r6, %r6, 4; setp.lt.u32 %p3, %r6, 20; @%p3 bra C;
	st.global.u32 [%d1], %r6;
	ret;
}
`)
	}
	begin := "mov.u32 %r6, 0;"
	for _, c := range []struct {
		first, second string
		wrong         bool
	}{{begin, begin, false}, {begin, "", true}, {"", begin, true}, {"", "", true}} {
		machine := text(c.first, c.second)
		machine.Machine = true
		at := slices.IndexFunc(machine.Insts, func(in ir.Inst) bool { return in.Text == "mov.u32 %r6, 0" })
		machine.Uniform = []ir.Reg{machine.Insts[at].Pre[0].Dst}
		res, err := refine.Compare(t.Context(), text("", ""), machine, refine.Options{Runs: 4, Search: 1 << 20, Shared: true})
		require.NoError(t, err)
		require.Equal(t, c.wrong, len(res.Findings) > 0, "%q %q %v", c.first, c.second, res.Findings)
	}
}

// TestApart: neighbours are one apart, whichever of them is odd.
func TestApart(t *testing.T) {
	one, two := math.Float64bits(1), uint64(math.Float32bits(2))
	for _, c := range [][3]uint64{{one, one, 0}, {one, one + 1, 1}, {one + 1, one + 2, 1}, {one + 4, one + 1, 3}, {0, one, one}, {1<<63 | 3, 4, 7},
		{two, two + 1, 1}, {two + 1, two + 2, 1}, {1<<31 | two, two, 2 * two}, {1, 2, 0}} {
		require.Equal(t, c[2], refine.Apart(c[0], c[1]), "%x %x", c[0], c[1])
	}
}
