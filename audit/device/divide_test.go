package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/ptxgen/cycle"
)

// TestDivideOnce: a test that names devices itself, and one that is divided to the same, are
// one.
func TestDivideOnce(t *testing.T) {
	g, err := cycle.Preset("scopes")
	require.NoError(t, err)
	var tests []*litmus.Test
	for x := range g.Tests() {
		tests = append(tests, x)
	}
	divided, parent := Divide(tests, 2)
	seen := map[string]string{}
	for _, x := range divided {
		h := x.Canonical().Hash()
		require.Empty(t, seen[h], x.Name)
		seen[h] = x.Name
	}
	require.NotEmpty(t, parent)
	require.Less(t, len(parent), len(divided), "some name devices themselves")
}
