package toolchain

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"optcheck/target"

	"github.com/stretchr/testify/require"
)

var llcOnce = sync.OnceValues(func() ([]*Toolchain, []error) {
	return DiscoverLLC(context.Background(), Options{Cache: "off"})
})

// realLLC finds the pairs of llc and ptxas; see real.
func realLLC(t testing.TB) []*Toolchain {
	t.Helper()
	return found(t, "llc for NVIDIA with a ptxas", llcOnce)
}

func TestLiveLLC(t *testing.T) {
	seen := map[string]bool{}
	for _, tc := range realLLC(t) {
		t.Logf("%s (%s): PTX %s, %s, %s", tc.ID, tc.Name, tc.MaxPTX, tc.TargetRange(), tc.Build)
		require.Equal(t, target.NVIDIA, tc.Vendor())
		require.False(t, seen[tc.ID])
		seen[tc.ID] = true
		require.NotEmpty(t, tc.Nvdisasm)
		require.Contains(t, tc.Targets, "sm_80")
		require.Equal(t, tc.Kind.(*LLC).Major() >= 19 && CompareVersions(tc.Version, "11.8") > 0, tc.HasTarget("sm_90"))
		require.LessOrEqual(t, CompareVersions(tc.MaxPTX, "9.0"), 0)
		again, err := Find(realLLC(t), tc.ID)
		require.NoError(t, err)
		require.Equal(t, []*Toolchain{tc}, again)
	}
}

// TestLLCCompile: kernels that llc cannot compile fail with its reason, and
// nothing else does.
func TestLLCCompile(t *testing.T) {
	good := func(name string) Unit {
		return Unit{name, fmt.Sprintf("define ptx_kernel void @%s(i32 %%a) {\n  ret void\n}\n", name)}
	}
	bad := func(name string) Unit {
		return Unit{name, fmt.Sprintf("define ptx_kernel void @%s(i32 %%a) {\n  fence syncscope(\"device\") acq_rel\n  ret void\n}\n", name)}
	}
	for _, tc := range realLLC(t) {
		job := Job{Target: "sm_80", Level: "O1", Units: []Unit{good("a"), bad("b"), bad("c"), good("d"), good("e"), bad("f"), good("g")}}
		before := tc.Stats().Processes
		res, err := tc.CompileIR(t.Context(), job)
		require.NoError(t, err)
		require.LessOrEqual(t, tc.Stats().Processes-before, int64(5))
		var got []int
		for _, b := range res.Batches {
			got = append(got, b.Units...)
			for _, u := range b.Units {
				require.Contains(t, string(b.Text), ".entry "+job.Units[u].Name+"(")
			}
		}
		if tc.Kind.(*LLC).Major() >= 22 {
			require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6}, got)
			continue
		}
		require.ElementsMatch(t, []int{0, 3, 4, 6}, got)
		for _, u := range []int{1, 2, 5} {
			var e *Error
			require.ErrorAs(t, res.Failed[u], &e)
			require.ErrorIs(t, e, ErrCompile)
			require.Equal(t, job.Units[u].Name, e.Input)
			require.Len(t, e.Diagnostics, 1)
			require.Equal(t, job.Units[u].Name, e.Diagnostics[0].Unit)
			require.True(t, strings.HasPrefix(e.Diagnostics[0].Message, "Cannot select: "), e.Diagnostics[0].Message)
		}
	}
	syntax := Job{Target: "sm_80", Level: "O1", Units: []Unit{good("a"), {"b", "define ptx_kernel void @b( {\n}\n"}, good("c")}}
	res, err := realLLC(t)[0].CompileIR(t.Context(), syntax)
	require.NoError(t, err)
	require.Len(t, res.Failed, 1)
	require.ErrorIs(t, res.Failed[1], ErrCompile)
}

// TestFindPairs: names of either compiler restrict each other.
func TestFindPairs(t *testing.T) {
	var all []*Toolchain
	for _, l := range []string{"14.0.6", "22.1.8"} {
		for _, p := range []string{"11.8.89", "12.4.131"} {
			major := strings.SplitN(l, ".", 2)[0]
			all = append(all, &Toolchain{ID: "llc " + l + " + ptxas " + p, Name: "llvm-" + major + "+cuda-" + release(p), Version: p,
				Kind: &LLC{Version: l, name: "llvm-" + major}})
		}
	}
	for names, want := range map[string]string{
		"22,12.4": "3", "22": "2 3", "llvm-22": "2 3", "12.4": "1 3", "cuda-12.4": "1 3", "ptxas-12": "1 3", "14,22,11.8": "0 2",
		"22+12.4": "3", "llvm-14+cuda-11.8": "0", "llc 22.1.8 + ptxas 12.4.131": "3", "llc-22.1.8-+-ptxas-12.4.131": "3",
		"14+11.8,22+12.4": "0 3", "11.8.89": "0 2", "llc-14": "0 1", "": "0 1 2 3",
	} {
		var list []string
		if names != "" {
			list = strings.Split(names, ",")
		}
		got, err := Find(all, list...)
		require.NoError(t, err, names)
		var at []string
		for i, tc := range all {
			for _, g := range got {
				if g == tc {
					at = append(at, fmt.Sprint(i))
				}
			}
		}
		require.Equal(t, want, strings.Join(at, " "), names)
	}
	for _, name := range []string{"13", "22+11.2", "cuda-22", "llvm-12", "2"} {
		_, err := Find(all, name)
		require.ErrorContains(t, err, name)
	}
	_, err := Find(all, "22", "9.9")
	require.ErrorContains(t, err, `no toolchain "9.9"`)
}

func TestParseLLCHelp(t *testing.T) {
	targets, ptx := parseLLCHelp([]byte("Available CPUs for this target:\n\n  sm_90  - Select the sm_90 processor.\n  sm_80  - Select the sm_80 processor.\n" +
		"\nAvailable features for this target:\n\n  ptx84 - Use PTX version 84.\n  ptx32 - x.\n  sm_80  - Target SM 80.\n"))
	require.Equal(t, []string{"sm_80", "sm_90"}, targets)
	require.Equal(t, []string{"3.2", "8.4"}, ptx)
}
