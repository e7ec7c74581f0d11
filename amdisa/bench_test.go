package amdisa

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkParse reads the golden files of one dialect each.
func BenchmarkParse(b *testing.B) {
	for _, pattern := range []string{"*gfx*.s", "*.dump", "*c*_O*.s"} {
		files, err := filepath.Glob(filepath.Join("testdata/golden", pattern))
		require.NoError(b, err)
		var texts [][]byte
		size := 0
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(b, err)
			texts = append(texts, text)
			size += len(text)
		}
		b.Run(pattern, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for i, text := range texts {
					if _, err := Parse(files[i], text); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
