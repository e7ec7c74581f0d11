package program

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/ptx"
	"optcheck/realcode"
)

// everything reports whether tests look at all that there is, and not at a part that
// is done in seconds.
func everything() bool { return os.Getenv("OPTCHECK_FULL") == "1" }

// TestCases: of each program that the binary has there are the source that it was
// written in, what was made of that, and what the file says of it.
func TestCases(t *testing.T) {
	made := map[string]bool{}
	for _, name := range Names() {
		p, err := Load(name)
		require.NoError(t, err)
		require.Equal(t, name, p.Name)
		require.NotEmpty(t, p.PTX.Text, name)
		require.NotEmpty(t, p.OpenCL.Text, name)
		m, err := ptx.Parse(p.PTX.Name, p.PTX.Text)
		require.NoError(t, err)
		launches := p.Launches
		for _, c := range p.Check {
			if c.Launch != nil {
				launches = append(launches, *c.Launch)
			}
		}
		for _, l := range launches {
			f := m.Func(l.Kernel)
			require.NotNil(t, f, "%s: %s", name, l.Kernel)
			require.Len(t, f.Params, len(l.Args), "%s: %s", name, l.Kernel)
			require.Contains(t, string(p.OpenCL.Text), "kernel void "+l.Kernel+"(", name)
		}
		for _, size := range p.Sizes {
			_, err := p.With(size)
			require.NoError(t, err, name)
		}
		stem := strings.TrimSuffix(p.PTX.Name, ".ptx")
		require.Equal(t, stem+".cl", p.OpenCL.Name)
		require.FileExists(t, filepath.Join(filepath.Dir(p.File), stem+".cu"))
		made[filepath.Join(filepath.Dir(p.File), stem)] = true
	}
	sources, err := filepath.Glob("cases/*/*.cu")
	require.NoError(t, err)
	require.Len(t, sources, len(made), "each source is a program's")
}

// TestCasesMade: what is beside the sources was made of them, by scripts/programs.sh.
func TestCasesMade(t *testing.T) {
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	if !everything() {
		t.Skip("OPTCHECK_FULL=1 makes all programs again")
	}
	if _, err := os.Stat(filepath.Join(cache, "optcheck", "fronts", "12.4", "complete")); err != nil {
		required.Missing(t, "no front end of NVIDIA (scripts/real-code/front.sh 12.4): %v", err)
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("cases")))
	sources, err := filepath.Glob(filepath.Join(dir, "*", "*.cu"))
	require.NoError(t, err)
	text, err := exec.Command("../scripts/programs.sh", sources...).CombinedOutput() //nolint:gosec // a script of this repository
	require.NoError(t, err, "%s", text)
	for _, cu := range sources {
		for _, ext := range []string{".ptx", ".cl"} {
			made := strings.TrimSuffix(cu, ".cu") + ext
			rel, err := filepath.Rel(dir, made)
			require.NoError(t, err)
			want, err := os.ReadFile(made)
			require.NoError(t, err)
			got, err := os.ReadFile(filepath.Join("cases", rel))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), "%s: scripts/programs.sh makes another one", rel)
		}
	}
}

// explained are the programs in whose machine code there are findings, by what a name
// of a release begins with, and what they are.
var explained = map[string]map[string]string{
	// The first turn of the walk down the tree stands in front of its loop. The comparison
	// takes the loads there for all, and misses those behind the fence of the loop: a false
	// alarm.
	"ls-bh-sound": {"ptxas 11.2": "global.u32"},
}

// undecided are the cells in which nobody can tell, and why: a loop overwrites the address of a store 44 cycles after it, and waits
// for nothing (11.8 and 12.4).
var undecided = map[string]string{"cbe-ht sm_80": "nothing waits for scoreboard 0 of STG.E [R12.64], R17 before IMAD.MOV"}

