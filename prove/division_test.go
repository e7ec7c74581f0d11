package prove_test

import (
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// estimates are what machine code may estimate 2^32/d as, with all reciprocals of d within the documented error.
func estimates(d uint32, do func(e uint32)) {
	up := func(f float32, v float64) float32 {
		if float64(f) < v {
			return math.Nextafter32(f, math.MaxFloat32)
		}
		return f
	}
	list := []float32{up(float32(d), float64(d))}
	if d >= 1<<31 { // as a signed number: 2^31 is an absolute value
		list = append(list, up(float32(int32(d)), float64(int32(d))))
	}
	for _, f := range list {
		for ulp := -3; ulp <= 3; ulp++ {
			r := math.Float32frombits(math.Float32bits(1/f) + uint32(ulp))
			if math.Abs(float64(r)*float64(f)-1) > 1.0/(1<<23) {
				continue
			}
			var m uint32
			switch v := math.Float32frombits(math.Float32bits(r) + 0xffffffe); {
			case v >= 1<<32:
				m = math.MaxUint32
			case v > 0:
				m = uint32(v)
			}
			do(m + uint32(uint64(m)*uint64(-m*d)>>32))
		}
	}
}

// TestEstimate: what machine code multiplies with to divide by d is at most 2^32/d, and not more than two less. (OPTCHECK_FULL: for all d, about
// 15 minutes on two cores.)
func TestEstimate(t *testing.T) {
	var wrong, seen atomic.Int64
	check := func(d uint32) {
		estimates(d, func(e uint32) {
			seen.Add(1)
			less := int64(1<<32) - int64(uint64(e)*uint64(d))
			if (less < 0 || less > 2*int64(d)) && wrong.Add(1) < 5 {
				t.Errorf("%d: %d is 2^32/d less %d/d", d, e, less)
			}
		})
	}
	if os.Getenv("OPTCHECK_FULL") != "" {
		var wg sync.WaitGroup
		for w := range uint64(2) {
			wg.Go(func() {
				for d := 1 + w; d < 1<<32; d += 2 {
					check(uint32(d))
				}
			})
		}
		wg.Wait()
	}
	r := rand.New(rand.NewPCG(32, 2))
	for k := range 32 {
		for range 1 << 12 {
			check(1<<k | r.Uint32()&(1<<k-1))
		}
		check(1 << k)
		check(1<<k + 1)
		check(math.MaxUint32 >> k)
	}
	require.Zero(t, wrong.Load())
	require.Greater(t, seen.Load(), int64(1<<17))
}
