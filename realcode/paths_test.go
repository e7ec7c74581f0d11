package realcode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// TestOwnEnd: of two exchanges on two paths of a loop each is missed if it is taken from the machine
// code: the path of the one does not come to the other.
func TestOwnEnd(t *testing.T) {
	m := module(t, "testdata/paths.ptx")
	for _, tc := range releases(t, "11.8", "12.4") {
		code, err := Build(t.Context(), tc, m, "sm_80", "O3")
		require.NoError(t, err)
		r := &compiled{m: m, prog: code.Program, sm: 80}
		f := m.Func("ends")
		own := code.Program.Funcs[slices.IndexFunc(code.Program.Funcs, func(g *isa.Func) bool { return g.Name == f.Name })]
		require.Empty(t, r.said(f, own).Findings, tc.ID)
		src, err := readSource(m, f)
		require.NoError(t, err)
		tried := 0
		for _, x := range codeMutants(src, own) {
			if x.kind == "atomic dropped" {
				tried++
				res := r.said(f, x.code)
				require.NotEmpty(t, res.Findings, "%s: %s", tc.ID, x.what)
				require.Equal(t, Missing, res.Findings[0].Rule)
			}
		}
		require.Equal(t, 2, tried, tc.ID)
	}
}

// TestNarrow: a barrier that is made twice, or moved, is found where the conditions of what stands
// around it, or of where control goes, make too many places.
func TestNarrow(t *testing.T) {
	m, tc, tried := module(t, "testdata/paths.ptx"), releases(t, "12.4")[0], map[string]bool{}
	code, err := Build(t.Context(), tc, m, "sm_80", "O3")
	require.NoError(t, err)
	honest := Check(m, code.Program, 80)
	require.Empty(t, slices.Concat(honest.Findings, honest.Unknown))
	for _, x := range mutants(m) {
		if x.kernel == "ends" || tried[x.kernel+x.kind] || x.kind != "move" && x.kind != "duplicate" {
			continue
		}
		tried[x.kernel+x.kind] = true
		code := changed(t, tc, m, x.text, "sm_80", "O3")
		res := Check(m, code.Program, 80)
		require.NotEmpty(t, res.Findings, "%s: %v", x.what, res.Unknown)
	}
	require.Len(t, tried, 4)
}

// TestTurns: in a loop, a load under a condition that is moved behind a barrier is no load of the next turn, where the conditions
// of the others make too many places to know each.
func TestTurns(t *testing.T) {
	const n = 20
	var conds, loads, stores strings.Builder
	for i := range n {
		fmt.Fprintf(&conds, "and.b32 %%r8, %%r1, %d; setp.ne.u32 %%p%d, %%r8, 0;\n", 1<<i, i)
		fmt.Fprintf(&loads, "@%%p%d ld.global.u32 %%v%d, [%%rd1+%d];\n", i, i, 4096*i)
		fmt.Fprintf(&stores, "@%%p%d bra $s%d;\n$l%d: ld.volatile.global.u32 %%r9, [%%rd2+%d]; setp.eq.u32 %%p28, %%r9, 0;\n@%%p28 bra $l%d;\n"+
			"st.global.u32 [%%rd2+%d], %%v%d;\n$s%d:\n", i, i, i, 4096*i, i, 4096*i, i, i)
	}
	m, err := ptx.Parse("turns.ptx", []byte(`.version 7.8
.target sm_80
.address_size 64
.visible .entry turns(.param .u64 in, .param .u64 out, .param .u32 turns)
{
.reg .pred %p<30>; .reg .b32 %r<10>, %v<30>; .reg .b64 %rd<4>;
.shared .align 4 .b8 cell[512];
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [turns]; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; mov.u32 %r5, cell; add.u32 %r6, %r5, %r4;
$turn:
`+conds.String()+loads.String()+`bar.sync 0;
st.shared.u32 [%r6], %r1;
bar.sync 0;
ld.shared.u32 %r7, [cell+4];
st.global.u32 [%rd2+131072], %r7;
`+stores.String()+`add.u32 %r1, %r1, %r7; add.s64 %rd1, %rd1, 4; add.s64 %rd2, %rd2, 4; setp.ne.u32 %p29, %r1, 0;
@%p29 bra $turn;
ret;
}
`))
	require.NoError(t, err)
	tc := releases(t, "12.4")[0]
	code := changed(t, tc, m, nil, "sm_80", "O3")
	honest := Check(m, code.Program, 80)
	require.Empty(t, slices.Concat(honest.Findings, honest.Unknown))
	at := slices.IndexFunc(mutants(m), func(x mutant) bool { return x.kind == "move" && strings.Contains(x.what, "bar.sync 0 before @") })
	x := mutants(m)[at]
	res := Check(m, changed(t, tc, m, x.text, "sm_80", "O3").Program, 80)
	require.NotEmpty(t, res.Findings, "%s: %v", x.what, res.Unknown)
	require.Equal(t, Reordered, res.Findings[0].Rule)
}
