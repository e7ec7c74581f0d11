package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestChangeRank: what got worse stands first, then what is as bad as before, then what got better, and last what one side
// could not compile; of each, the worse the class, the earlier.
func TestChangeRank(t *testing.T) {
	at := func(class string) int { return slices.Index(event.Severities, class) }
	bad, fine, none := at(event.Miscompiled), at(event.Preserved), at(event.Unsupported)
	list := [][2]int{{fine, bad}, {bad, bad}, {fine, fine}, {bad, fine}, {bad, none}, {none, bad}, {fine, none}, {none, fine}, {none, none}}
	for i, c := range list[1:] {
		was := list[i]
		require.LessOrEqual(t, ChangeRank(was[0], was[1]), ChangeRank(c[0], c[1]), "%v %v", was, c)
	}
	require.Less(t, ChangeRank(bad, fine), ChangeRank(bad, none))
	require.Less(t, ChangeRank(bad, fine), ChangeRank(none, bad))
	require.Equal(t, ChangeRank(none, fine), ChangeRank(fine, none))
}
