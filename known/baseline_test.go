package known

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

func cellOf(class string, findings ...event.Finding) event.Cell {
	return event.Cell{Test: "k[1].ptx:wait*", Toolchain: "ptxas 11.8.89", Target: "sm_80", Level: "O3", Layout: "own",
		Result: event.Result{Class: class, Findings: findings}}
}

// TestBaseline: a list that is written knows what was found, also where lines and registers are others, and nothing else.
func TestBaseline(t *testing.T) {
	gone := event.Finding{Rule: "missing", Access: 3, Detail: "70:2 ld.acquire.gpu.b32 %r2,[%rd9+0x1f]: there is \"nothing\" of it\n(or little)"}
	weak := event.Finding{Rule: "weakened", Access: 1, Detail: "a"}
	old := cellOf(event.Changed, weak)
	old.Known = []string{"somebody's"}
	cells := []event.Cell{cellOf(event.Miscompiled, gone, weak), cellOf(event.Miscompiled, gone), cellOf(event.Preserved), old,
		cellOf(event.Unknown, weak)}
	all := func(yield func(int, *event.Cell) bool) {
		for i := range cells {
			if !yield(i, &cells[i]) {
				return
			}
		}
	}
	var b, again bytes.Buffer
	require.NoError(t, WriteBaseline(&b, all))
	slices.Reverse(cells)
	require.NoError(t, WriteBaseline(&again, all))
	require.Equal(t, b.String(), again.String())
	l, err := Parse("baseline.yaml", b.Bytes())
	require.NoError(t, err)
	require.Len(t, l.Filters, 2)
	knows := func(c event.Cell) bool { l.Mark(&c); return len(c.Known) > 0 }
	require.True(t, knows(cellOf(event.Miscompiled, weak, gone)))
	moved := gone
	moved.Detail = "71:14 ld.acquire.gpu.b32 %r44,[%rd1+0x8]: there is \"nothing\" of it\n(or little)"
	require.True(t, knows(cellOf(event.Miscompiled, moved)))
	for _, c := range []event.Cell{cellOf(event.Changed, gone), cellOf(event.Miscompiled, event.Finding{Rule: "reordered", Detail: gone.Detail}),
		cellOf(event.Miscompiled, gone, event.Finding{Rule: "missing", Detail: "70:2 ld.acquire.sys.b32 %r2: other"}), cellOf(event.Unknown, weak)} {
		require.False(t, knows(c), "%v", c)
	}
	other := cellOf(event.Miscompiled, gone)
	other.Test = "k1.ptx:waits"
	require.False(t, knows(other))
	b.Reset()
	cells = nil
	require.NoError(t, WriteBaseline(&b, all))
	_, err = Parse("baseline.yaml", b.Bytes())
	require.NoError(t, err)
}
