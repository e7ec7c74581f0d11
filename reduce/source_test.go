package reduce

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestText: the words of any text are the text, and each step leaves less of it.
func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab1 \n\t(){}[];\"'/*\\#µ"))).Draw(t, "s")
		whole := readText(s)
		require.Equal(t, s, whole.String())
		for _, step := range append(append(whole.lines(2), whole.words(3)...), whole.brackets()...) {
			require.Less(t, len(whole.without(step).String()), len(s), step.name)
		}
		require.Equal(t, s, whole.String(), "a step changed the text")
	})
}

// TestBrackets: what stands in brackets goes with them and without, statements go alone.
func TestBrackets(t *testing.T) {
	whole := readText("int f(int x) { g(1); return x; }\nint y;")
	left := map[string]bool{}
	for _, s := range whole.brackets() {
		left[strings.Join(strings.Fields(whole.without(s).String()), " ")] = true
	}
	for _, want := range []string{"int f() { g(1); return x; } int y;", "int f{ g(1); return x; } int y;", "int f(int x) { return x; } int y;",
		"int f(int x) { g(1); } int y;", "int f(int x) { } int y;", "int f(int x) int y;", "int f(int x) { g(1); return x; }", "int y;"} {
		require.True(t, left[want], "%s: %v", want, left)
	}
}
