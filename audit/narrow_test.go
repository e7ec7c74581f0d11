package audit

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/spec"
)

// TestNarrow: accesses of bytes and 16-bit words are decided, markers do not change them, and faults
// planted in them are reported with the right rule.
func TestNarrow(t *testing.T) {
	o := Options{Toolchains: releases(t), Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []spec.Layout{spec.Pointers}}
	for _, name := range []string{"MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg@bytes-0.0", "MP+fence.sc.gpus-p0::p1-xgyg@half-0.2",
		"CoRR+all-rlx.gpu-p0::p1-xg@half-0.0@reload.vol-1.1.0", "MP+bars-p0:p1-xsys@halves-0.0"} {
		o.Tests = append(o.Tests, generatedTest(t, name))
	}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	classes := map[string]int{}
	for _, c := range run.All() {
		classes[c.Level+" "+c.Class]++
		if c.Level == "O0" {
			require.Equal(t, event.Preserved, c.Class, "%s %s: %s %v", c.Test, c.Toolchain, c.Reason, c.Findings)
		}
		require.NotEqual(t, event.Unknown, c.Class, "%s %s: %s", c.Test, c.Toolchain, c.Reason)
	}
	require.Positive(t, classes["O3 "+event.Miscompiled], "relaxed and volatile loads of one location change places")

	d, err := Disturb(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, d.Disturbed)
	require.NotZero(t, d.Kernels)

	var mu sync.Mutex
	n := 0
	visited(t, o, func(v kernelVisit) {
		if !v.preserved() {
			return
		}
		again, err := v.check.Check(v.fn)
		require.NoError(t, err)
		for _, m := range mutants(v, again.Placed()) {
			r, err := v.check.CheckAgainst(m.fn, v.kernel.Spec)
			require.NoError(t, err)
			require.True(t, reported(r.Result, m.want), "%s of %s T%d %s %s: %v", m.operator, v.cell.Test, v.kernel.Thread, v.cell.Toolchain, v.cell.Level, r.Findings)
			mu.Lock()
			n++
			mu.Unlock()
		}
	})
	t.Logf("%v; %d mutants", classes, n)
	require.Greater(t, n, 50)
}
