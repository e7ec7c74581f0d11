package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model/amdhw"
	"optcheck/optcheck"
	"optcheck/spec"
)

// hardwareFaults are the mutation operators whose faults are of the hardware's kind.
var hardwareFaults = []string{"drop-wait", "weaken-wait", "drop-invalidate", "drop-writeback", "drop-barrier"}

// mutated is a test's kernels in one cell, lifted, and what mutants of each thread
// lift to.
type mutated struct {
	name    string
	test    *litmus.Test
	threads []optcheck.LiftedThread
	errs    []error
	mutants []liftedMutant
}

type liftedMutant struct {
	operator, note string
	thread         int
	lifted         optcheck.LiftedCode
	err            error
}

// TestHardwareOfMutants plants faults in the waits, cache operations and barriers
// of machine code that is its test, and asks the model of the hardware. Not every
// fault shows: a wait may stand where another one waits already, and a test may ask
// for nothing that the fault makes possible. What each fault comes to is printed;
// of each kind some must show, and none may break the exploration.
func TestHardwareOfMutants(t *testing.T) {
	tcs := llvms(t)
	o := Options{Tests: corpus.OpenCL(), Toolchains: tcs[len(tcs)-1:], Levels: []string{"O0", "O2"}, Layouts: []spec.Layout{spec.Pointers},
		Targets: []string{"gfx900", "gfx942", "gfx1030", "gfx1200"}}
	if full() {
		o.Targets = []string{"tahiti", "gfx803", "gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"}
	}
	g := newJudge("", false)
	o.Tests = slices.DeleteFunc(slices.Clone(o.Tests), func(x *litmus.Test) bool {
		race, err := g.race(t.Context(), x, x.Hash())
		return err != nil || race != event.RaceFree
	})
	counts := map[string]map[string]int{}
	var silent []string
	for _, m := range liftMutants(t, o) {
		if slices.ContainsFunc(m.errs, func(err error) bool { return err != nil }) {
			continue
		}
		own, err := g.hardware(t.Context(), m.test, m.threads)
		if err != nil {
			continue
		}
		require.Empty(t, own.New, m.name)
		for _, x := range m.mutants {
			what := showsFault(t, g, m, x, own.Machine)
			if counts[x.operator] == nil {
				counts[x.operator] = map[string]int{}
			}
			counts[x.operator][what]++
			if what == sameOutcomes || what == moreOutcomes {
				silent = append(silent, fmt.Sprintf("%s %s T%d %s: %s", x.operator, m.name, x.thread, x.note, what))
			}
		}
	}
	slices.Sort(silent)
	t.Logf("%d faults without a new outcome", len(silent))
	if os.Getenv("OPTCHECK_SILENT") != "" {
		t.Log(strings.Join(silent, "\n"))
	}
	for _, op := range hardwareFaults {
		t.Logf("%-16s %v", op, counts[op])
		require.Positive(t, counts[op]["new outcome"], op)
	}
}

// liftMutants lifts the kernels of an audit and their mutants.
func liftMutants(t *testing.T, o Options) []*mutated {
	var mu sync.Mutex
	by := map[string]*mutated{}
	var order []string
	visited(t, o, func(v kernelVisit) {
		if !v.preserved() {
			return
		}
		r, err := v.check.CheckAgainst(v.fn, v.kernel.Spec)
		require.NoError(t, err)
		own, err := r.Lift()
		var list []liftedMutant
		if err == nil {
			for _, m := range mutantsAMD(v, r.Placed()) {
				if !slices.Contains(hardwareFaults, m.operator) {
					continue
				}
				x := liftedMutant{operator: m.operator, note: m.note, thread: v.kernel.Thread}
				if c, err := v.check.CheckAgainst(m.fn, v.kernel.Spec); err != nil {
					x.err = err
				} else {
					x.lifted, x.err = c.Lift()
				}
				list = append(list, x)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		k := strings.Join([]string{v.cell.Test, v.cell.Toolchain, v.cell.Target, v.cell.Level}, " ")
		m := by[k]
		if m == nil {
			x, _ := corpus.Lookup(v.cell.Test)
			m = &mutated{name: k, test: x, threads: make([]optcheck.LiftedThread, len(x.Threads)), errs: make([]error, len(x.Threads))}
			for i := range m.errs {
				m.errs[i] = errors.New("not preserved")
			}
			by[k] = m
			order = append(order, k)
		}
		m.threads[v.kernel.Thread] = optcheck.LiftedThread{Lifted: own, Spec: v.kernel.Spec, Values: v.kernel.Values}
		m.errs[v.kernel.Thread] = err
		m.mutants = append(m.mutants, list...)
	})
	slices.Sort(order)
	var out []*mutated
	for _, k := range order {
		out = append(out, by[k])
	}
	return out
}

// What a fault comes to that breaks no promise.
const (
	sameOutcomes = "the same outcomes"
	moreOutcomes = "more outcomes, which OpenCL allows"
)

// showsFault says what the model of the hardware makes of a mutant of a test that
// has so many outcomes without the fault.
func showsFault(t *testing.T, g *judge, m *mutated, x liftedMutant, outcomes int) string {
	if x.err != nil {
		if strings.Contains(x.err.Error(), "may be outstanding") {
			return "no verdict: a register is used too early"
		}
		return "no verdict: " + details.ReplaceAllString(x.err.Error(), "")
	}
	threads := slices.Clone(m.threads)
	threads[x.thread].Lifted = x.lifted
	v, err := g.hardware(context.Background(), m.test, threads)
	switch {
	case errors.Is(err, amdhw.ErrHazard):
		return "no verdict: a register is used too early"
	case err != nil:
		return "no verdict: " + err.Error()
	case len(v.New) > 0:
		require.NotEmpty(t, v.Schedule)
		return "new outcome"
	case v.Machine > outcomes:
		return moreOutcomes
	}
	return sameOutcomes
}
