package known

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestMarkSet: cells of a set are marked as those of a stream are, and nothing that it shares is changed: a result that
// is not matched keeps the marks of other lists, and cells with one result share the marked one.
func TestMarkSet(t *testing.T) {
	list, err := Parse("f.yaml", []byte(`known:
  - {id: on80, rule: merged, targets: [sm_80], note: n, reason: r}
  - {id: any, rule: missing, note: n, reason: r}
`))
	require.NoError(t, err)
	set := event.NewSet()
	require.NoError(t, set.Handle(event.Event{Config: &event.Config{Schema: event.Schema, Toolchains: []event.Toolchain{{ID: "ptxas 12.4.131"}}}}))
	result := func(rule string, known ...string) event.Result {
		return event.Result{Class: event.Changed, Findings: []event.Finding{{Rule: rule}}, Known: known}
	}
	for i, x := range []struct {
		target string
		r      event.Result
	}{
		{"sm_80", result("merged")}, {"sm_90", result("merged")}, {"sm_80", result("merged")}, {"sm_90", result("missing")},
		{"sm_90", result("reordered", "elsewhere")}, {"sm_80", event.Result{Class: event.Preserved}},
	} {
		require.NoError(t, set.Handle(event.Event{Cell: &event.Cell{Test: fmt.Sprint("t", i), Toolchain: "ptxas 12.4.131", Target: x.target,
			Level: "O3", Layout: "pointers", Result: x.r}}))
	}
	before := len(set.Results)
	out := list.MarkSet(set)
	var known []string
	for i := range out.Cells {
		known = append(known, strings.Join(out.Cell(i).Known, " "))
	}
	require.Equal(t, []string{"on80", "", "on80", "any", "elsewhere", ""}, known)
	require.Equal(t, out.Cells[0].Result, out.Cells[2].Result)
	require.Len(t, out.Results, before+2)
	for i := range set.Cells {
		require.NotContains(t, set.Cell(i).Known, "on80", "the given set is as it was")
	}
	require.Len(t, set.Results, before)
}

// TestIDs: a finding is known by all filters that match it, whatever becomes of its cell.
func TestIDs(t *testing.T) {
	list, err := Parse("f.yaml", []byte("known:\n  - {id: a, rule: merged, note: n, reason: r}\n  - {id: b, rules: [merged, missing], note: n, reason: r}\n"))
	require.NoError(t, err)
	c := &event.Cell{Result: event.Result{Class: event.Changed, Findings: []event.Finding{{Rule: "merged"}, {Rule: "missing"}, {Rule: "reordered"}}}}
	for i, want := range [][]string{{"a", "b"}, {"b"}, nil} {
		require.Equal(t, want, list.IDs(c, &c.Findings[i]))
	}
}

// TestHandler: cells of a stream are marked, and every event is passed on.
func TestHandler(t *testing.T) {
	list, err := Parse("f.yaml", []byte("known:\n  - {id: a, rule: merged, note: n, reason: r}\n"))
	require.NoError(t, err)
	run := event.NewRun()
	h := Handler{List: list, Next: run}
	require.NoError(t, h.Handle(event.Event{Config: &event.Config{Tests: 7}}))
	require.NoError(t, h.Handle(event.Event{Cell: &event.Cell{Test: "mp", Result: event.Result{Class: event.Changed, Findings: []event.Finding{{Rule: "merged"}}}}}))
	require.NoError(t, h.Handle(event.Event{Stats: &event.Stats{}}))
	require.Equal(t, 7, run.Config.Tests)
	require.Equal(t, []string{"a"}, run.Cells[0].Known)
	require.NotNil(t, run.Stats)
}

// TestNoRelease: a filter without releases holds of toolchains whose version nobody can tell; one with a bound does not.
func TestNoRelease(t *testing.T) {
	f := &Filter{}
	require.True(t, f.release("clang"))
	for _, f := range []*Filter{{From: "11.2"}, {To: "11.8"}} {
		require.False(t, f.release("clang"))
	}
}
