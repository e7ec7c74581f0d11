package bug

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/match"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/reduce"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// pairs finds toolchains of llc and ptxas by name, the finding's first.
func pairs(t *testing.T, names ...string) (out []*toolchain.Toolchain) {
	t.Helper()
	all, errs := tested.LLC(t.Context(), toolchain.Options{})
	for _, e := range errs {
		t.Log(e)
	}
	for _, n := range names {
		found, err := toolchain.Find(all, n)
		if err != nil {
			required.Missing(t, "%v", err)
		}
		out = append(out, found...)
	}
	return out
}

// inputPair reduces a finding of kernels in LLVM IR for NVIDIA.
func inputPair(t *testing.T, test, level string, layout spec.Layout, sig reduce.Signature, tcs []*toolchain.Toolchain) *Input {
	t.Helper()
	lt, ok := corpus.Lookup(test)
	require.True(t, ok)
	f := &reduce.Finding{Test: lt, Toolchain: tcs[0], Target: "sm_80", Level: level, Layout: layout, Signature: sig}
	res, err := reduce.Run(t.Context(), f, reduce.Options{Audit: audit.Options{Source: pipeline.LLVMIR}})
	require.NoError(t, err)
	require.Equal(t, sig.Stage, res.Min.Signature.Stage)
	require.NotEmpty(t, res.Steps)
	where, err := reduce.Locate(t.Context(), &res.Min, tcs, audit.Options{Source: pipeline.LLVMIR})
	require.NoError(t, err)
	return &Input{Result: res, Where: where, Toolchains: tcs,
		Audit: audit.Options{Source: pipeline.LLVMIR}, Form: "llvm", Tool: "test", Host: Host{OS: "Debian", Arch: "amd64"}}
}

// bundleIn builds a bundle in a clean folder and returns it with a function that runs
// its Makefile there, with nothing but make, awk and what is given.
func bundleIn(t *testing.T, in *Input, llvm []string) (*Bundle, func(...string) (string, bool)) {
	t.Helper()
	b, err := Build(t.Context(), in)
	require.NoError(t, err)
	again, err := Build(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, b, again)
	checkArchives(t, b)
	dir := filepath.Join(t.TempDir(), "a folder", "bundle")
	require.NoError(t, b.WriteDir(dir))
	return b, func(args ...string) (string, bool) {
		cmd := exec.CommandContext(t.Context(), "make", append([]string{"-s"}, args...)...)
		cmd.Dir, cmd.Env = dir, append([]string{"PATH=/usr/bin:/bin", "LANG=C"}, llvm...)
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
}

// mending returns an llc whose output sed changes.
func mending(t *testing.T, llc, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "llc")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\n%s \"$@\" && sed -i '%s' min.ptx\n", llc, script), 0o755))
	return path
}

// environment returns what llc needs to find its library.
func environment(t *testing.T, major int) []string {
	t.Helper()
	all, _ := tested.LLVM(t.Context(), toolchain.Options{})
	for _, tc := range all {
		if tc.Major() == major && tc.Kind.(*toolchain.LLVM).LLC != "" {
			return tc.Kind.(*toolchain.LLVM).Environment()
		}
	}
	t.Fatalf("no LLVM %d", major)
	return nil
}

