package sat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSolve: random formulas near the threshold against all assignments; refutations check, and changed ones of formulas that hold never
// do.
func TestSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	yes, no := 0, 0
	for range 400 {
		n := 4 + r.IntN(10)
		var f [][]Lit
		for range int(4.3 * float64(n)) {
			var c []Lit
			for range 3 {
				c = append(c, Lit(r.IntN(2*n)))
			}
			f = append(f, c)
		}
		want := false
		for m := range 1 << n {
			all := true
			for _, c := range f {
				all = all && holds(c, func(v int) bool { return m>>v&1 == 1 })
			}
			want = want || all
		}
		a, model, learnt := Solve(n, f, 10000, effort())
		if want {
			yes++
			require.Equal(t, Satisfiable, a)
			for _, c := range f {
				require.True(t, holds(c, func(v int) bool { return model[v] }))
			}
			require.False(t, Check(n, f, nil, effort()))
			for range 20 {
				var wrong [][]Lit
				for range r.IntN(6) {
					wrong = append(wrong, []Lit{Lit(r.IntN(2 * n)), Lit(r.IntN(2 * n))}[:1+r.IntN(2)])
				}
				require.False(t, Check(n, f, wrong, effort()))
			}
			continue
		}
		no++
		require.Equal(t, Unsatisfiable, a)
		require.True(t, Check(n, f, learnt, effort()))
	}
	require.Positive(t, yes)
	require.Positive(t, no)
	a, _, _ := Solve(42, pigeons(6), 20, effort())
	require.Equal(t, Unknown, a, "the bound")
	a, _, learnt := Solve(42, pigeons(6), 1e6, effort())
	require.Equal(t, Unsatisfiable, a)
	require.True(t, Check(42, pigeons(6), learnt, effort()))
	require.False(t, Check(42, pigeons(6), learnt[:len(learnt)/2], effort()), "half of it")
}

// pigeons: n+1 of them in n holes.
func pigeons(n int) (f [][]Lit) {
	at := func(p, h int) Lit { return Lit(2 * (p*n + h)) }
	for p := range n + 1 {
		var c []Lit
		for h := range n {
			c = append(c, at(p, h))
			for q := range p {
				f = append(f, []Lit{at(p, h) ^ 1, at(q, h) ^ 1})
			}
		}
		f = append(f, c)
	}
	return f
}

func holds(c []Lit, value func(int) bool) bool {
	for _, l := range c {
		if value(l.Var()) == (l&1 == 0) {
			return true
		}
	}
	return false
}

func effort() *int {
	n := 1 << 30
	return &n
}
