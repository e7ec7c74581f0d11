package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/spec"
	"optcheck/toolchain"
)

var details = regexp.MustCompile(`thread \d+: cannot lift .* at 0x[0-9a-f]+: `)

// TestHardwareOfPreserved: what the model of the hardware says of machine code that
// is its test. LLVM's lowering is believed: an outcome that OpenCL forbids would be
// a fault of the model. The share of cells that it understands is printed.
func TestHardwareOfPreserved(t *testing.T) {
	o := Options{Tests: corpus.OpenCL(), Toolchains: llvms(t), Layouts: []spec.Layout{spec.Pointers}, KeepVerdicts: true,
		Targets: []string{"tahiti", "gfx803", "gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"}}
	if !full() {
		o.Toolchains, o.Levels = o.Toolchains[len(o.Toolchains)-1:], []string{"O0", "O2"}
	}
	o.Targets = required.Some(t, 3, o.Targets)
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	judged, whole := 0, 0
	why := map[string]int{}
	var wrong []string
	for i := range run.Cells {
		c := &run.Cells[i]
		if strings.HasPrefix(c.Reason, "tool error") {
			wrong = append(wrong, fmt.Sprintf("%s %s %s %s: %s", c.Test, c.Toolchain, c.Target, c.Level, c.Reason))
		}
		if c.Class != event.Preserved || c.Verdict == nil || c.Verdict.Race != event.RaceFree {
			continue
		}
		whole++
		if c.Verdict.Unjudged == "" {
			judged++
		} else {
			why[details.ReplaceAllString(c.Verdict.Unjudged, "")+" | "+c.Test+" "+c.Target+" "+c.Level]++
		}
	}
	t.Logf("%d of %d preserved cells of tests without a race were judged", judged, whole)
	var reasons []string
	for k, n := range why {
		reasons = append(reasons, fmt.Sprintf("%6d  %s", n, k))
	}
	slices.Sort(reasons)
	t.Log("no verdict:\n" + strings.Join(reasons[:min(len(reasons), 40)], "\n"))
	require.Empty(t, wrong)
}

// TestHardwareVerdicts: what is known of real compilers comes out with the right
// outcomes and reasons, and what is preserved with none.
func TestHardwareVerdicts(t *testing.T) {
	const stale = "from a line that "
	for _, w := range []struct {
		test, target, level string
		release             int
		layout              spec.Layout
		class, fresh        string
		schedule            string // a part of it
	}{
		// The load after the barrier or the acquire is scalar.
		{"cl-mp+barriers", "gfx900", "O2", 22, spec.Pointers, event.Miscompiled, "1:r0=0;", stale + "the scalar cache has kept"},
		{"cl-mp+barriers", "gfx1030", "O2", 22, spec.Pointers, event.Miscompiled, "1:r0=0;", stale + "the scalar cache has kept"},
		{"cl-mp+barriers", "gfx900", "O0", 22, spec.Pointers, event.Preserved, "", ""},
		{"cl-cas-sl+acquire+release", "gfx900", "O2", 22, spec.Symbols, event.Miscompiled, "1:r1=0; 1:r3=0;", stale + "the scalar cache has kept"},
		{"cl-cas-sl+acquire+release", "gfx900", "O2", 22, spec.Pointers, event.Preserved, "", ""},
		// Performed before the condition is known, but after the wait and by a vector load.
		{"cl-cas-sl+acquire+release", "gfx1030", "O2", 22, spec.Pointers, event.Preserved, "", ""},
		// The L0 is invalidated before the GL1, until LLVM 19.
		{"cl-cas-sl+acquire+release", "gfx1030", "O2", 14, spec.Pointers, event.Miscompiled, "1:r1=0; 1:r3=0;", stale + "the first-level cache has kept"},
		{"cl-IRIW+fence.sc.devices", "gfx1030", "O2", 14, spec.Pointers, event.Optimised, "", ""},
		{"cl-cas-sl+acquire+release", "gfx1030", "O2", 19, spec.Pointers, event.Preserved, "", ""},
		// A race: no verdict on the machine code.
		{"cl-coRR", "gfx900", "O2", 22, spec.Pointers, event.Changed, "", ""},
	} {
		t.Run(fmt.Sprint(w.test, w.target, w.level, w.release, w.layout), func(t *testing.T) {
			tcs := slices.DeleteFunc(llvms(t), func(tc *toolchain.Toolchain) bool { return tc.Major() != w.release })
			if len(tcs) == 0 {
				required.Missing(t, "no such release")
			}
			run := event.NewRun()
			require.NoError(t, Run(t.Context(), Options{Tests: lookup(t, w.test), Toolchains: tcs, Targets: []string{w.target}, Levels: []string{w.level}, Layouts: []spec.Layout{w.layout}}, run))
			require.Len(t, run.Cells, 1)
			c := run.Cells[0]
			require.Equal(t, w.class, c.Class, c.Reason)
			if w.class == event.Preserved {
				require.Nil(t, c.Verdict)
				return
			}
			require.NotNil(t, c.Verdict)
			require.True(t, strings.HasPrefix(strings.Join(c.Verdict.New, ","), w.fresh), c.Verdict.New)
			require.Contains(t, strings.Join(c.Verdict.Schedule, "\n"), w.schedule)
			require.Equal(t, w.class == event.Changed, c.Verdict.HasRace())
			require.Equal(t, w.class == event.Miscompiled, c.Verdict.Check != "", c.Verdict.Unexplained)
		})
	}
}

// TestScheduleOfCell: an exploration serves several cells; what a schedule says does not
// depend on which of them came first.
func TestScheduleOfCell(t *testing.T) {
	schedules := func(levels ...string) map[string]string {
		run, by := event.NewRun(), map[string]string{}
		require.NoError(t, Run(t.Context(), Options{Tests: lookup(t, "cl-mp+barriers"), Toolchains: llvms(t), Targets: []string{"gfx900", "gfx942"},
			Levels: levels, Layouts: []spec.Layout{spec.Pointers, spec.Offsets}}, run))
		for i := range run.Cells {
			if c := &run.Cells[i]; c.Verdict != nil && len(c.Verdict.Schedule) > 0 {
				by[strings.Join([]string{c.Toolchain, c.Target, c.Level, c.Layout}, " ")] = strings.Join(c.Verdict.Schedule, "\n")
			}
		}
		return by
	}
	alone := schedules("O1")
	for k, s := range schedules("O2") {
		alone[k] = s
	}
	require.NotEmpty(t, alone)
	require.Equal(t, alone, schedules("O1", "O2"))
}
