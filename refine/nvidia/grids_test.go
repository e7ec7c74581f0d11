package nvidia_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/ptx"
	"optcheck/refine"
	"optcheck/refine/nvidia"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/toolchain"
)

// TestGrids: a kernel that waits for other grids is executed; a wrong value, address or condition beside that is noticed.
func TestGrids(t *testing.T) {
	data, err := os.ReadFile("../../sass/lower/testdata/grids.ptx")
	require.NoError(t, err)
	text := string(data)
	m, err := ptx.Parse("grids.ptx", data)
	require.NoError(t, err)
	found, _ := toolchain.Discover(t.Context(), toolchain.Options{})
	ran := false
	for _, tc := range found {
		if tc.Release() != "12.4" {
			continue
		}
		ran = true
		for _, level := range []string{"O0", "O3"} {
			for _, c := range []struct{ old, new string }{{}, {"ra, 7, t", "ra, 9, t"}, {"q+4096", "q+4100"}, {"[p]", "[p+4]"},
				{"st.global.u32 [q], ra;", ""}} {
				head, body, _ := strings.Cut(text, ".visible")
				require.Contains(t, body, c.old)
				res, err := tc.Compile(t.Context(), toolchain.Job{Target: "sm_90", Level: level, Header: head,
					Units: []toolchain.Unit{{Name: "unit", Text: ".visible" + strings.Replace(body, c.old, c.new, 1)}}})
				require.NoError(t, err)
				require.Empty(t, res.Failed)
				cub := res.Batches[0].Cubin
				listing, err := tc.Disassemble(t.Context(), cub, toolchain.DisasmOptions{})
				require.NoError(t, err)
				p, err := sass.Parse("listing", listing)
				require.NoError(t, err)
				f, err := cubin.Parse(cub)
				require.NoError(t, err)
				got, err := nvidia.Compare(t.Context(), m, p, f, "k", refine.Options{Runs: 2})
				require.NoError(t, err)
				require.Equal(t, c.old == "", len(got.Findings) == 0, "%s %q", level, c.new)
				for _, x := range got.Findings {
					require.Empty(t, x.Unproved, "%s %q", level, c.new)
				}
			}
		}
	}
	if !ran {
		required.Missing(t, "no CUDA toolkit 12.4 found")
	}
}
