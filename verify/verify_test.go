package verify

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

func module(t testing.TB, file string) *ptx.Module {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	m, err := ptx.Parse(file, data)
	require.NoError(t, err)
	return m
}

// brief is a result in words: the rule of each finding and the lines of its source.
func brief(r *Result) (out []string) {
	for _, f := range r.Found {
		s := fmt.Sprintf("%s %d", f.Rule, f.First.Source)
		if f.Second != nil {
			s += fmt.Sprintf(" %d", f.Second.Source)
		}
		out = append(out, s)
	}
	return append(out, r.Unknown...)
}

// TestKernels: what is left out in testdata/kernels.cu is found at its lines, and nothing where nothing is left out.
func TestKernels(t *testing.T) {
	m := module(t, "testdata/kernels.ptx")
	want := map[string][]string{
		"flag_plain":    {"data-race 8 12"},
		"flag_fenced":   nil,
		"flag_block":    {"data-race 32 38"},
		"lock_gpu":      nil,
		"lock_block":    {"data-race 53 53", "data-race 55 55", "data-race 55 55", "data-race 57 53", "data-race 57 57"},
		"lock_kept":     {"stuck 62"},
		"reduce_synced": nil,
		"reduce_unsynced": {"data-race 81 81", "data-race 81 81", "data-race 81 81",
			"data-race 81 81"},
		"barrier_lanes": {"barrier-divergence 91 88"},
		"last_block":    nil,
		"warp_synced":   nil,
		"warp_unsynced": {"data-race 119 120"},
		"copy_waited":   nil,
		"copy_early":    {"data-race 137 140"},
		"named":         nil,
		"named_wrong":   {"stuck 163"},
		"beyond":        {"out-of-bounds 170", "uninitialised-shared 172"},
	}
	kernels := 0
	for _, f := range m.Funcs {
		if !f.Entry {
			continue
		}
		kernels++
		t.Run(f.Name, func(t *testing.T) {
			r, err := Kernel(m, f.Name, &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{64, 1, 1}}, Unmended: true})
			require.NoError(t, err)
			require.Contains(t, want, f.Name)
			require.Equal(t, want[f.Name], brief(r), r.Text())
		})
	}
	require.Len(t, want, kernels)
}

// TestDeterministic: the same seed gives the same report.
func TestDeterministic(t *testing.T) {
	m := module(t, "testdata/kernels.ptx")
	o := &Options{Schedules: 6, Seed: 7}
	a, err := Kernel(m, "lock_block", o)
	require.NoError(t, err)
	b, err := Kernel(m, "lock_block", o)
	require.NoError(t, err)
	require.Equal(t, a, b)
}

// TestBuffer: a buffer whose size was given has an end.
func TestBuffer(t *testing.T) {
	m := module(t, "testdata/kernels.ptx")
	for bytes, want := range map[int64][]string{512: {}, 508: {"out-of-bounds 113"}} {
		o := &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{64, 1, 1}, Args: []Arg{{Name: "0", Buffer: true, Bytes: bytes}}}}
		r, err := Kernel(m, "warp_synced", o)
		require.NoError(t, err)
		require.ElementsMatch(t, want, brief(r), r.Text())
	}
}

// TestMend: what is said to mend a race is the weakest that does.
func TestMend(t *testing.T) {
	m := module(t, "testdata/kernels.ptx")
	for kernel, want := range map[string][]string{
		"flag_plain": {"fence.acq_rel.gpu (__threadfence()) behind kernels.cu:11, ld.volatile.global.u32 %r3, [%rd2]",
			"fence.acq_rel.gpu (__threadfence()) in front of kernels.cu:9, st.volatile.global.u32 [%rd2], %r6"},
		"flag_block":    {"fence.acq_rel.gpu (__threadfence()) in front of kernels.cu:34, st.volatile.global.u32 [%rd2], %r6"},
		"warp_unsynced": {"bar.warp.sync (__syncwarp()) in front of kernels.cu:120, ld.shared.u32 %r7, [%r6]"},
		"lock_block": {"kernels.cu:53, the access atom.global.cta.cas.b32 %r2, [%rd1], 0, 1 with scope gpu",
			"kernels.cu:57, the access atom.global.cta.exch.b32 %r5, [%rd1], 0 with scope gpu"},
	} {
		r, err := Kernel(m, kernel, &Options{})
		require.NoError(t, err)
		require.Equal(t, want, r.Found[0].Mend, kernel)
	}
}

// TestNeeded: whatever synchronisation is left out of a kernel that is right, or made weaker, is noticed. The last barrier of
// a reduction is not needed: the thread that reads the sum has written it.
func TestNeeded(t *testing.T) {
	m := module(t, "testdata/kernels.ptx")
	changed := 0
	for _, kernel := range []string{"flag_fenced", "lock_gpu", "reduce_synced", "last_block", "warp_synced", "copy_waited", "named"} {
		needs, r, err := Needed(m, kernel, &Options{Inputs: 1, Schedules: 3})
		require.NoError(t, err)
		require.Empty(t, r.Found)
		require.NotEmpty(t, needs)
		for _, n := range needs {
			changed++
			if n.Line != 451 {
				require.NotEmpty(t, n.Noticed, n.Text())
			} else {
				require.Empty(t, n.Noticed)
			}
		}
	}
	require.Equal(t, 31, changed)
}

// TestCounting: warps that wait for one that gets somewhere are not stuck, however long it takes.
func TestCounting(t *testing.T) {
	m := module(t, "testdata/chosen.ptx")
	o := &Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{256, 1, 1}, Args: []Arg{{Name: "out", Buffer: true, Bytes: 1024}}}, Schedules: 12}
	r, err := Kernel(m, "counts", o)
	require.NoError(t, err)
	require.Empty(t, brief(r), r.Text())
	require.True(t, r.Every)
}
