package known

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

func cellOf(class string, findings ...event.Finding) event.Cell {
	return event.Cell{Test: "k[1].ptx:wait*", Toolchain: "ptxas 11.8.89", Target: "sm_80", Level: "O3", Layout: "own",
		Result: event.Result{Class: class, Findings: findings}}
}

func all(cells []event.Cell) iter.Seq2[int, *event.Cell] {
	return func(yield func(int, *event.Cell) bool) {
		for i := range cells {
			if !yield(i, &cells[i]) {
				return
			}
		}
	}
}

// TestBaseline: a list that is written knows what was found, also where lines and registers are others, and nothing else.
func TestBaseline(t *testing.T) {
	gone := event.Finding{Rule: "missing", Access: 3, Detail: "70:2 ld.acquire.gpu.b32 %r2,[%rd9+0x1f]: there is \"nothing\" of it\n(or little)"}
	weak := event.Finding{Rule: "weakened", Access: 1, Detail: "a"}
	old := cellOf(event.Changed, weak)
	old.Known = []string{"somebody's"}
	cells := []event.Cell{cellOf(event.Miscompiled, gone, weak), cellOf(event.Miscompiled, gone), cellOf(event.Preserved), old,
		cellOf(event.Unknown, weak)}
	var b, again bytes.Buffer
	require.NoError(t, WriteBaseline(&b, all(cells)))
	slices.Reverse(cells)
	require.NoError(t, WriteBaseline(&again, all(cells)))
	require.Equal(t, b.String(), again.String())
	l, err := Parse("baseline.yaml", b.Bytes())
	require.NoError(t, err)
	require.Len(t, l.Filters, 2)
	knows := func(c event.Cell) bool { l.Mark(&c); return len(c.Known) > 0 }
	require.True(t, knows(cellOf(event.Miscompiled, weak, gone)))
	moved := gone
	moved.Detail = "71:14 ld.acquire.gpu.b32 %r44,[%rd1+0x8]: there is \"nothing\" of it\n(or little)"
	require.True(t, knows(cellOf(event.Miscompiled, moved)))
	for _, c := range []event.Cell{cellOf(event.Changed, gone), cellOf(event.Miscompiled, event.Finding{Rule: "reordered",
		Detail: gone.Detail}),
		cellOf(event.Miscompiled, gone, event.Finding{Rule: "missing", Detail: "70:2 ld.acquire.sys.b32 %r2: other"}), cellOf(event.Unknown,
			weak)} {
		require.False(t, knows(c), "%v", c)
	}
	other := cellOf(event.Miscompiled, gone)
	other.Test = "k1.ptx:waits"
	require.False(t, knows(other))
	b.Reset()
	cells = nil
	require.NoError(t, WriteBaseline(&b, all(cells)))
	_, err = Parse("baseline.yaml", b.Bytes())
	require.NoError(t, err)
}

// TestBaselineOrder: a list is in the order of tests, rules and details, whatever the order of the cells, and no longer than a list that
// can be read.
func TestBaselineOrder(t *testing.T) {
	of := func(test, rule, detail string) event.Cell {
		c := cellOf(event.Changed, event.Finding{Rule: rule, Detail: detail})
		c.Test = test
		return c
	}
	cells := []event.Cell{of("c", "merged", "z"), of("a", "missing", "u"), of("b", "merged", "x"), of("a", "merged", "w"), of("a", "merged",
		"v")}
	var b bytes.Buffer
	require.NoError(t, WriteBaseline(&b, all(cells)))
	var found []string
	for line := range strings.Lines(b.String()) {
		if note, ok := strings.CutPrefix(strings.TrimSpace(line), "note: "); ok {
			found = append(found, note)
		}
	}
	require.Equal(t, "v w u x z", strings.Join(found, " "))
	b.Reset()
	require.ErrorContains(t, WriteBaseline(&b, all([]event.Cell{of("a", "merged", strings.Repeat("x", maxFile))})), "too many")
	require.Empty(t, b.String())
}

// TestBaselineNote: a note is a finding's detail, as far as there is room, cut between characters.
func TestBaselineNote(t *testing.T) {
	for _, x := range []struct{ detail, note string }{
		{strings.Repeat("a", maxNote), strings.Repeat("a", maxNote)},
		{strings.Repeat("a", maxNote+1), strings.Repeat("a", maxNote) + "…"},
		{strings.Repeat("a", maxNote-1) + "é", strings.Repeat("a", maxNote-1) + "…"},
	} {
		c := cellOf(event.Changed)
		require.Equal(t, x.note, baseline(&c, &event.Finding{Detail: x.detail}).Note)
	}
}
