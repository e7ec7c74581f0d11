package bug

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"optcheck/audit"
	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/reduce"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// input reduces a finding of the corpus with the real compilers.
func inputOf(t *testing.T, test, release, target string, layout spec.Layout, keep ...string) *Input {
	t.Helper()
	tcs, errs := tested.CUDA(t.Context(), toolchain.Options{})
	for _, e := range errs {
		t.Log(e)
	}
	found, err := toolchain.Find(tcs, release)
	if err != nil {
		required.Missing(t, "%v", err)
	}
	lt, ok := corpus.Lookup(test)
	require.True(t, ok)
	f := &reduce.Finding{Test: lt, Toolchain: found[0], Target: target, Level: "O3", Layout: layout}
	res, err := reduce.Run(t.Context(), f, reduce.Options{Keep: keep})
	require.NoError(t, err)
	// Locating in one release is enough here: its levels give the good code.
	where, err := reduce.Locate(t.Context(), &res.Min, found[:1], audit.Options{})
	require.NoError(t, err)
	return &Input{Result: res, Where: where,
		Toolchains: found, Form: "nvidia", Tool: "test", Host: Host{OS: "Debian", Arch: "amd64"}}
}

// needs skips a test for which a tool is missing.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			required.Missing(t, "%v", err)
		}
	}
}

// TestReproduce writes bundles of real findings into clean folders and runs
// their Makefiles with ptxas and nvdisasm alone.
func TestReproduce(t *testing.T) {
	needs(t, "make", "awk")
	for _, c := range []struct {
		test, release, target string
		layout                spec.Layout
		title, bad, report    string
	}{
		{"mp+membar.gls", "11.8", "sm_35", spec.Offsets, "a fence is weaker than written (membar.gl)",
			"LD.E.CG | MEMBAR.CTA | CCTL.IVALL | LD.E.CG", "MEMBAR.CTA                                   // #1   <== fence-weakened: T1 #1"},
		{"coRR", "12.4", "sm_80", spec.Symbols, "two accesses become one", "LD", "This is not a report of a miscompilation"},
		{"mbar-mp-unguarded-strong", "12.4", "sm_90", spec.Pointers, "the order of an access is lost", "FENCE.VIEW.ASYNC.S | SYNCS.EXCH.64 URZ, [UR4], UR6 | " +
			"BAR.SYNC.DEFER_BLOCKING 0xf | SYNCS.PHASECHK.TRANS64 P0, [UR4], RZ | LDG.E.STRONG.SM R3, desc[UR6][R2.64] | " +
			"STG.E desc[UR6][R4.64+0x400], R7 | STG.E desc[UR6][R4.64], R3", "the source has no data race"},
		{"dlb-mp", "11.2", "sm_70", spec.Offsets, "accesses change places", "LD | ST", "// #1   <== reordered: T0 #1"},
	} {
		t.Run(c.test, func(t *testing.T) {
			in := inputOf(t, c.test, c.release, c.target, c.layout)
			b, err := Build(t.Context(), in)
			require.NoError(t, err)
			require.Contains(t, b.Title, c.title)
			report := string(b.File("report.md"))
			require.Contains(t, report, c.report)
			require.Contains(t, report, in.Min.Toolchain.Build)
			require.Contains(t, string(b.File("execution.svg")), "<svg")

			dir := filepath.Join(t.TempDir(), "a folder", "bundle")
			require.NoError(t, b.WriteDir(dir))
			out, code := runMake(t, dir, in.Min.Toolchain)
			require.Equal(t, 0, code, out)
			require.Contains(t, out, "REPRODUCED")
			require.Contains(t, out, "machine  "+c.bad+"\n")
			// Where the compiler keeps the program, the Makefile says so.
			out, code = runMake(t, dir, in.Min.Toolchain, "OPT=-O0")
			require.NotEqual(t, 0, code, out)
			require.Contains(t, out, "NOT REPRODUCED: the accesses are as written")
			// A tool that is not there is no reproduction either.
			_, code = runMake(t, dir, &toolchain.Toolchain{Ptxas: "/nonexistent/ptxas", Nvdisasm: "/nonexistent/nvdisasm"})
			require.NotEqual(t, 0, code)

			// The same finding gives the same files.
			again, err := Build(context.Background(), in)
			require.NoError(t, err)
			require.Equal(t, b, again)
			checkArchives(t, b)
			if c.test != "coRR" {
				return
			}
			for _, form := range Forms {
				in.Form = form
				other, err := Build(t.Context(), in)
				require.NoError(t, err)
				require.Contains(t, string(other.File("report.md")), c.report, form)
			}
		})
	}
}

