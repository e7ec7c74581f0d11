package report

import (
	"bytes"
	"regexp"
	"strconv"
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

// TestSweepScales: equal factors are equal distances, on both axes.
func TestSweepScales(t *testing.T) {
	var a bytes.Buffer
	require.NoError(t, WriteSweeps(&a, "mp", "n", "µs", []Sweep{{Name: "one", X: []float64{1, 4, 16}, Y: []float64{10, 100, 1000}}}))
	number := `(-?[\d.]+)`
	line := regexp.MustCompile(`M` + number + `,` + number + `L` + number + `,` + number + `L` + number + `,` + number + `"`).FindStringSubmatch(a.String())
	require.Len(t, line, 7, a.String())
	var at [6]float64
	for i := range at {
		var err error
		at[i], err = strconv.ParseFloat(line[i+1], 64)
		require.NoError(t, err)
	}
	for axis := range 2 {
		require.InDelta(t, at[2+axis]-at[axis], at[4+axis]-at[2+axis], 0.01)
	}
}
