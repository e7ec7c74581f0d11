package corpus

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

func TestFilesArePrinted(t *testing.T) {
	entries, err := FS.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		src, err := FS.ReadFile(path.Join(dir, e.Name()))
		require.NoError(t, err)
		lt, err := litmus.Parse(e.Name(), src)
		require.NoError(t, err)
		require.Equal(t, e.Name(), lt.Name+".litmus")
		require.Equal(t, string(src), lt.String(), "a file of the corpus is in the printer's form")
	}
}

func TestLookup(t *testing.T) {
	lt, ok := Lookup("coRR")
	require.True(t, ok)
	require.Equal(t, "coRR", lt.Name)
	_, ok = Lookup("nosuch")
	require.False(t, ok)
}
