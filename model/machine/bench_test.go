package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/model"
	"optcheck/ptxgen/cycle"
)

// BenchmarkPaper judges the tests of preset paper, each machine beside the axioms
// that it is compared with.
func BenchmarkPaper(b *testing.B) {
	g, err := cycle.Preset("paper")
	require.NoError(b, err)
	var tests []*litmus.Test
	for t := range g.Tests() {
		tests = append(tests, t)
	}
	for _, name := range []string{"ugpu", "ptx-2015-op", "ptx-2015", "ptx-op", "ptx"} {
		m, err := model.Load(name)
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			states := uint64(0)
			for b.Loop() {
				for _, t := range tests {
					v, err := m.Judge(b.Context(), t, model.Options{StatesOnly: true})
					require.NoError(b, err)
					states += v.Candidates
				}
			}
			b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
		})
	}
}
