package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

var update = flag.Bool("update", false, "write golden files from the installed toolchains")

// goldenTests are disassembled for the golden files: orders, fences of all
// kinds, dependencies, predicates, atomics, shared memory.
var goldenTests = []string{"coRR", "mp-L1+membar.gls", "mp+membar.gl+addr", "dlb-mp+membar.gls", "cas-sl", "sb", "mp+release.gpu+acquire.gpu"}

var goldenTargets = []struct{ target, level string }{
	{"sm_35", "O3"}, {"sm_50", "O3"}, {"sm_70", "O0"}, {"sm_75", "O3"}, {"sm_80", "O3"}, {"sm_90", "O3"},
}

// kernelResult is a line of a golden results file.
type kernelResult struct {
	Kernel   string          `json:"kernel"`
	Class    string          `json:"class"`
	Findings []event.Finding `json:"findings,omitempty"`
	Notes    []event.Finding `json:"notes,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}

// goldenUnits emits the golden tests for a target; those that the target lacks
// something for are left out.
func goldenUnits(t *testing.T, target string, maxV ptxgen.Version) (v ptxgen.Version, units []toolchain.Unit) {
	for _, name := range goldenTests {
		test, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		for _, l := range spec.Layouts {
			u, err := ptxgen.Emit(test, ptxgen.Options{Target: target, Layout: l})
			if err != nil || u.Version > maxV {
				continue
			}
			v = max(v, u.Version)
			units = append(units, toolchain.Unit{Name: u.Name, Text: u.Text})
		}
	}
	return v, units
}

func checkAll(t *testing.T, file string, text []byte) []byte {
	code, err := pipeline.ParseDump(file, text)
	require.NoError(t, err)
	require.Empty(t, code.Program.Problems)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	c := optcheck.NewChecker()
	for _, fn := range code.Program.Funcs {
		r, err := c.Check(fn)
		require.NoError(t, err, fn.Name)
		require.NoError(t, enc.Encode(kernelResult{fn.Name, r.Class.String(), appendFindings(nil, r.Findings), appendFindings(nil, r.Notes), r.Reason}))
	}
	return out.Bytes()
}

// TestGolden checks disassemblies of each release that are kept in the
// repository, and, where the release is installed, that it still produces them.
func TestGolden(t *testing.T) {
	tcs, _ := tested.CUDA(context.Background(), toolchain.Options{})
	live := 0
	for _, tc := range tcs {
		for _, g := range goldenTargets {
			if !tc.HasTarget(g.target) {
				continue
			}
			maxV, err := ptxgen.ParseVersion(tc.MaxPTX)
			require.NoError(t, err)
			v, units := goldenUnits(t, g.target, maxV)
			res, err := tc.Compile(t.Context(), toolchain.Job{Target: g.target, Level: g.level, LineInfo: true, Header: ptxgen.Header(v, g.target), Units: units})
			require.NoError(t, err)
			require.Empty(t, res.Failed)
			require.Len(t, res.Batches, 1)
			text, err := tc.Disassemble(t.Context(), res.Batches[0].Cubin, toolchain.DisasmOptions{LineInfo: true, NoDataflow: true})
			require.NoError(t, err)
			file := filepath.Join("testdata", "golden", tc.Release(), g.target+"-"+g.level+".sass")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, text, 0o644))
				require.NoError(t, os.WriteFile(strings.TrimSuffix(file, ".sass")+".jsonl", checkAll(t, file, text), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), string(text), "%s no longer produces %s", tc.ID, file)
			live++
		}
	}
	if live == 0 && os.Getenv("OPTCHECK_REQUIRE_TOOLS") == "1" {
		t.Fatal("no toolchain found")
	}
	files, err := filepath.Glob("testdata/golden/*/*.sass")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		want, err := os.ReadFile(strings.TrimSuffix(f, ".sass") + ".jsonl")
		require.NoError(t, err)
		require.Equal(t, string(want), string(checkAll(t, f, text)), f)
	}
	t.Logf("%d golden files, %d compared live", len(files), live)
}
