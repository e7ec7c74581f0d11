package realcode

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// arrivals is a kernel that copies twice. What stands between the copies is to be put in.
const arrivals = `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>;
	.shared .align 16 .b8 buf[4096]; .shared .align 8 .b64 b;
	ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out]; mov.u32 %%r1, %%tid.x; shl.b32 %%r2, %%r1, 4; mov.u32 %%r3, buf; add.u32 %%r3, %%r3, %%r2;
	cvt.u64.u32 %%rd3, %%r2; add.u64 %%rd1, %%rd1, %%rd3; add.u64 %%rd2, %%rd2, %%rd3;
	setp.ne.u32 %%p1, %%r1, 0;
	@%%p1 bra S;
	mbarrier.init.shared.b64 [b], 128;
S:	bar.sync 0;
	cp.async.ca.shared.global [%%r3], [%%rd1], 16;
	cp.async.mbarrier.arrive.shared.b64 [b];
%s	cp.async.ca.shared.global [%%r3+2048], [%%rd1+2048], 16;
	cp.async.mbarrier.arrive.shared.b64 [b];
	mbarrier.arrive.shared.b64 %%rd4, [b];
W:	mbarrier.test_wait.shared.b64 %%p2, [b], %%rd4;
	@!%%p2 bra W;
	ld.shared.u32 %%r4, [%%r3]; ld.shared.u32 %%r5, [%%r3+2048]; st.global.u32 [%%rd2], %%r4; st.global.u32 [%%rd2+4], %%r5;
	ret;
}
`

// TestDeferred: an arrival of copies that counts nothing may be left to the next one of its mbarrier, but past nothing that waits.
func TestDeferred(t *testing.T) {
	const wait = "\tmbarrier.arrive.shared.b64 %rd5, [b];\nV:\tmbarrier.test_wait.shared.b64 %p3, [b], %rd5;\n\t@!%p3 bra V;\n"
	for between, first := range map[string][]Rule{"": nil, wait: {Missing}} {
		m, err := ptx.Parse("k.ptx", fmt.Appendf(nil, arrivals, between))
		require.NoError(t, err)
		code, err := Build(t.Context(), releases(t, "12.4")[0], m, "sm_80", "O0")
		require.NoError(t, err)
		own := code.Program.Funcs[0]
		r := &compiled{m: m, prog: code.Program, sm: 80}
		require.Empty(t, r.said(m.Func("k"), own).Findings)
		var without [][]Rule
		for i := range own.Insts {
			if own.Insts[i].Op != "ARRIVES" {
				continue
			}
			g, rules := *own, []Rule(nil)
			g.Insts = slices.Clone(own.Insts)
			nothing(&g.Insts[i])
			g.BuildCFG()
			for _, f := range r.said(m.Func("k"), &g).Findings {
				rules = append(rules, f.Rule)
			}
			without = append(without, rules)
		}
		require.Equal(t, [][]Rule{first, {Missing}}, without, between)
	}
}
