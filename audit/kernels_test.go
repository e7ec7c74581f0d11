package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
)

func named(t testing.TB, names ...string) (out []*litmus.Test) {
	t.Helper()
	for _, n := range names {
		s, err := cycle.ParseName(n)
		require.NoError(t, err)
		out = append(out, s.Test())
	}
	return out
}

func TestKernelsAreShared(t *testing.T) {
	var s kernelSet
	tests := named(t, "MP-p0::p1-xgyg", "MP-p0:p1-xgyg", "MP+membar.gl+po-p0::p1-xgyg", "MP-p0:p1-xsyg", "MP+po+addr-p0::p1-xgyg")
	for _, l := range spec.Layouts {
		s.of = nil
		for _, x := range tests {
			u, err := ptxgen.Emit(x, ptxgen.Options{Target: "sm_80", Layout: l})
			require.NoError(t, err)
			require.NoError(t, s.add(u, "sm_80"))
			require.Empty(t, u.Text)
		}
		require.Equal(t, s.of[0], s.of[1], "a placement is no code")
		require.NotEqual(t, s.of[0][0], s.of[2][0], "a fence is")
		require.Equal(t, s.of[0][1], s.of[2][1], "the other thread is the same")
		require.NotEqual(t, s.of[0][0], s.of[3][0], "so is a state space")
		require.NotEqual(t, s.of[0][1], s.of[4][1])
		require.NotEqual(t, s.of[0][0], s.of[0][1])
	}
	names := map[string]bool{}
	for _, k := range s.kernels {
		require.False(t, names[k.name], "%s twice", k.name)
		names[k.name] = true
		require.Equal(t, 1, strings.Count(k.text, ".entry "+k.name+"("))
		for line := range strings.Lines(k.text) {
			if strings.HasPrefix(line, ".") && strings.Contains(line, "_L") {
				require.Contains(t, line, k.name+"_L", "a variable of its own")
			}
		}
	}
}

// TestSharedKernelsChangeNothing audits tests together, where kernels are
// shared, and one by one, where they are not.
func TestSharedKernelsChangeNothing(t *testing.T) {
	tcs := releases(t)
	g, err := cycle.Preset("quick")
	require.NoError(t, err)
	var tests []*litmus.Test
	n := 0
	for x := range g.Tests() {
		if n++; n%8 == 0 {
			tests = append(tests, x)
		}
	}
	o := Options{Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_80"}, Levels: []string{"O3"}}
	audited := func(tests []*litmus.Test) []event.Cell {
		o := o
		o.Tests = tests
		run := event.NewRun()
		require.NoError(t, Run(t.Context(), o, run))
		return run.Cells
	}
	var alone []event.Cell
	for _, x := range tests {
		alone = append(alone, audited([]*litmus.Test{x})...)
	}
	together := audited(tests)
	require.Len(t, together, len(alone))
	for i := range alone {
		require.Equal(t, alone[i].Verdict, together[i].Verdict)
		alone[i].Verdict, together[i].Verdict = nil, nil
		require.Equal(t, fmt.Sprintf("%+v", alone[i]), fmt.Sprintf("%+v", together[i]))
	}
	t.Logf("%d cells", len(together))
}
