package machine

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/model/exec"
	"optcheck/model/internal/gen"
)

// TestReductions: what makes the state space smaller changes no final state. The
// same machine without it visits far more states.
func TestReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	less, more, n := 0, 0, 0
	for n < 150 {
		test := gen.Test(r, gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 6, Locations: 2, Atomics: n%3 == 0, Membar: true, Deps: n%2 == 0, SameGPU: true}, "R")
		p, err := exec.Compile(test)
		require.NoError(t, err)
		m := UGPU()
		a, err := m.Run(t.Context(), p, Options{})
		if err != nil {
			require.ErrorIs(t, err, ErrOutside)
			continue
		}
		n++
		m.plain = true
		b, err := m.Run(t.Context(), p, Options{})
		require.NoError(t, err)
		require.Empty(t, b.Undecided)
		require.Equal(t, states(b), states(a), "%s", test)
		less, more = less+int(a.Candidates), more+int(b.Candidates)
	}
	t.Logf("%d programs: %d states instead of %d", n, less, more)
	require.Less(t, less, more)
}

func states(r *exec.Result) (list [][]int64) {
	for _, s := range r.States {
		list = append(list, s.Values)
	}
	return list
}
