package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
)

// TestAsyncCorpus: each test of the corpus says what ptx-async says of it.
func TestAsyncCorpus(t *testing.T) {
	tests := corpus.Async()
	require.GreaterOrEqual(t, len(tests), 100)
	m := load(t, AsyncModel)
	for _, x := range tests {
		v := judge(t, m, x)
		require.Empty(t, v.Undecided, x.Name)
		said, _, _ := strings.Cut(x.Doc, ";")
		assert.Equal(t, "ptx-async="+v.Observation.String(), said, x.Name)
	}
}
