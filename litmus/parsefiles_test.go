package litmus

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseFiles(t *testing.T) {
	files, err := filepath.Glob("corpus/tests/*.litmus")
	require.NoError(t, err)
	files = append(files, "corpus/tests/there-is-no-such-file.litmus")
	tests, errs := ParseFiles(files)
	require.Len(t, tests, len(files))
	for i, f := range files[:len(files)-1] {
		require.NoError(t, errs[i])
		one, err := ParseFile(f)
		require.NoError(t, err)
		require.Equal(t, one, tests[i])
	}
	require.Error(t, errs[len(files)-1])
	require.Nil(t, tests[len(files)-1])
	none, _ := ParseFiles(nil)
	require.Empty(t, none)
}
