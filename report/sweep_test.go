package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteSweeps(t *testing.T) {
	list := []Sweep{{Name: "one way", X: []float64{1, 4, 16}, Y: []float64{10, 20, 200}}, {Name: "another", X: []float64{1, 4}, Y: []float64{5, 7}}}
	var a, b bytes.Buffer
	require.NoError(t, WriteSweeps(&a, "mp", "n", "µs", list))
	require.NoError(t, WriteSweeps(&b, "mp", "n", "µs", list))
	require.Equal(t, a.String(), b.String())
	for _, want := range []string{"<svg", ">one way<", ">another<", ">µs<", ">mp<", ">100<"} {
		require.Contains(t, a.String(), want)
	}
	list[1].Y[1] = 70
	b.Reset()
	require.NoError(t, WriteSweeps(&b, "mp", "n", "µs", list))
	require.NotEqual(t, a.String(), b.String())
	require.Equal(t, strings.Count(a.String(), "<path"), strings.Count(b.String(), "<path"))
}