// TestReproduceLLC writes bundles of llc's findings into clean folders and runs their
// Makefiles with llc alone. Where the output is right, they say so: that of a release
// which is, or one that is mended on its way.
func TestReproduceLLC(t *testing.T) {
	needs(t, "make", "awk", "sed")
	for _, c := range []struct {
		test, rule, toolchain, title, marked, access string
		right, wrong                                 []string // changes of the PTX
		good                                         string   // a toolchain whose llc is right
	}{
		{test: "exch-sl+release.gpu+acquire.gpu", rule: "fence-removed", toolchain: "22+12.4", title: "llc 22.1.8, sm_80 -O0: the order of an access is lost (atom.release.gpu.exch.b32)",
			marked: "// #1   <== fence-removed: T0 #1", access: "atom.global.exch.b32 %r3, [%rd1], %r2;",
			right: []string{"s/atom.global.exch/atom.release.gpu.global.exch/", "s/atom.global.exch/atom.acq_rel.sys.global.exch/", "s/\\tatom.global.exch/\\tfence.acq_rel.gpu;\\n&/",
				"s/\\tatom.global.exch/\\tfence.sc.sys;\\n&/", "s/\\tatom.global.exch/\\tmembar.gl;\\n&/"},
			wrong: []string{"s/atom.global.exch/atom.release.cta.global.exch/", "s/atom.global.exch/atom.acquire.gpu.global.exch/", "s/\\tatom.global.exch/\\tfence.acq_rel.cta;\\n&/",
				"s/\\tatom.global.exch.*/&\\n\\tfence.acq_rel.gpu;/", "s/atom.global.exch/atom.relaxed.gpu.global.exch/"}},
		{test: "dlb-lb+acq_rel.gpus", rule: "fence-removed", toolchain: "19+12.4", title: "the order of an access is lost", marked: "<== fence-removed",
			access: "atom.global.cas.b32", good: "22+12.4"},
		{test: "cas-sl+release.sys+acquire.sys", rule: "weakened", toolchain: "22+12.4", title: "an access is weaker than written", marked: "<== weakened",
			access: "atom.global.exch.b32", right: []string{"s/atom.global.exch/atom.relaxed.sys.global.exch/"}, wrong: []string{"s/atom.global.exch/atom.release.gpu.global.exch/"}},
		{test: "coRR+weaks", rule: "merged", toolchain: "22+12.4", title: "two accesses become one", marked: "// no instruction for #1   <== merged: T0 #1",
			right: []string{"s/\\tld.global.b32.*/&\\n&/"}, wrong: []string{"s/ld.global.b32/ld.relaxed.gpu.global.b32/"}},
	} {
		t.Run(c.test, func(t *testing.T) {
			tcs := pairs(t, c.toolchain)
			if c.good != "" {
				tcs = append(tcs, pairs(t, c.good)...)
			}
			in := inputPair(t, c.test, "O3", spec.Pointers, reduce.Signature{Rule: c.rule, Stage: match.StageLLC}, tcs)
			b, make := bundleIn(t, in, environment(t, tcs[0].Kind.(*toolchain.LLC).Major()))
			require.Contains(t, b.Title, c.title)
			text := string(b.File("report.md"))
			require.Contains(t, text, c.marked)
			require.Contains(t, text, c.access)
			require.Contains(t, text, "Wrong PTX")
			require.Equal(t, in.Cell.Class != event.Miscompiled, strings.Contains(text, "This is not a report of a miscompilation"))
			require.Contains(t, string(b.File("interesting.sh")), "--stage llc --source llvm-ir")
			llc := tcs[0].Kind.(*toolchain.LLC).Path
			out, ok := make("LLC=" + llc)
			require.True(t, ok, out)
			require.Contains(t, out, "REPRODUCED: ")
			require.NotContains(t, out, "NOT REPRODUCED")
			for _, sed := range c.right {
				out, ok = make("LLC=" + mending(t, llc, sed))
				require.False(t, ok, "%s: %s", sed, out)
				require.Contains(t, out, "NOT REPRODUCED: the access", sed)
				require.NotContains(t, out, "by hand")
			}
			for _, sed := range c.wrong {
				out, ok = make("LLC=" + mending(t, llc, sed))
				require.True(t, ok, "%s: %s", sed, out)
			}
			require.Equal(t, c.good == "", b.File("good.ptx") == nil)
			if c.good != "" {
				_, make = bundleIn(t, in, environment(t, tcs[1].Kind.(*toolchain.LLC).Major()))
				out, ok = make("LLC=" + tcs[1].Kind.(*toolchain.LLC).Path)
				require.False(t, ok, out)
				require.Contains(t, out, "NOT REPRODUCED: the access is as strong as written")
			}
			for _, none := range []string{"/nonexistent/llc", mending(t, llc, "s/.entry min_T/.entry other_T/"), mending(t, llc, "s/^.st.*//")} {
				out, ok = make("LLC=" + none)
				require.False(t, ok, out)
				require.NotContains(t, out, "the access is as strong as written")
			}
		})
	}
}

// TestReproducePtxasOfIR: where ptxas is to blame, the program is the PTX that llc
// wrote, and llc is not needed.
func TestReproducePtxasOfIR(t *testing.T) {
	needs(t, "make", "awk")
	tcs := pairs(t, "22+12.4")
	in := inputPair(t, "dlb-mp+release.gpu+acquire.gpu", "O3", spec.Offsets, reduce.Signature{Rule: "reordered", Stage: match.StagePtxas}, tcs)
	b, make := bundleIn(t, in, nil)
	require.Contains(t, b.Title, "ptxas 12.4.131, sm_80 -O1: accesses change places")
	text := string(b.File("report.md"))
	require.Contains(t, text, "what llc 22.1.8 writes of the LLVM IR")
	require.Contains(t, text, "This is not a report of a miscompilation")
	require.Contains(t, string(b.File("min.ll")), "define ptx_kernel")
	require.Contains(t, string(b.File("min.ptx")), "st.global.cs.b32")
	require.NotNil(t, b.File("good.sass"))
	tools := []string{"PTXAS=" + tcs[0].Ptxas, "NVDISASM=" + tcs[0].Nvdisasm}
	out, ok := make(tools...)
	require.True(t, ok, out)
	require.Contains(t, out, "REPRODUCED: the accesses are those of the finding")
	out, ok = make(append(tools, "OPT=-O0")...)
	require.False(t, ok, out)
	require.Contains(t, out, "NOT REPRODUCED: the accesses are as written")
}

