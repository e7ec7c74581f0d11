package machine

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/internal/gen"
)

// TestReductions: what makes the state space smaller changes no final state. The
// same machine without it visits far more states.
func TestReductions(t *testing.T) {
	for _, c := range []struct {
		m      *Model
		random gen.Config
		equal  []*litmus.Test
	}{
		{UGPU(), gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 6, Locations: 2, Atomics: true, Membar: true, Deps: true, SameGPU: true}, equalThreads(t)},
		{Settling("ptx-op"), gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 5, Locations: 2, Strong: true, Atomics: true, Fences: true, Deps: true}, equalThreads(t)},
	} {
		r := rand.New(rand.NewPCG(1, 3))
		tests := c.equal
		for range 150 {
			tests = append(tests, gen.Test(r, c.random, "R"))
		}
		less, more, n := 0, 0, 0
		for _, test := range tests {
			p, err := exec.Compile(test)
			require.NoError(t, err)
			m := *c.m
			a, err := m.Run(t.Context(), p, Options{})
			if err != nil {
				require.ErrorIs(t, err, ErrOutside)
				continue
			}
			m.plain = true
			b, err := m.Run(t.Context(), p, Options{})
			require.NoError(t, err)
			require.Empty(t, b.Undecided)
			require.Equal(t, states(b), states(a), "%s under %s", test, m.Name)
			n, less, more = n+1, less+int(a.Candidates), more+int(b.Candidates)
		}
		t.Logf("%s, %d programs: %d states instead of %d", c.m.Name, n, less, more)
		require.Greater(t, n, 100)
		require.Less(t, less, more)
	}
}

// equalThreads are tests whose threads, or some of them, can be exchanged.
func equalThreads(t testing.TB) []*litmus.Test {
	add := []string{"atom.add r1, x, 1"}
	look := []string{"st.weak y, 1", "ld.weak r1, x"}
	choose := []string{"atom.cas r1, x, 0, 1", "bne r1, 0, END", "st.weak y, 1", "END:"}
	cond := "0:r1=0 /\\ 1:r1=1 /\\ 2:r1=2"
	return []*litmus.Test{
		parse(t, "0123", [][]string{add, add, add, add}, "x=0;", cond, false),
		parse(t, "012", [][]string{add, look, look}, "x=0; y=0;", cond, false),
		parse(t, "001", [][]string{look, look, add}, "x=0; y=0;", cond, false),
		parse(t, "012", [][]string{choose, choose, choose}, "x=0; y=0;", cond, false),
	}
}

// TestSymmetry: with equal threads exchanged eight atomics are few states.
func TestSymmetry(t *testing.T) {
	add := []string{"atom.add r1, x, 1"}
	p, err := exec.Compile(parse(t, "01234567", [][]string{add, add, add, add, add, add, add, add}, "x=0;", "0:r1=0 /\\ 1:r1=1 /\\ x=8", false))
	require.NoError(t, err)
	r, err := UGPU().Run(t.Context(), p, Options{})
	require.NoError(t, err)
	require.Equal(t, uint64(9), r.Candidates)
	require.Len(t, r.States, 8*7, "what two of the threads have read")
}

func states(r *exec.Result) (list [][]int64) {
	for _, s := range r.States {
		list = append(list, s.Values)
	}
	return list
}
