package realcode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// FuzzSource: whatever is read as a module can be laid out as programs, and is the same
// module with lines.
func FuzzSource(f *testing.F) {
	files, err := filepath.Glob("testdata/*.ptx")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(".version 7.0\n.target sm_70\n.entry k() { .reg .b32 %r<3>; a: { b: bra b; } brx.idx %r1, t; t: .branchtargets a, b; }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ptx.Parse("k.ptx", data)
		if err != nil {
			return
		}
		p := NewProgram(m, Origin{})
		for _, root := range Roots(m) {
			src, err := readSource(m, root)
			if err != nil {
				continue
			}
			g, err := unroll(src.steps, src.entries[root], 0, nil, 5000)
			if err != nil {
				continue
			}
			for _, n := range g.next {
				for _, x := range n {
					if int(x) >= len(g.next) {
						t.Fatal("an edge to nowhere")
					}
				}
			}
		}
		again, err := ptx.Parse("k.ptx", []byte(m.Lined(lineFile, "")))
		if err != nil {
			t.Fatalf("with lines: %v", err)
		}
		if again.Insts != m.Insts || len(NewProgram(again, Origin{}).Tests) != len(p.Tests) {
			t.Fatal("with lines it is another program")
		}
	})
}
