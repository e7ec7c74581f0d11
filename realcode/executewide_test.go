package realcode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
)

// TestExecuteWide executes real kernels as releases compile them at O0 and O3, and logs a line for each: honest code must have no
// finding. OPTCHECK_EXECUTE names other files by a pattern, OPTCHECK_RELEASES and OPTCHECK_TARGETS what compiles them.
func TestExecuteWide(t *testing.T) {
	list := func(name, or string) []string {
		if s := os.Getenv(name); s != "" {
			or = s
		}
		return strings.Split(or, ",")
	}
	var files []string
	for _, pattern := range list("OPTCHECK_EXECUTE", "../program/cases/cbe-ht/cbe-ht.ptx,../program/cases/sdk-red/sdk-red.ptx,../program/cases/cub-scan/cub-scan.ptx") {
		more, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, more...)
	}
	for _, tc := range releases(t, list("OPTCHECK_RELEASES", "12.4")...) {
		for _, file := range files {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			m, err := ptx.Parse(file, src)
			if err != nil {
				t.Log(err)
				continue
			}
			for _, gpu := range list("OPTCHECK_TARGETS", "sm_90") {
				for _, level := range []string{"O0", "O3"} {
					b, err := build(t.Context(), tc, m, gpu, level)
					if err != nil {
						t.Logf("%s %s %s %s: not compiled: %v", filepath.Base(file), tc.Release(), gpu, level, err)
						continue
					}
					code, err := pipeline.Decode(t.Context(), tc, m.File, gpu, b.lined)
					require.NoError(t, err)
					all, err := executions(t.Context(), m, nil, code, refine.Options{Runs: 4})
					require.NoError(t, err)
					for i := range all {
						x := &all[i]
						t.Logf("%s %s %s %s %s: %s", filepath.Base(file), tc.Release(), gpu, level, x.Kernel, x.Known())
						if x.Result == nil {
							continue
						}
						for k := range x.Findings {
							f := &x.Findings[k]
							t.Errorf("%s (both %v, approximate %v, contracts %v): %s [%s | %s]", f.Rule, f.Both, f.Approximate,
								contracts(m, x.Kernel), f.Why, f.SourceText, f.MachineText)
						}
					}
				}
			}
		}
	}
}
