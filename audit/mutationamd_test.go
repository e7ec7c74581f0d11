package audit

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// clangs returns the releases of clang that are asked for, oldest first.
func clangs(t testing.TB) (list []*toolchain.Toolchain) {
	t.Helper()
	list, errs := tested.LLVM(context.Background(), toolchain.Options{})
	for _, e := range errs {
		t.Log(e)
	}
	if len(list) == 0 {
		required.Missing(t, "no clang found")
	}
	return list
}

// TestMutationAMD plants faults in validated machine code of GCN, CDNA, RDNA
// and Evergreen and demands that each is reported with the right rule, and that no unmutated
// validated kernel is. The score is printed.
func TestMutationAMD(t *testing.T) {
	o := Options{Tests: append(corpus.OpenCL(), corpus.Tests()...), Toolchains: clangs(t), Levels: []string{"O0", "O2"},
		Targets: []string{"tahiti", "gfx803", "gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200", "cypress", "cayman"}}
	if !full() {
		o.Tests = corpus.OpenCL()
		o.Layouts = []spec.Layout{spec.Pointers}
		o.Toolchains = o.Toolchains[len(o.Toolchains)-1:]
		o.Targets = []string{"tahiti", "gfx900", "gfx942", "gfx1030", "gfx1200", "cypress"}
	}
	var mu sync.Mutex
	killed, total := map[string]int{}, map[string]int{}
	generations := map[string]int{}
	kernels := 0
	var missed []string
	visit := func(v kernelVisit) {
		if !v.preserved() {
			return
		}
		again, err := v.check.Check(v.fn)
		ok := err == nil && (again.Class == optcheck.Preserved || again.Class == optcheck.Unknown && strings.HasPrefix(again.Reason, "the condition of"))
		ms := mutantsAMD(v, again.Placed())
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
			} else if os.Getenv("DBG") != "" {
				fmt.Println(m.operator, v.cell.Test, v.kernel.Thread, v.cell.Target, v.cell.Level, r.Class, r.Reason, rules(r.Result), m.note)
			} else if len(missed) < 20 {
				missed = append(missed, fmt.Sprintf("%s of %s T%d %s %s %s %s: class %v (%s), rules %s", m.operator, v.cell.Test, v.kernel.Thread,
					v.cell.Toolchain, v.cell.Target, v.cell.Level, v.cell.Layout, r.Class, r.Reason, rules(r.Result)))
			}
			mu.Unlock()
		}
	}
	if full() {
		visited(t, o, visit)
	} else { // what clang writes at O0 differs less between chips
		o.Levels = []string{"O2"}
		visited(t, o, visit)
		zero := o
		zero.Levels, zero.Targets = []string{"O0"}, []string{"gfx942", "cypress"}
		visited(t, zero, visit)
	}
	ir := o // llc at O0 spills what clang keeps in memory of its own
	ir.Source, ir.Levels, ir.Targets = pipeline.LLVMIR, []string{"O0"}, []string{"tahiti", "gfx900", "gfx1030", "gfx1200"}
	ir.Toolchains = slices.DeleteFunc(slices.Clone(o.Toolchains), func(tc *toolchain.Toolchain) bool { return tc.Kind.(*toolchain.LLVM).LLC == "" })
	visited(t, ir, visit)
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
	for _, op := range []string{"swap", "drop", "double", "weaken", "retarget", "change-value", "merge", "drop-wait", "weaken-wait", "drop-invalidate", "drop-writeback", "drop-barrier", "cut-dependency"} {
		require.Positive(t, total[op], "no mutant of operator %s", op)
	}
}
