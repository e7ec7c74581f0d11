package bug

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/pipeline"
	"optcheck/reduce"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

var update = flag.Bool("update", false, "write the examples of the documentation anew")

// TestExamples: the bundles in the documentation are what is written today for the
// findings that their manifests name, file by file.
func TestExamples(t *testing.T) {
	installed, _ := tested.CUDA(t.Context(), toolchain.Options{})
	for name, source := range map[string]string{"example-report": pipeline.PTX, "example-report-llvm": pipeline.LLVMIR} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("..", "docs", name)
			var m manifest
			text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &m))
			var tcs []*toolchain.Toolchain
			if source == pipeline.LLVMIR {
				tcs = pairs(t, "14+11.2", "14+11.8", "14+12.4", "19+11.2", "19+11.8", "19+12.4", "22+11.2", "22+11.8", "22+12.4")
			} else if tcs, err = toolchain.Find(installed, "11.2", "11.8", "12.4"); err != nil {
				required.Missing(t, "%v", err)
			}
			a, err := reduce.ParseAddress(m.Finding)
			require.NoError(t, err)
			f := &reduce.Finding{Target: a.Target, Level: a.Level, Signature: reduce.Signature{Rule: a.Rule}}
			f.Test, _ = corpus.Lookup(a.Test)
			f.Layout, err = spec.ParseLayout(a.Layout)
			require.NoError(t, err)
			at := slices.IndexFunc(tcs, func(tc *toolchain.Toolchain) bool {
				return strings.Contains(m.Finding, "@"+strings.ReplaceAll(tc.ID, " ", "-")+"/")
			})
			require.GreaterOrEqual(t, at, 0)
			f.Toolchain = tcs[at]

			base := audit.Options{}
			if source == pipeline.LLVMIR {
				base.Source = source
			}
			res, err := reduce.Run(t.Context(), f, reduce.Options{Audit: base})
			require.NoError(t, err)
			where, err := reduce.Locate(t.Context(), &res.Min, tcs, base)
			require.NoError(t, err)
			b, err := Build(t.Context(), &Input{Result: res, Where: where,
				Toolchains: tcs, Audit: base, Form: m.Form, Tool: m.Optcheck, Host: m.Host})
			require.NoError(t, err)
			if *update {
				require.NoError(t, b.WriteDir(dir))
			}
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, entries, len(b.Files))
			for _, file := range b.Files {
				want, err := os.ReadFile(filepath.Join(dir, file.Name))
				require.NoError(t, err)
				require.Equal(t, string(want), string(file.Data), file.Name)
			}
		})
	}
}
