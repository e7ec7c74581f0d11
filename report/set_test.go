package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSet: a Set is the same run, and keeps what repeats once.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRun(t)
		s := NewSet()
		require.NoError(t, r.Replay(s))
		var a, b bytes.Buffer
		back := s.Run()
		require.NoError(t, r.Replay(NewJSONLines(&a)))
		back.Tests = back.Tests[:len(r.Tests)] // cells name further ones
		require.NoError(t, back.Replay(NewJSONLines(&b)))
		require.Equal(t, a.String(), b.String())
		seen := map[string]bool{}
		for i := range s.Results {
			k := s.Results[i].Signature() + s.Results[i].Class + s.Results[i].Code
			for _, f := range s.Results[i].Findings {
				k += f.Detail
			}
			require.False(t, seen[k], "result %d is there twice", i)
			seen[k] = true
		}
	})
}
