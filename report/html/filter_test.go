package html

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSelectWithoutHistogram: sets with too many columns and presets for a
// histogram are counted alike.
func TestSelectWithoutHistogram(t *testing.T) {
	x := NewIndex(sample(3000))
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f := someFilter(x, rnd)
		want := x.Select(f)
		old := maxHistogram
		maxHistogram = 0
		got := x.Select(f)
		maxHistogram = old
		require.Equal(t, want, got, "%+v", f)
	}
}
