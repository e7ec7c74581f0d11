package html

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestChoose: the cells that are chosen are those that a page counts, and the set
// of them says so itself.
func TestChoose(t *testing.T) {
	s := sample(60)
	x := NewIndex(s)
	chose := 0
	for _, f := range []Filter{{}, {Class: []string{event.Miscompiled, event.Optimised}},
		{Target: x.Targets[:1], Level: x.Levels[1:2]}, {Rule: x.Rules[:1]},
		{Release: x.Toolchains[1:2], Text: "a"}, {Known: "new"}, {Preset: x.Presets[:1], Layout: x.Layouts[:1]}} {
		keep, err := Choose(s, f, true)
		require.NoError(t, err)
		part := s.Keep(keep)
		y := NewIndex(part)
		want := x.Select(f)
		require.Equal(t, want.Total, y.Select(Filter{}).Total, "%+v", f)
		require.Equal(t, want.Total, y.Select(f).Total, "%+v", f)
		require.Equal(t, len(part.Cells), part.Config.Cells-max(0, s.Config.Cells-len(s.Cells)))
		if n := len(part.Cells); n > 0 && n < len(s.Cells) {
			chose++
		}
	}
	require.Greater(t, chose, 3)
	keep, err := Choose(s, Filter{Release: []string{x.Toolchains[0][:len("ptxas")]}}, true)
	require.NoError(t, err)
	require.Len(t, s.Keep(keep).Cells, len(s.Cells), "all are of this tool")
	_, err = Choose(s, Filter{Target: []string{"sm_1"}}, true)
	require.ErrorContains(t, err, `no cell has the target "sm_1"`)
	keep, err = Choose(s, Filter{Target: []string{"sm_1"}}, false)
	require.NoError(t, err)
	require.Empty(t, s.Keep(keep).Cells)
}
