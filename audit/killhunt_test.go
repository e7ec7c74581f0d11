package audit_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/audit/hunt"
	"optcheck/known"
	"optcheck/litmus"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

func init() { audit.KillSets["hunt"] = hunted }

// huntTests is how many tests `optcheck hunt --for 5m` does on two idle cores, with
// all that it takes by default: 32 cells a test, somewhat more than 500 a second.
const huntTests = 5000

// hunted returns the tests of a hunt with the honest compiler, in their order. A hunt with
// a compiler that has a wrong pass does the same tests until one of them shows
// something new, so that what they expose, such a hunt does.
func hunted(t *testing.T) (out []*litmus.Test) {
	number := func(name string, n int) int {
		if s := os.Getenv(name); s != "" {
			var err error
			n, err = strconv.Atoi(s)
			require.NoError(t, err)
		}
		t.Logf("%s=%d", name, n)
		return n
	}
	o := hunt.Options{Tests: number("OPTCHECK_KILL_TESTS", huntTests), Seed: uint64(number("OPTCHECK_KILL_SEED", 1)), Bases: hunt.CorpusBases()}
	for _, name := range []string{"opportunities", "ptx", "scopes"} {
		g, err := cycle.Preset(name)
		require.NoError(t, err)
		list, err := hunt.PresetBases(g)
		require.NoError(t, err)
		o.Bases = append(o.Bases, list...)
	}
	all, _ := tested.CUDA(t.Context(), toolchain.Options{})
	tcs, err := toolchain.Find(all, "12.4")
	require.NoError(t, err)
	o.Audit = audit.Options{Toolchains: tcs, Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []spec.Layout{spec.Pointers, spec.Adjacent}}
	o.Known = known.Builtin().IDs
	o.Composed = func(tests []*litmus.Test) { out = append(out, tests...) }
	rep, err := hunt.Run(t.Context(), o)
	require.NoError(t, err)
	t.Logf("%d tests, %d cells, %d signatures in %.0f s; CPU %.0f s, of the compilers %.0f s", rep.Tests, rep.Cells, rep.New, rep.Seconds, rep.OwnCPU, rep.ToolCPU)
	return out
}
