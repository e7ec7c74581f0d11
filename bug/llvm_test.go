package bug

import (
	"os"
	"os/exec"
	"path/filepath"
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

// inputAMD takes a finding of the OpenCL corpus as it is, with the newest release of
// clang that has it.
func inputAMD(t *testing.T, test, target, rule string, major int, layout spec.Layout, source string) *Input {
	t.Helper()
	tcs, _ := tested.LLVM(t.Context(), toolchain.Options{})
	var tc *toolchain.Toolchain
	for _, x := range tcs {
		if x.Major() == major {
			tc = x
		}
	}
	if tc == nil {
		required.Missing(t, "no clang %d", major)
	}
	lt, ok := corpus.Lookup(test)
	require.True(t, ok)
	f := &reduce.Finding{Test: lt, Toolchain: tc, Target: target, Level: "O2", Layout: layout, Signature: reduce.Signature{Rule: rule}}
	cell, listing, err := f.Confirm(t.Context(), audit.Options{Source: source})
	require.NoError(t, err)
	return &Input{Result: &reduce.Result{Start: *f, Min: *f, Cell: *cell, Listing: listing}, Toolchains: []*toolchain.Toolchain{tc}, Form: "llvm", Tool: "test", Host: Host{OS: "Debian", Arch: "amd64"},
		Audit: audit.Options{Source: source}}
}

// TestReproduceAMD writes bundles of clang's findings into clean folders and runs
// their Makefiles with clang alone: the finding is there, and at O0 it is not.
func TestReproduceAMD(t *testing.T) {
	needs(t, "make", "awk")
	for _, c := range []struct {
		test, target, rule string
		major              int
		layout             spec.Layout
		markers            bool
		machine            string // a line of the report
	}{
		{"cl-coRR", "gfx900", "merged", 22, spec.Pointers, false, "// no instruction for #1   <== merged: T1 #1"},
		{"cl-sb", "gfx1030", "reordered", 22, spec.Symbols, false, "// #1   <== reordered: T0 #1"},
		{"cl-coRR+mem_fences", "gfx900", "wait-missing", 22, spec.Pointers, true, "<== wait-missing: T1 #1"},
		{"cl-cas-sl+acquire+release", "gfx900", "control-changed", 19, spec.Symbols, false, "<== control-changed: T1"},
	} {
		in := inputAMD(t, c.test, c.target, c.rule, c.major, c.layout, pipeline.OpenCL)
		b, err := Build(t.Context(), in)
		require.NoError(t, err, c.test)
		dir := filepath.Join(t.TempDir(), "bundle")
		require.NoError(t, b.WriteDir(dir))
		report := string(b.File("report.md"))
		require.Contains(t, report, c.machine, c.test)
		for _, not := range []string{"ptxas", "PTX)", "nvdisasm", "min.ptx"} {
			require.NotContains(t, report, not, c.test)
		}
		require.Equal(t, c.markers, strings.Contains(report, "mixed with constants"), "%s: %s", c.test, b.File("min.cl"))
		lt := in.Min.Toolchain
		run := func(more ...string) (string, error) {
			args := append([]string{"-s", "-C", dir, "CLANG=" + lt.Kind.(*toolchain.LLVM).Clang, "LIBCLC=" + lt.LibclcFile(c.target)}, more...)
			cmd := exec.CommandContext(t.Context(), "make", args...)
			cmd.Env = append(os.Environ(), lt.Kind.(*toolchain.LLVM).Environment()...)
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		out, err := run()
		require.NoError(t, err, "%s: %s", c.test, out)
		require.Contains(t, out, "REPRODUCED", c.test)
		out, err = run("OPT=-O0")
		require.Error(t, err, "%s: %s", c.test, out)
		require.Contains(t, out, "NOT REPRODUCED", c.test)
	}
}

// TestAccessesCL: the script and Build read a listing in the same way.
func TestAccessesCL(t *testing.T) {
	const listing = `min_T1:                                 ; @min_T1
; %bb.0:
	s_load_dwordx2 s[0:1], s[4:5], 0x0
	s_waitcnt lgkmcnt(0)                    ; a comment; with two parts
	global_load_dword v1, v0, s[0:1] glc dlc
	v_mov_b32_e32 v2, 1
	buffer_gl0_inv
	global_atomic_cmpswap v1, v0, v[1:2], s[6:7] glc
	ds_write_b32 v0, v1 offset:16
	s_barrier
	global_store_b32 v0, v1, s[0:1] scope:SCOPE_SYS
	s_endpgm
.Lfunc_end0:
	s_load_dword s0, s[0:1], 0x0
`
	list := accessesCL([]byte(listing), "min_T1")
	require.Equal(t, []string{"LD", "LD", "CACHE", "ATOM", "ST", "BAR", "ST"}, view(list, "class"))
	want := []string{"s_load_dwordx2", "s_waitcnt lgkmcnt(0)", "global_load_dword glc dlc", "buffer_gl0_inv", "global_atomic_cmpswap glc", "ds_write_b32", "s_barrier",
		"global_store_b32 scope:SCOPE_SYS"}
	require.Equal(t, want, view(list, "mnemonic"))
	needs(t, "awk")
	for _, how := range views {
		b := &bundler{f: &reduce.Finding{}, bad: &code{lines: list}, prog: &program{ambiguous: how == "text"}}
		b.find.Thread, b.find.Rule = 1, map[string]string{"class": "merged"}[how]
		require.Equal(t, how, b.view())
		b.road = &clRoad{bundler: b}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "check.awk"), []byte(b.road.awk()), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "min.s"), []byte(listing), 0o644))
		cmd := exec.CommandContext(t.Context(), "awk", "-f", "check.awk", "min.s")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotContains(t, string(out), "NOT REPRODUCED")
	}
}
