package model

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

// TestAsyncKeepsVerdicts: on tests that need nothing else, ptx-async says what ptx says, state by
// state.
func TestAsyncKeepsVerdicts(t *testing.T) {
	var tests []*litmus.Test
	files, err := filepath.Glob("testdata/known/*.litmus")
	require.NoError(t, err)
	for _, file := range files {
		test, err := litmus.ParseFile(file)
		require.NoError(t, err)
		tests = append(tests, test)
	}
	tests = append(tests, corpus.Tests()...)
	require.Greater(t, len(tests), 150)
	old := load(t, "ptx")
	n := 0
	for _, test := range tests {
		want, err := old.Judge(t.Context(), test, Options{})
		require.NoError(t, err, test.Name)
		if want.Undecided != "" || test.Mixed() {
			continue
		}
		for _, name := range []string{"ptx-async", "ptx-bytes"} {
			assert.Equal(t, want.States, judge(t, load(t, name), test).States, "%s under %s", test.Name, name)
		}
		n++
	}
	t.Logf("%d tests", n)
	assert.Greater(t, n, 150)
}
