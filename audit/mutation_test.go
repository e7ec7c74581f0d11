package audit

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/optcheck"
)

// TestMutation plants faults in validated machine code of every generation and
// demands that each is reported with the right rule, and that no unmutated
// validated kernel is. The score is printed.
func TestMutation(t *testing.T) {
	o := Options{Tests: corpus.Tests(), Toolchains: releases(t), Levels: []string{"O0", "O3"},
		Targets: []string{"sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"}}
	if !full() {
		o.Targets = []string{"sm_35", "sm_70", "sm_90"}
	}
	var mu sync.Mutex
	killed, total := map[string]int{}, map[string]int{}
	generations := map[string]int{}
	kernels := 0
	var missed []string
	visited(t, o, func(v kernelVisit) {
		if !v.preserved() {
			return
		}
		again, err := v.check.Check(v.fn)
		// Alone, a fence under a condition is not decided.
		ok := err == nil && (again.Class == optcheck.Preserved || again.Class == optcheck.Unknown && strings.HasPrefix(again.Reason, "the condition of"))
		ms := mutants(v, again.Placed())
		mu.Lock()
		kernels++
		if !ok {
			missed = append(missed, "an unmutated kernel is reported: "+v.fn.Name+" "+v.fn.Arch+": "+again.Reason)
		}
		mu.Unlock()
		for _, m := range ms {
			r, err := v.check.CheckAgainst(m.fn, v.kernel.Spec)
			hit := err == nil && reported(r.Result, m.want)
			mu.Lock()
			total[m.operator]++
			generations[v.cell.Target]++
			if hit {
				killed[m.operator]++
			} else if len(missed) < 20 {
				missed = append(missed, fmt.Sprintf("%s of %s T%d %s %s %s %s: class %v (%s), rules %s", m.operator, v.cell.Test, v.kernel.Thread,
					v.cell.Toolchain, v.cell.Target, v.cell.Level, v.cell.Layout, r.Class, r.Reason, rules(r.Result)))
			}
			mu.Unlock()
		}
	})
	all, dead := 0, 0
	var lines []string
	for op, n := range total {
		all += n
		dead += killed[op]
		lines = append(lines, fmt.Sprintf("  %-16s %6d of %6d", op, killed[op], n))
	}
	sort.Strings(lines)
	t.Logf("mutation score: %d of %d mutants of %d validated kernels reported with the right rule\n%s\nmutants per target: %v",
		dead, all, kernels, strings.Join(lines, "\n"), generations)
	require.Empty(t, missed)
	require.Equal(t, all, dead)
	for _, op := range []string{"swap", "drop", "double", "weaken", "drop-fence", "weaken-fence", "drop-invalidate", "cut-dependency", "cut-control", "invert-control", "change-value", "retarget", "merge"} {
		require.Positive(t, total[op], "no mutant of operator %s", op)
	}
}

func reported(r *optcheck.Result, want []string) bool {
	for _, f := range r.Findings {
		for _, w := range want {
			if f.Rule == w {
				return true
			}
		}
	}
	return false
}

func rules(r *optcheck.Result) string {
	var s []string
	for _, f := range r.Findings {
		s = append(s, f.Rule)
	}
	return strings.Join(s, ",")
}
