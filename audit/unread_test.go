package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
	"optcheck/toolchain"
)

// generatedTest returns a test by its name.
func generatedTest(t *testing.T, name string) *litmus.Test {
	s, err := cycle.ParseName(name)
	require.NoError(t, err)
	return s.Test()
}

// auditOne audits one test in one place.
func auditOne(t *testing.T, x *litmus.Test, tcs []*toolchain.Toolchain, target, level string, layout spec.Layout) event.Cell {
	run := event.NewRun()
	err := Run(t.Context(), Options{Tests: []*litmus.Test{x}, Toolchains: tcs,
		Targets: []string{target}, Levels: []string{level}, Layouts: []spec.Layout{layout}}, run)
	require.NoError(t, err)
	require.Empty(t, run.Problems)
	require.Equal(t, 1, run.Len())
	return run.At(0)
}

// TestOpportunityFindings: what releases do to results that nobody observes, to loads
// around an acquire, and to neighbours; beside each a control that differs in one thing.
func TestOpportunityFindings(t *testing.T) {
	const mp, atom, atomSys = "MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg", "MP+po-atom.exch.rel.gpu+atom.add.acq.gpu-po-p0::p1-xgyg", "MP+po-atom.exch.rel.sys+atom.add.acq.sys-po-p0::p1-xgyg"
	for _, x := range []struct {
		name, release, target, level string
		layout                       spec.Layout
		class                        string
		rule                         *optcheck.Rule
	}{
		// A dead acquire.
		{mp + "@peek-1.0", "11.2", "sm_80", "O0", spec.Pointers, event.Miscompiled, optcheck.Missing},
		{mp + "@peek-1.0", "11.8", "sm_70", "O3", spec.Pointers, event.Miscompiled, optcheck.Missing},
		{mp + "@peek-1.0", "11.8", "sm_90", "O3", spec.Pointers, event.Miscompiled, optcheck.Missing},
		{mp + "@peek-1.0", "12.4", "sm_80", "O3", spec.Pointers, event.Optimised, optcheck.Missing},
		{mp + "@reload.vol-1.0.0", "11.8", "sm_80", "O3", spec.Pointers, event.Preserved, nil},
		// The same load around an acquire.
		{mp + "@reload-1.1.0", "12.4", "sm_80", "O1", spec.Pointers, event.Miscompiled, optcheck.Merged},
		{mp + "@reload-1.1.0", "12.4", "sm_80", "O0", spec.Pointers, event.Preserved, nil},
		{mp + "@reload.rlx.gpu-1.1.0", "12.4", "sm_80", "O3", spec.Pointers, event.Preserved, nil},
		// A dead atomic that acquires becomes a reduction.
		{atomSys + "@peek-1.0", "12.4", "sm_90", "O0", spec.Pointers, event.Miscompiled, optcheck.KindChanged},
		{atom + "@peek-1.0", "12.4", "sm_90", "O3", spec.Pointers, event.Miscompiled, optcheck.KindChanged},
		{atom + "@peek-1.0", "11.8", "sm_90", "O3", spec.Pointers, event.Preserved, nil},
		// Neighbours in one access, across a release and an acquire.
		{mp, "11.8", "sm_80", "O1", spec.Adjacent, event.Miscompiled, optcheck.Merged},
		{mp + "@racefree-0.0", "11.8", "sm_90", "O3", spec.Adjacent, event.Miscompiled, optcheck.Merged},
		{mp, "11.8", "sm_80", "O3", spec.Offsets, event.Preserved, nil},
		{mp, "12.4", "sm_80", "O3", spec.Adjacent, event.Preserved, nil},
		// Loads of one location, of different strength.
		{"CoRR+all-rlx.gpu-p0::p1-xg@reload.vol-1.1.0", "12.4", "sm_80", "O3", spec.Pointers, event.Miscompiled, optcheck.Reordered},
		{"CoRR+all-rlx.gpu-p0::p1-xg@reload-1.1.0", "12.4", "sm_80", "O3", spec.Pointers, event.Preserved, nil},
		// Beside and in loops.
		{mp + "@peek-1.0@spin-1.1", "11.8", "sm_80", "O0", spec.Pointers, event.Preserved, nil},
		{mp + "@spin-1.1@peek-1.0", "11.8", "sm_80", "O0", spec.Pointers, event.Miscompiled, optcheck.Missing},
		{mp + "@peek-1.0@loop-1.0.2", "11.8", "sm_80", "O1", spec.Pointers, event.Miscompiled, optcheck.Missing},
		{mp + "@peek-1.0@loop-1.0.2", "12.4", "sm_80", "O3", spec.Pointers, event.Optimised, optcheck.Missing},
		{mp + "@loop-1.0.2@peek-1.1", "12.4", "sm_80", "O0", spec.Pointers, event.Preserved, nil},
		// What may go.
		{"MP-p0::p1-xgyg@drop-1.1", "12.4", "sm_80", "O3", spec.Pointers, event.Preserved, nil},
	} {
		t.Run(x.release+" "+x.target+" "+x.level+" "+x.name, func(t *testing.T) {
			c := auditOne(t, generatedTest(t, x.name), release(t, x.release), x.target, x.level, x.layout)
			require.Equal(t, x.class, c.Class, "%+v", c)
			if x.rule == nil {
				return
			}
			var rules []string
			for _, f := range c.Findings {
				rules = append(rules, f.Rule)
			}
			require.Contains(t, rules, x.rule.ID)
		})
	}
}
