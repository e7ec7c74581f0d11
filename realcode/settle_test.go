package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
)

// TestSettle: a kernel is preserved if its stores were performed by runs that were compared or if it is proved, and else unknown.
func TestSettle(t *testing.T) {
	for _, c := range []struct{ name, body, class, reason string }{
		{"all", "setp.eq.u32 %p, %n, 12345; @%p st.global.u32 [%at+64], %n; st.global.u32 [%at], %n;", Preserved, ""},
		{"one that no input reaches, proved", "mul.lo.u32 %a, %n, %n; and.b32 %a, %a, 3; setp.eq.u32 %p, %a, 2; @%p st.global.u32 [%at+64], %n; " +
			"st.global.u32 [%at], %n;", Preserved, ""},
		{"one that no input reaches, forced", "activemask.b32 %a; setp.eq.u32 %p, %a, 5; @%p st.global.u32 [%at+64], %n; st.global.u32 [%at], %n;",
			Preserved, ""},
		{"one that no input reaches", "activemask.b32 %a; and.b32 %a, %a, 1; ts: .branchtargets A, B; brx.idx %a, ts; " +
			"A: st.global.u32 [%at+64], %n; B: st.global.u32 [%at], %n;", Unknown, "1 of 2 operations that write memory were performed by no run that was compared"},
		{"one that nothing reaches", "setp.ne.u32 %p, %n, %n; @%p st.global.u32 [%at+64], %n; st.global.u32 [%at], %n;", Preserved, ""},
		{"what is stored is undefined", "st.global.u32 [%at], %b;", Unknown, "in each run what they write is undefined"},
		{"a form that is not understood", "mov.u32 %a, %pm0; st.global.u32 [%at], %a;", Unknown, "not understood"},
		{"a product and a sum", "mov.u32 %a, %tid.x; mul.wide.u32 %o, %a, 4; add.u64 %at, %at, %o; cvt.rn.f32.u32 %f, %n; ld.global.f32 %g, [%at+128]; mul.f32 %h, %g, %g; add.f32 %f, %h, %f; mul.f32 %g, %f, 0f3F9D70A4; sub.f32 %f, %g, %h; " +
			"st.global.f32 [%at], %f;", Preserved, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ptx.Parse("t.ptx", []byte(`.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 number)
{
	.reg .b32 %n, %a, %b; .reg .b64 %at, %o; .reg .f32 %f, %g, %h; .reg .pred %p;
	ld.param.u64 %at, [out];
	ld.param.u32 %n, [number];
	`+c.body+`
	ret;
}
`))
			require.NoError(t, err)
			tc := releases(t, "12.4")[0]
			b, err := build(t.Context(), tc, m, "sm_80", "O3")
			require.NoError(t, err)
			code, err := pipeline.Decode(t.Context(), tc, m.File, "sm_80", b.lined)
			require.NoError(t, err)
			cell := &Cell{Target: "sm_80", Level: "O3"}
			require.NoError(t, cell.judge(t.Context(), m, tc, code, Runs))
			require.Equal(t, c.class, cell.Class, cell.Reason)
			require.Contains(t, cell.Reason, c.reason)
			if strings.HasPrefix(c.name, "a product") {
				require.True(t, cell.Result.Executed[0].Uncontracted)
			}
		})
	}
}

// TestOpen: what only runs decide is unknown without one, and stays a finding beside a difference that execution found.
func TestOpen(t *testing.T) {
	guess := Finding{Rule: Weakened, Kernel: "k", computed: true}
	for _, x := range []struct {
		also []Finding
		want string
	}{
		{nil, Unknown}, {[]Finding{{Rule: Missing, Kernel: "k"}}, Changed},
		{[]Finding{{Rule: WrongValue, Kernel: "k", Execution: &refine.Finding{}}}, Miscompiled},
	} {
		r := gather([]Kernel{{Name: "k", Result: Result{Findings: append([]Finding{guess}, x.also...)}}, {Name: "other"}})
		r.settle(false)
		class, _ := r.Class()
		require.Equal(t, x.want, class)
		require.Equal(t, class == Miscompiled, len(r.Findings) == 2, r.Findings)
		require.Equal(t, class != Miscompiled, len(r.Kernels[0].Unknown) == 1)
		require.Empty(t, r.Kernels[1].Unknown)
	}
}
