package cat

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestExplainStoreBuffering(t *testing.T) {
	p := mustCompile(t, modelSC, stdSig)
	m := sb().machine(t, p)
	i, err := m.Run(p.everything())
	require.NoError(t, err)
	require.Equal(t, 0, i)
	e, err := m.Explain(i)
	require.NoError(t, err)
	require.Equal(t, "sc", e.Check.Name)
	require.Equal(t, []int{2, 3, 4, 5}, e.Cycle)
	require.Equal(t, []Step{
		{2, 3, "po", []Edge{{2, 3, "po", false}}},
		{3, 4, "fr", []Edge{{3, 4, "fr", false}}},
		{4, 5, "po", []Edge{{4, 5, "po", false}}},
		{5, 2, "fr", []Edge{{5, 2, "fr", false}}},
	}, e.Steps)
}

// TestExplainComposition descends through composition, inverse, closure,
// restriction and recursion.
func TestExplainComposition(t *testing.T) {
	sig := stdSig
	sig.Prelude = &File{}
	p := mustCompile(t, `
let from-read = rf^-1 ; co
let rec hb = po | hb ; hb
irreflexive ([R] ; from-read ; [W]) ; rf? ; hb as cohere
empty [IW] ; co+ ; [W \ IW] as none
`, sig)
	g := sb()
	m := g.machine(t, p)
	require.NoError(t, m.RunAll(p.everything()))
	require.False(t, m.Holds(1))
	e, err := m.Explain(1)
	require.NoError(t, err)
	require.Equal(t, []Step{{0, 2, "", []Edge{{0, 2, "co", false}}}}, e.Steps)

	// message passing that reads the flag's write and then the old data
	g = makeGraph([]evt{{-1, 'W', 0}, {0, 'W', 0}, {1, 'R', 0}, {1, 'R', 0}}, stdSig)
	g.rels["rf"].Add(1, 2)
	g.rels["rf"].Add(0, 3)
	g.rels["co"].Add(0, 1)
	m = g.machine(t, p)
	i, err := m.Run(p.everything())
	require.NoError(t, err)
	require.Equal(t, 0, i)
	e, err = m.Explain(0)
	require.NoError(t, err)
	require.Equal(t, []int{3}, e.Cycle)
	require.Equal(t, []Edge{{3, 0, "rf", true}, {0, 1, "co", false}, {1, 2, "rf", false}, {2, 3, "po", false}}, e.Steps[0].Via)

	it, err := NewInterp(p)
	require.NoError(t, err)
	res, err := it.Run(context.Background(), &Execution{N: g.n, Sets: g.sets, Rels: g.rels}, RunOptions{})
	require.NoError(t, err)
	require.False(t, res.Allowed)
	require.Equal(t, "cohere", res.Failed.Name)
	require.Equal(t, []int{3}, res.Failed.Cycle)
}

// TestExplanationsAreSound checks on random models that explanations are
// chains of pairs that the base relations really have.
func TestExplanationsAreSound(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		g := &progGen{t: t, sets: []string{"S1", "S2", "S3"}, rels: []string{"r1", "r2", "r3"}}
		src := g.program()
		f, err := Parse("gen", src, nil)
		require.NoError(t, err)
		p, err := Compile(context.Background(), f, diffSig)
		require.NoError(t, err)
		if !p.Flat() {
			return
		}
		ex := drawExecution(t, diffSig)
		m, err := p.NewMachine(ex.N)
		require.NoError(t, err)
		bindAll(m, ex)
		if m.RunAll(p.everything()) != nil {
			return
		}
		for i := range p.Checks() {
			e, err := m.Explain(i)
			require.NoError(t, err)
			for _, s := range e.Steps {
				at := s.From
				for _, edge := range s.Via {
					require.Equal(t, at, edge.From, src)
					at = edge.To
					if r, ok := ex.Rels[edge.Rel]; ok {
						a, b := edge.From, edge.To
						if edge.Inverse {
							a, b = b, a
						}
						require.True(t, r.Has(a, b), src)
						seen++
					}
				}
				require.Equal(t, at, s.To, src)
			}
		}
	})
	require.NotZero(t, seen)
}
