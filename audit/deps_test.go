package audit

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/depgen"
	"optcheck/event"
	"optcheck/spec"
)

func TestDepProbes(t *testing.T) {
	names := map[string]bool{}
	for _, p := range DepProbes() {
		x := p.Test()
		require.NoError(t, x.Check(), x.Name)
		require.False(t, names[x.Name], x.Name)
		names[x.Name] = true
		s, err := spec.FromTest(x, 0, spec.Pointers)
		require.NoError(t, err, x.Name)
		require.Equal(t, []spec.Dep{{From: 0, To: 1, Kind: p.Kind}}, s.Deps, x.Name)
	}
	// Three kinds into three accesses, but no data into loads; three addresses.
	require.Len(t, names, len(depgen.Schemes)*8*3)
}

func TestDepFate(t *testing.T) {
	class := func(s string) *event.Cell { return &event.Cell{Result: event.Result{Class: s}} }
	finding := func(rules ...string) *event.Cell {
		c := class("changed")
		for _, r := range rules {
			c.Findings = append(c.Findings, event.Finding{Rule: r})
		}
		return c
	}
	for want, cells := range map[string][]*event.Cell{
		DepKept:        {class("preserved"), finding("retargeted"), finding("weakened", "retargeted")},
		DepRemoved:     {finding("dependency-broken"), finding("missing", "control-changed"), finding("retargeted", "dependency-broken")},
		DepUnknown:     {class("unknown"), finding("missing"), finding("merged", "retargeted"), {Result: event.Result{Class: "nonsense", Findings: []event.Finding{{Rule: "new"}}}}},
		DepUnsupported: {class("unsupported")},
	} {
		for _, c := range cells {
			got, _ := depFate(c)
			require.Equal(t, want, got, "%+v", c)
		}
	}
}

// TestDependencySurvival checks the founding paper's claim on every toolchain
// found: at -O3 the dependency of Fig. 13a is gone and that of Fig. 13b is not.
func TestDependencySurvival(t *testing.T) {
	tcs := releases(t)
	cells, err := Dependencies(context.Background(), Options{Toolchains: tcs, Targets: []string{"sm_50", "sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []spec.Layout{spec.Pointers}})
	require.NoError(t, err)
	n := 0
	for _, c := range cells {
		want := DepKept
		if c.Scheme == "xor" && c.Level == "O3" {
			want = DepRemoved
		}
		if c.Scheme == "sub" {
			continue // nothing promises its fate
		}
		require.Equal(t, want, c.Fate, "%+v", c)
		n++
	}
	require.Equal(t, len(cells)*5/6, n)
	var text, again strings.Builder
	require.NoError(t, WriteDepsText(&text, cells))
	require.NoError(t, WriteDepsText(&again, cells))
	require.Equal(t, text.String(), again.String())
	require.Contains(t, text.String(), "xor")
}
