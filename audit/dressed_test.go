package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/spec"
)

// TestDressed: what a test says of its machine code alone does not change what is found:
// functions are read where they are called, spills are no accesses, prefetches harmless.
func TestDressed(t *testing.T) {
	const mp, atom = "MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg", "MP+po-atom.exch.rel.gpu+atom.add.acq.gpu-po-p0::p1-xgyg"
	o := Options{Toolchains: releases(t), Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []spec.Layout{spec.Pointers, spec.Offsets}}
	for _, name := range []string{mp + "@call-1.0@call-1.1", mp + "@call-0.1@loop-0.0.1", "MP+bars-p0:p1-xsys@call-1.1", "SB+fence.sc.gpus-p0::p1-xgyg@call-0.1",
		atom + "@call-1.0", mp + "@crowd-1.1", mp + "@prefetch-1.1", mp + "@glance.cv-1.1.1", mp + "@wide-0.0"} {
		o.Tests = append(o.Tests, generatedTest(t, name))
	}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	require.Empty(t, run.Problems)
	for i := range run.Len() {
		c := run.At(i)
		require.Contains(t, []string{event.Preserved, event.Optimised}, c.Class, "%s %s %s: %s %v", c.Test, c.Toolchain, c.Level, c.Reason, c.Findings)
		if c.Level == "O0" {
			require.Equal(t, event.Preserved, c.Class, "%s %s: %v", c.Test, c.Toolchain, c.Findings)
		}
	}
}

// TestArms: ptxas splits a warp at an atomic in a function into lanes that sum up and lanes
// that do not. An arm that is weaker, or an invalidation that only some lanes execute, is
// not the test. (What the lanes add up is not checked: docs/internals/tour.md, known gaps.)
func TestArms(t *testing.T) {
	x := generatedTest(t, "MP+po-atom.exch.rel.gpu+atom.add.acq.gpu-po-p0::p1-xgyg@call-1.0")
	for _, w := range []struct{ old, by, class, reason string }{
		{"", "", event.Preserved, ""},
		{"@P1 ATOMG.E.ADD.STRONG.GPU", "@P1 ATOMG.E.ADD.STRONG.SM", event.Unknown, "none of the test's"},
		{"    CCTL.IVALL", "@P1 CCTL.IVALL", event.Optimised, "fence-removed"},
	} {
		class, reason, _ := editedIn(t, x, spec.Adjacent, "12.4", "sm_80", "O3", 1, func(lines []string) []string {
			text := strings.Join(lines, "\n")
			require.Contains(t, text, w.old)
			require.Contains(t, text, "@!P0 ATOMG")
			return strings.Split(strings.Replace(text, w.old, w.by, 1), "\n")
		})
		require.Equal(t, w.class, class, "%s: %s", w.by, reason)
		require.Contains(t, reason, w.reason)
	}
}
