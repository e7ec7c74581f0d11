package hunt

import (
	"testing"

	"optcheck/ptxgen/cycle"
)

// BenchmarkCompose composes the tests of a hunt with all its bases, and says what the
// first one costs.
func BenchmarkCompose(b *testing.B) {
	bases := CorpusBases()
	for _, p := range []string{"opportunities", "ptx", "scopes"} {
		g, err := cycle.Preset(p)
		if err != nil {
			b.Fatal(err)
		}
		list, err := PresetBases(g)
		if err != nil {
			b.Fatal(err)
		}
		bases = append(bases, list...)
	}
	b.Run("begin", func(b *testing.B) {
		for b.Loop() {
			newComposer(bases, 1).batch(1)
		}
	})
	c := newComposer(bases, 1)
	b.Run("test", func(b *testing.B) {
		for b.Loop() {
			c.batch(1)
		}
	})
}