// TestReproduceAMDIR: bundles of LLVM IR for AMD need llc alone.
func TestReproduceAMDIR(t *testing.T) {
	needs(t, "make", "awk")
	for _, c := range []struct {
		test, target, rule string
		major              int
		machine            string
	}{
		{"cl-sb", "gfx1030", "reordered", 22, "// #1   <== reordered: T0 #1"},
		{"cl-sb+mem_fences", "gfx900", "fence-removed", 19, "<== fence-removed: T0 #1"},
		{"cl-coRR", "gfx900", "merged", 14, "// no instruction for #1   <== merged: T1 #1"},
	} {
		in := inputAMD(t, c.test, c.target, c.rule, c.major, spec.Symbols, pipeline.LLVMIR)
		b, make := bundleIn(t, in, in.Min.Toolchain.Kind.(*toolchain.LLVM).Environment())
		require.True(t, strings.HasPrefix(b.Title, "llc "+in.Min.Toolchain.Version), b.Title)
		text := string(b.File("report.md"))
		require.Contains(t, text, c.machine, c.test)
		require.Contains(t, string(b.File("min.ll")), "define amdgpu_kernel")
		for _, not := range []string{"ptxas", "PTX)", "clang and", "OpenCL C", "min.cl"} {
			require.NotContains(t, text, not, c.test)
		}
		require.Contains(t, string(b.File("interesting.sh")), "--vendor amd --source llvm-ir")
		out, ok := make("LLC=" + in.Min.Toolchain.Kind.(*toolchain.LLVM).LLC)
		require.True(t, ok, "%s: %s", c.test, out)
		require.Contains(t, out, "REPRODUCED", c.test)
		if c.rule != "merged" { // that the back end does at every level
			out, ok = make("LLC="+in.Min.Toolchain.Kind.(*toolchain.LLVM).LLC, "OPT=-O0")
			require.False(t, ok, "%s: %s", c.test, out)
			require.Contains(t, out, "NOT REPRODUCED", c.test)
		}
	}
}

// TestStageUnknown: a finding of two compilers that none of them is known for makes
// no bundle.
func TestStageUnknown(t *testing.T) {
	f := &reduce.Finding{Toolchain: &toolchain.Toolchain{Kind: &toolchain.LLC{}, MaxPTX: "7.0"}, Signature: reduce.Signature{Rule: "value-changed"}}
	f.Test, _ = corpus.Lookup("mp")
	cell := event.Cell{Result: event.Result{Findings: []event.Finding{{Rule: "value-changed"}}}}
	in := &Input{Result: &reduce.Result{Start: *f, Min: *f, Cell: cell}, Form: "llvm"}
	_, err := Build(t.Context(), in)
	require.ErrorIs(t, err, ErrStage)
}

// TestAwkPTX: the script reads PTX as this package does, in what every llc makes of
// tests of the corpus.
func TestAwkPTX(t *testing.T) {
	needs(t, "awk")
	n := 0
	for _, tc := range pairs(t, "14+12.4", "19+12.4", "22+12.4") {
		var job toolchain.Job
		job.Target, job.Level = "sm_80", "O2"
		for _, lt := range corpus.Tests() {
			if u, err := ptxgen.EmitLLVMIR(lt, ptxgen.Options{Target: "sm_80", TypedIR: tc.Kind.(*toolchain.LLC).Major() <= 14}); err == nil {
				job.Units = append(job.Units, toolchain.Unit{Name: u.Name, Text: u.Text})
			}
		}
		res, err := tc.CompileIR(t.Context(), job)
		require.NoError(t, err)
		for _, batch := range res.Batches {
			file := filepath.Join(t.TempDir(), "min.ptx")
			require.NoError(t, os.WriteFile(file, batch.Text, 0o600))
			m, texts, err := kernelsOf(string(batch.Text))
			require.NoError(t, err)
			for _, f := range m.Funcs {
				list, err := match.Accesses(f.Name, texts[f.Name])
				require.NoError(t, err)
				b := &bundler{f: &reduce.Finding{}, prog: &program{spec: &spec.Spec{}, ambiguous: true}, find: event.Finding{Rule: "merged", Access: -1}}
				b.bad = &code{lines: accessesPTX(list), ptx: &match.PTXKernel{}}
				b.f.Test, _ = corpus.Lookup("mp")
				b.road = &llcRoad{b}
				script := strings.Replace(b.road.awk(), `kernel = "min_T0"`, `kernel = "`+f.Name+`"`, 1)
				cmd := exec.CommandContext(t.Context(), "awk", script, file)
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s: %s", texts[f.Name], out)
				n += len(list)
			}
		}
	}
	require.Greater(t, n, 500)
}
