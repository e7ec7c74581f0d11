package runner

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// Known values of the exact interval: published tables and closed forms.
func TestRateInterval(t *testing.T) {
	for _, c := range []struct {
		hits, n   uint64
		low, high float64
	}{
		{0, 10, 0, 0.308498},                // closed form 1 − 0.025^(1/10)
		{10, 10, 0.691502, 1},               // its mirror image
		{1, 10, 0.002529, 0.445016},         // published tables of the 95 % exact interval
		{5, 10, 0.187086, 0.812914},         //
		{2, 100, 0.002431, 0.070384},        //
		{10, 100, 0.049005, 0.176223},       //
		{1, 1e11, 0.025318e-11, 5.5716e-11}, // Poisson limits of one event
		{10, 1e11, 4.79539e-11, 18.3904e-11},
		{100, 1e9, 81.3639e-9, 121.627e-9},
	} {
		i := RateInterval(c.hits, c.n)
		require.InEpsilon(t, 1+c.low, 1+i.Low, 1e-6, "%v", c)
		if c.low > 0 {
			require.InEpsilon(t, c.low, i.Low, 5e-4, "low of %v", c)
		}
		require.InEpsilon(t, c.high, i.High, 5e-4, "high of %v", c)
	}
	require.Equal(t, Interval{0, 1}, RateInterval(0, 0))
}

// Where the exact interval gives way to Wilson's, both say the same.
func TestIntervalsMeet(t *testing.T) {
	for _, n := range []uint64{1e6, 1e9, 1e11} {
		exact := RateInterval(exactHits, n)
		w := wilson(exactHits, float64(n))
		width := exact.High - exact.Low
		require.InDelta(t, exact.Low, w.Low, 0.002*width, "n %d", n)
		require.InDelta(t, exact.High, w.High, 0.002*width, "n %d", n)
	}
}

// The ends of the interval are what they are defined as: tails of binomials.
func TestIntervalCovers(t *testing.T) {
	for _, c := range []struct{ k, n float64 }{{1, 20}, {7, 50}, {40, 1000}, {999, 1000}} {
		i := RateInterval(uint64(c.k), uint64(c.n))
		require.InDelta(t, 0.025, 1-distuv.Binomial{N: c.n, P: i.Low}.CDF(c.k-1), 1e-6)
		require.InDelta(t, 0.025, distuv.Binomial{N: c.n, P: i.High}.CDF(c.k), 1e-6)
	}
}

func TestExcluded(t *testing.T) {
	require.Equal(t, 1.0, Excluded(0))
	require.InDelta(t, 0.95, Excluded(1), 1e-12)
	require.InEpsilon(t, 0.258866, Excluded(10), 1e-5)
	for _, n := range []uint64{1e6, 1e9, 1e12} { // the rule of three
		require.InEpsilon(t, 2.995732/float64(n), Excluded(n), 1e-5)
	}
}

func TestReproducibility(t *testing.T) {
	for n, want := range map[uint64]float64{0: 0, 1: 0.632121, 3: 0.950213, 5: 0.993262} {
		require.InDelta(t, want, Reproducibility(n), 1e-6, "%d hits", n)
	}
}

func ExampleExcluded() {
	fmt.Printf("not seen in 1e8 instances: a rate above %.2g is excluded\n", Excluded(1e8))
	fmt.Printf("%.3f\n", math.Round(1000*Reproducibility(3))/1000)
	// Output:
	// not seen in 1e8 instances: a rate above 3e-08 is excluded
	// 0.950
}

// TestBlockInterval: instances that come in blocks are as good as their blocks.
func TestBlockInterval(t *testing.T) {
	require.Equal(t, RateInterval(7, 1000), BlockInterval(7, 1000, 1))
	require.Equal(t, RateInterval(10, 1000), BlockInterval(320, 32000, 32))
	odd := BlockInterval(33, 32000, 32) // one or two blocks
	require.Equal(t, Interval{RateInterval(1, 1000).Low, RateInterval(2, 1000).High}, odd)
	require.Equal(t, RateInterval(0, 1), BlockInterval(0, 20, 32))
	require.Equal(t, Interval{0, 1}, BlockInterval(0, 0, 32))
}
