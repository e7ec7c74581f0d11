package values

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/ptxgen/values"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// cell is a release for sm_80.
func cell(t *testing.T, release, level string) Cell {
	t.Helper()
	all, _ := tested.CUDA(t.Context(), toolchain.Options{})
	list, err := toolchain.Find(all, release)
	if err != nil || len(list) == 0 {
		required.Missing(t, "ptxas %s not found; make toolchains installs it", release)
	}
	return Cell{list[0], "sm_80", level}
}

// integers are features of which ptxas 12.4 makes something else within few kernels.
func integers() values.Options {
	var o values.Options
	for _, f := range values.Features() {
		switch f {
		case "int32", "int16", "compare", "product", "shift":
			o.Only = append(o.Only, f)
		}
	}
	return o
}

// run hunts and returns the report without what depends on the machine.
func run(t *testing.T, o Options) *Report {
	t.Helper()
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	r.Seconds = 0
	return r
}

// TestHunt finds what is compiled wrongly, the same on any number of cores, and what is kept of it shows it again.
func TestHunt(t *testing.T) {
	o := Options{Cells: []Cell{cell(t, "12.4", "O3")}, Seed: 1, Kernels: 96, Generate: integers(), Jobs: 1}
	r := run(t, o)
	require.Equal(t, 96, r.Progress.Kernels)
	require.NotZero(t, r.Wrong)
	require.Empty(t, r.Doubtful)
	require.Zero(t, r.Refused, r.Messages)
	o.Jobs = 3
	require.Equal(t, r, run(t, o))

	c := r.Causes[0]
	require.Less(t, c.Example.Statements, 10)
	require.NotEmpty(t, c.Example.Finding.Input.Memory)
	dir := filepath.Join(t.TempDir(), c.Name())
	require.NoError(t, c.Keep(dir))
	for _, name := range []string{"kernel.ptx", "machine.sass", "finding.json", "README.md"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	kept, err := Kept(dir)
	require.NoError(t, err)
	again, err := Replay(t.Context(), kept, []Cell{o.Cells[0], cell(t, "12.4", "O0")}, nil)
	require.NoError(t, err)
	require.True(t, again[0].Wrong)
	require.Equal(t, c.Example.Finding.Why, again[0].Finding.Why)
	require.False(t, again[1].Wrong, again[1].Why)

	path := filepath.Join(dir, "finding.json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), `"ptx"`, `"other"`, 1)), 0o600))
	_, err = Kept(dir)
	require.ErrorContains(t, err, "this is no kept cause")
}

// TestUnoptimised executes kernels of all features as PTX and as unoptimised machine code.
func TestUnoptimised(t *testing.T) {
	r := run(t, Options{Cells: []Cell{cell(t, "12.4", "O0")}, Seed: 5, Kernels: 48})
	require.Equal(t, 48, r.Progress.Kernels)
	require.Empty(t, r.Causes)
	for _, d := range r.Doubtful {
		t.Errorf("kernel %d: %s", d.Kernel, d.Why)
	}
	require.Less(t, r.Unknown, 12, r.NotUnderstood)
}

// TestTime ends a hunt; what was found so far is reported.
func TestTime(t *testing.T) {
	r, err := Run(t.Context(), Options{Cells: []Cell{cell(t, "12.4", "O3")}, Seed: 1, For: time.Millisecond})
	require.NoError(t, err)
	require.NotNil(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(ctx, Options{Cells: []Cell{cell(t, "12.4", "O3")}, Seed: 1, Kernels: 8})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Run(t.Context(), Options{})
	require.ErrorContains(t, err, "no compiler")
}
