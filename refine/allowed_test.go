package refine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/ptx/lower"
	"optcheck/refine"
)

// lowered is the kernel k of a text in PTX.
func lowered(t *testing.T, text string) *ir.Program {
	t.Helper()
	m, err := ptx.Parse("t.ptx", []byte(text))
	require.NoError(t, err)
	p, err := lower.Kernel(m, "k")
	require.NoError(t, err)
	return p
}

// program is a kernel with a body.
func program(t *testing.T, body string) *ir.Program {
	t.Helper()
	p := lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
	.shared .align 4 .b8 s[256];
	ld.param.u64 %d0, [out];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	mov.u32 %r1, s;
	mad.lo.u32 %r2, %r0, 4, %r1;
	xor.b32 %r3, %r2, 4;
	`+body+`
	ret;
}
`)
	for i := range p.Insts {
		require.Empty(t, p.Insts[i].Opaque, p.Insts[i].Text)
	}
	return p
}

// TestAllowed compares programs with others that machine code may be, or may not be.
func TestAllowed(t *testing.T) {
	const exchange = "st.shared.u32 [%r2], %r0; bar.warp.sync 0xffffffff; ld.shared.u32 %r4, [%r3]; bar.warp.sync 0xffffffff; "
	const quick = "st.shared.u32 [%r2], %r0; ld.shared.u32 %r4, [%r3]; "
	const back = "st.shared.u32 [%r2], %r4; bar.warp.sync 0xffffffff; ld.shared.u32 %r5, [%r3]; st.global.u32 [%d1], %r5;"
	const dead = "ld.acquire.gpu.u32 %r5, [%d1+1024]; "
	const after = "ld.global.u32 %r4, [%d1+2048]; st.global.u32 [%d1+256], %r4; "
	const count = "red.relaxed.gpu.global.add.u32 [%d1+1536], 1; "
	const first = "setp.eq.u32 %p1, %r0, 31; "
	for _, c := range []struct {
		name, program, machine string
		rule                   refine.Rule // "" if it is allowed
	}{
		{"a barrier of the warp needs no instruction", exchange + "st.global.u32 [%d1], %r4;", quick + "st.global.u32 [%d1], %r4;", ""},
		{"twice", exchange + back, quick + "st.shared.u32 [%r2], %r4; ld.shared.u32 %r5, [%r3]; st.global.u32 [%d1], %r5;", ""},
		{"but not another lane", exchange + "st.global.u32 [%d1], %r4;", quick + "add.u32 %r4, %r4, 2; st.global.u32 [%d1], %r4;", refine.WrongValue},
		{"nor a load before the store", exchange + "st.global.u32 [%d1], %r4;",
			"ld.shared.u32 %r4, [%r3]; st.shared.u32 [%r2], %r0; st.global.u32 [%d1], %r4;", refine.WrongValue},
		{"relaxed atomics of different places change places", "red.global.add.u32 [%d1], 1; red.global.add.u32 [%d0+512], %r0;",
			"red.global.add.u32 [%d0+512], %r0; red.global.add.u32 [%d1], 1;", ""},
		{"not of one place", "red.global.add.u32 [%d0], 1; red.global.min.u32 [%d0], %r0;", "red.global.min.u32 [%d0], %r0; red.global.add.u32 [%d0], 1;",
			refine.WrongValue},
		{"not across a fence", "red.global.add.u32 [%d1], 1; membar.gl; red.global.add.u32 [%d0+512], %r0;",
			"red.global.add.u32 [%d0+512], %r0; membar.gl; red.global.add.u32 [%d1], 1;", refine.WrongAddress},
		{"one lane performs the minimum of all", "red.global.min.u32 [%d0], 7; red.global.and.b32 [%d0+4], 3;",
			first + "@%p1 red.global.min.u32 [%d0], 7; @%p1 red.global.and.b32 [%d0+4], 3;", ""},
		{"nobody performs it", "red.global.min.u32 [%d0], 7; red.global.and.b32 [%d0+4], 3;", "red.global.and.b32 [%d0+4], 3;", refine.NotPerformed},
		{"one lane adds for itself alone", "red.global.add.u32 [%d0], 7;", first + "@%p1 red.global.add.u32 [%d0], 7;", refine.NotPerformed},
		{"one acquire for two that nobody reads", "st.global.u32 [%d1], %r0; " + dead + dead + after, "st.global.u32 [%d1], %r0; " + dead + after, ""},
		{"none", "st.global.u32 [%d1], %r0; " + dead + after, "st.global.u32 [%d1], %r0; " + after, ""}, // orders are compared elsewhere
		{"not of what somebody reads", dead + after + "st.global.u32 [%d1+512], %r5;", after + "mov.u32 %r5, 0; st.global.u32 [%d1+512], %r5;", refine.NotPerformed},
		{"nor if something else is stored", dead + after, dead + after + "st.global.u32 [%d1+512], %r4;", refine.ExtraAccess},
		{"an atomic that nobody reads is a reduction", "atom.acquire.gpu.global.add.u32 %r5, [%d1+1024], 3; " + after + count,
			"red.relaxed.gpu.global.add.u32 [%d1+1024], 3; " + after + count, ""},
		{"not one that somebody reads", "atom.acquire.gpu.global.add.u32 %r5, [%d1+1024], 3; " + after + count + "st.global.u32 [%d1+512], %r5;",
			"atom.relaxed.gpu.global.add.u32 %r5, [%d1+1024], 3; " + after + count + "st.global.u32 [%d1+512], %r5;", refine.NotPerformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, machine := program(t, c.program), program(t, c.machine)
			machine.Machine = true
			res, err := refine.Compare(t.Context(), source, machine, refine.Options{Runs: 2, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}})
			require.NoError(t, err)
			require.Empty(t, res.Cannot)
			if c.rule == "" {
				require.Empty(t, res.Findings)
				require.NotZero(t, res.Compared)
				return
			}
			require.Len(t, res.Findings, 1)
			require.Equal(t, c.rule, res.Findings[0].Rule, res.Findings[0].Why)
		})
	}
}

// TestUnproved: a difference that rests on a form that no chip has confirmed says so, one beside it does not.
func TestUnproved(t *testing.T) {
	const both = "shl.b32 %r4, %r0, 1; add.u32 %r5, %r0, 7; st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r4;"
	for _, c := range []struct{ name, machine, form string }{
		{"the value", "shl.b32 %r4, %r0, 2; add.u32 %r5, %r0, 7; st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r4;", "shl.b32"},
		{"another value", "shl.b32 %r4, %r0, 1; add.u32 %r5, %r0, 8; st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r4;", ""},
		{"a condition", "shl.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 62; add.u32 %r5, %r0, 7; @!%p1 st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r4;", "shl.b32"},
		{"an address", "shl.b32 %r4, %r0, 1; cvt.u64.u32 %d2, %r4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r4;", "shl.b32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, machine := program(t, both), program(t, c.machine)
			machine.Machine = true
			for i := range machine.Insts {
				machine.Insts[i].Unproved = machine.Insts[i].Form == "shl.b32"
			}
			res, err := refine.Compare(t.Context(), source, machine, refine.Options{Runs: 1, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}})
			require.NoError(t, err)
			require.Len(t, res.Findings, 1)
			if c.form == "" {
				require.Empty(t, res.Findings[0].Unproved)
				return
			}
			require.Equal(t, []string{c.form}, res.Findings[0].Unproved)
		})
	}
}
