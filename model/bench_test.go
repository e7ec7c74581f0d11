package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/model/internal/gen"
)

// BenchmarkOrdinary parses and judges ordinary tests of 2 to 4 threads.
func BenchmarkOrdinary(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var texts [][]byte
	for i := range 1000 {
		texts = append(texts, []byte(gen.Ordinary(r, fmt.Sprintf("T%d", i), true).String()))
	}
	for _, name := range []string{"parse", "sc", "tso", "ptx-2015", "ptx-6.0", "ptx", "opencl"} {
		b.Run(name, func(b *testing.B) {
			var m *Model
			if name != "parse" {
				m = load(b, name)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				t, err := litmus.Parse("t", texts[i%len(texts)])
				require.NoError(b, err)
				if m != nil {
					if _, err := m.Judge(context.Background(), t, Options{}); err != nil {
						b.Fatal(err)
					}
				}
				i++
			}
			b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "tests/s")
		})
	}
}

// BenchmarkShapes judges the two shapes on which listing everything is slow.
func BenchmarkShapes(b *testing.B) {
	for _, src := range []string{gen.Ring(12), gen.Writers(8)} {
		t := parse(b, src)
		for _, name := range []string{"sc", "tso", "ptx"} {
			b.Run(t.Name+"/"+name, func(b *testing.B) {
				m := load(b, name)
				for b.Loop() {
					v := judge(b, m, t)
					require.NotEmpty(b, v.States)
				}
			})
		}
	}
}