// runMake runs a bundle's Makefile in an environment that has nothing but make,
// awk and the two tools.
func runMake(t *testing.T, dir string, tc *toolchain.Toolchain, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"PTXAS=" + tc.Ptxas, "NVDISASM=" + tc.Nvdisasm}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LANG=C"}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// checkArchives: txtar and zip hold the same files, and the manifest's hashes
// are theirs.
func checkArchives(t *testing.T, b *Bundle) {
	t.Helper()
	var m manifest
	require.NoError(t, json.Unmarshal(b.File("manifest.json"), &m))
	text, err := b.Txtar()
	require.NoError(t, err)
	var zipped bytes.Buffer
	require.NoError(t, b.WriteZip(&zipped))
	z, err := zip.NewReader(bytes.NewReader(zipped.Bytes()), int64(zipped.Len()))
	require.NoError(t, err)
	files := txtar.Parse(text).Files
	require.Len(t, files, len(b.Files))
	require.Len(t, z.File, len(b.Files))
	for i, f := range b.Files {
		require.Equal(t, f.Name, files[i].Name)
		require.Equal(t, f.Name, z.File[i].Name)
		require.Equal(t, f.Exec, z.File[i].Mode()&0o100 != 0)
		if f.Name != "manifest.json" {
			require.Equal(t, sum(f.Data), m.Files[f.Name], f.Name)
		}
		require.Contains(t, string(b.File("report.md")), "`"+map[bool]string{true: "Makefile", false: f.Name}[f.Name == "check.awk" || f.Name == "report.md"]+"`")
	}
}

// TestWriteDir: a folder with anything of somebody else's is left alone.
func TestWriteDir(t *testing.T) {
	b := &Bundle{Files: []File{{Name: "a", Data: []byte("1")}, {Name: "i.sh", Exec: true},
		{Name: "manifest.json", Data: []byte(`{"optcheck":"v","sha256":{"a":"` + sum([]byte("1")) + `","i.sh":"` + sum(nil) + `"}}`)}}}
	dir := filepath.Join(t.TempDir(), "x", "y")
	require.NoError(t, b.WriteDir(dir))
	require.NoError(t, b.WriteDir(dir), "an older bundle is replaced")
	info, err := os.Stat(filepath.Join(dir, "i.sh"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&0o100)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("changed since"), 0o600))
	require.ErrorContains(t, b.WriteDir(dir), `"a" is not as the bundle there had it`)
	require.FileExists(t, filepath.Join(dir, "i.sh"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("1"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	require.ErrorContains(t, b.WriteDir(dir), `holds "mine"`)
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "Makefile"), []byte("all:"), 0o600))
	require.ErrorContains(t, b.WriteDir(foreign), "neither empty nor a bundle")
	text, err := os.ReadFile(filepath.Join(foreign, "Makefile"))
	require.NoError(t, err)
	require.Equal(t, "all:", string(text))
	file := filepath.Join(foreign, "Makefile")
	require.Error(t, b.WriteDir(file))
}

func TestTxtarRefusesAmbiguity(t *testing.T) {
	b := &Bundle{Files: []File{{Name: "test.litmus", Data: []byte("PTX x\n-- Makefile --\nall: ; touch pwned\n")}}}
	_, err := b.Txtar()
	require.ErrorContains(t, err, "marks of txtar")
}

func TestUnknownForm(t *testing.T) {
	_, err := Build(t.Context(), &Input{Form: "letter"})
	require.ErrorContains(t, err, strings.Join(Forms, ", "))
}
