package model

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// A title lies within its picture, whatever its length; what is left out of it
// is its middle.
func TestFitTitle(t *testing.T) {
	const verdict = ": forbidden by gl-constraint"
	for _, width := range []float64{252, 548, 844} {
		for n := range 200 {
			text := strings.Repeat("é", n) + verdict
			short, size := fitTitle(text, width)
			assert.LessOrEqual(t, titleEm*size*float64(utf8.RuneCountInString(short)), width)
			assert.GreaterOrEqual(t, size, float64(titleMin))
			assert.LessOrEqual(t, size, float64(titleSize))
			assert.True(t, short == text || strings.Contains(short, "…"))
			assert.True(t, strings.HasSuffix(short, "gl-constraint"))
		}
	}
	text, size := fitTitle("mp"+verdict, 548)
	assert.Equal(t, "mp"+verdict, text)
	assert.Equal(t, 17.0, size)
}