// TestCasesMachineCode: the machine code of each program has all that its PTX has, by
// each release that is installed, or the findings are explained, or a reason is known why nobody can tell.
func TestCasesMachineCode(t *testing.T) {
	seen := map[string]bool{}
	o := realcode.Options{Toolchains: compilers(t), Targets: []string{"sm_70", "sm_80", "sm_90"}, Levels: []string{"O3"}}
	if !everything() {
		o.Targets = o.Targets[1:2]
	}
	cells := 0
	for _, name := range Names() {
		p, err := Load(name)
		require.NoError(t, err)
		variant := name != filepath.Base(filepath.Dir(p.File)) && !strings.HasPrefix(name, "order-")
		if seen[p.PTX.Name] || variant && !everything() {
			continue
		}
		seen[p.PTX.Name] = true
		m, err := ptx.Parse(p.PTX.Name, p.PTX.Text)
		require.NoError(t, err)
		require.NoError(t, realcode.Audit(t.Context(), o, m, func(c *realcode.Cell) error {
			if c.Class == realcode.Unsupported && c.Target == "sm_90" {
				return nil // a release that does not know it
			}
			cells++
			at := strings.Join([]string{name, c.Toolchain, c.Target, c.Level}, " ")
			require.NotNil(t, c.Result, "%s: %s", at, c.Reason)
			for release, access := range explained[name] {
				if !strings.HasPrefix(c.Toolchain, release) {
					continue
				}
				for _, f := range c.Result.Findings {
					require.Equal(t, realcode.Reordered, f.Rule, at)
					require.Contains(t, f.Second.Text, access, at)
				}
				return nil
			}
			if why, open := undecided[name+" "+c.Target]; open && c.Class == realcode.Unknown {
				require.Empty(t, c.Result.Findings, at)
				require.True(t, slices.ContainsFunc(c.Result.Unknown, func(f realcode.Finding) bool {
					return f.Rule == realcode.Uncompared || strings.Contains(f.Detail, why)
				}), at)
				return nil
			}
			require.Empty(t, c.Result.Findings, at)
			for _, f := range c.Result.Unknown { // what only runs show
				require.Equal(t, realcode.Uncompared, f.Rule, "%s: %s", at, f.Detail)
			}
			return nil
		}))
	}
	require.Positive(t, cells)
}

// sound are the programs that are run in every test: by the memory model they are
// right, on a CPU too.
var sound = []string{"cbe-dot-fenced", "cbe-ht-fenced", "ct-octree-fenced", "tpo-tm-fenced", "sdk-red-sound", "cub-scan-sound", "ls-bh-sound",
	"order-broadcast-block", "order-corr-weak", "order-mp-fences", "order-mp-word", "order-reduce-acq-rel", "order-scan-fenced", "order-scan-chained"}

// mayFail are programs that a processor may well get wrong, or that are: x86 moves
// loads in front of stores, which the queue of ct-octree does not bear, and compilers
// load a plain flag once.
func mayFail(name string) bool {
	return strings.HasPrefix(name, "ct-octree") && name != "ct-octree-fenced" || name == "order-mp-plain" || strings.HasPrefix(name, "order-interleave")
}

// TestCasesRun: the programs are right on a CPU.
func TestCasesRun(t *testing.T) {
	s := isolated(t, "opencl")
	names := sound
	if everything() {
		names = Names()
	}
	for _, name := range names {
		p, err := Load(name)
		require.NoError(t, err)
		road, err := NewCLRoad(p, s.Device())
		require.NoError(t, err)
		m, err := NewMachine(t.Context(), p, s, road)
		require.NoError(t, err, name)
		v, err := m.Load(t.Context(), nil, false)
		require.NoError(t, err, name)
		_, out, err := m.Timed(t.Context(), v, 3)
		require.NoError(t, err, name)
		for _, o := range out {
			require.True(t, o.Kind == Right || mayFail(name), "%s: %s", name, o.Detail)
		}
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, m.Unload(t.Context(), v))
	}
}
