package realcode

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// TestOwnEnd: of two exchanges on two paths of a loop each is missed if it is taken from the machine
// code: the path of the one does not come to the other.
func TestOwnEnd(t *testing.T) {
	m := module(t, "testdata/paths.ptx")
	for _, tc := range releases(t, "11.8", "12.4") {
		code, err := Build(t.Context(), tc, m, "sm_80", "O3")
		require.NoError(t, err)
		r := &compiled{m, code.Program, 80}
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
