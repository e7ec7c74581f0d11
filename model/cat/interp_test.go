package cat

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// runInterp evaluates a model with the interpreter.
func runInterp(t *testing.T, src string, g *graph, opt RunOptions) (*Result, error) {
	t.Helper()
	it, err := NewInterp(mustCompile(t, src, stdSig))
	require.NoError(t, err)
	return it.Run(context.Background(), &Execution{N: g.n, Sets: g.sets, Rels: g.rels}, opt)
}

// mp is message passing: x=1; y=1 || r=y; s=x, reading the flag and, if stale
// is set, the old data. The writes and reads of the flag release and acquire
// if sync is set.
func mp(stale, sync bool) *graph {
	g := makeGraph([]evt{{-1, 'W', 0}, {-1, 'W', 1}, {0, 'W', 0}, {0, 'W', 1}, {1, 'R', 1}, {1, 'R', 0}}, stdSig)
	g.rels["rf"].Add(3, 4)
	if stale {
		g.rels["rf"].Add(0, 5)
	} else {
		g.rels["rf"].Add(2, 5)
	}
	g.rels["co"].Add(0, 2)
	g.rels["co"].Add(1, 3)
	if sync {
		g.sets["REL"].Add(3)
		g.sets["ACQ"].Add(4)
		g.sets["A"].Add(3)
		g.sets["A"].Add(4)
	}
	return g
}

func TestC11(t *testing.T) {
	for _, c := range []struct {
		stale, sync bool
		allowed     bool
		undefined   []string
	}{
		{true, true, false, nil},
		{false, true, true, nil},
		{true, false, true, []string{"Dr"}},
		{false, false, true, []string{"Dr"}},
	} {
		res, err := runInterp(t, modelC11, mp(c.stale, c.sync), RunOptions{})
		require.NoError(t, err)
		require.Equal(t, c.allowed, res.Allowed, "%+v", c)
		if !c.allowed {
			require.Equal(t, "coherence", res.Failed.Name)
			continue
		}
		require.Len(t, res.Branches, 1)
		require.Equal(t, c.undefined, res.Branches[0].Undefined)
	}
}

// TestForks counts the orders that a model goes through.
func TestForks(t *testing.T) {
	g := makeGraph([]evt{{-1, 'W', 0}, {0, 'W', 0}, {1, 'W', 0}, {2, 'W', 0}}, stdSig)
	src := "with o from linearisations(W, co0)\nflag ~empty o & po as never\nacyclic o as total"
	res, err := runInterp(t, src, g, RunOptions{})
	require.NoError(t, err)
	require.Len(t, res.Branches, 6)
	require.Equal(t, 6, res.Tried)
	res, err = runInterp(t, src, g, RunOptions{First: true})
	require.NoError(t, err)
	require.Len(t, res.Branches, 1)
	_, err = runInterp(t, src, g, RunOptions{MaxSteps: 100})
	require.ErrorIs(t, err, ErrLimit)
	res, err = runInterp(t, "with o from {}", g, RunOptions{})
	require.NoError(t, err)
	require.False(t, res.Allowed)
}

// TestGenerateCos checks the replacement of herd's enumeration of coherence.
func TestGenerateCos(t *testing.T) {
	for demand, want := range map[string]bool{"co0": true, "0": true, "co^-1": false, "po": true, "_": false} {
		src := "include \"cross.cat\"\nwith mo from generate_cos(" + demand + ")\nempty mo \\ co as c"
		g := mp(false, false)
		res, err := runInterp(t, src, g, RunOptions{})
		require.NoError(t, err)
		require.Equal(t, want, res.Allowed, demand)
		p := mustCompile(t, src, stdSig)
		require.True(t, p.Flat())
		i, err := g.machine(t, p).Run(p.everything())
		require.NoError(t, err)
		require.Equal(t, want, i < 0, demand)
	}
}

func TestSkippedCalls(t *testing.T) {
	p := mustCompile(t, "procedure p() = empty po as inner empty rf end\ncall p() as q", stdSig)
	cs := p.Checks()
	require.Equal(t, []string{"inner", "q"}, []string{cs[0].Name, cs[1].Name})
	require.True(t, cs[0].Skipped(map[string]bool{"q": true}))
	require.True(t, cs[0].Skipped(map[string]bool{"inner": true}))
	require.True(t, cs[1].Skipped(map[string]bool{"p": true}))
	require.False(t, cs[1].Skipped(map[string]bool{"inner": true}))
}

// TestInspect checks the access that engines have to a machine's memory.
func TestInspect(t *testing.T) {
	p := mustCompile(t, "empty po \\ co+ as a\nempty rf & loc \\ (co | co^-1) as b\nempty (po \\ co) \\ co as c\nacyclic (po | rf)+ as d\nempty W as e", stdSig)
	growing := p.MaskOf("rf", "co")
	require.Equal(t, InInput, p.Inclusion(0, "co", growing))
	require.Equal(t, InEitherOrder, p.Inclusion(1, "co", growing))
	require.Equal(t, NoInclusion, p.Inclusion(2, "co", growing))
	require.Equal(t, NoInclusion, p.Inclusion(3, "co", growing))
	require.Equal(t, NoInclusion, p.Inclusion(0, "data", growing))
	m, err := p.NewMachine(3)
	require.NoError(t, err)
	m.InputRel(p.Input("po")).Add(0, 1)
	m.InputRel(p.Input("rf")).Add(1, 0)
	m.InputSet(p.Input("W")).Add(2)
	require.Nil(t, m.InputRel(p.Input("data")))
	require.NoError(t, m.RunAll(p.everything()))
	require.False(t, m.Holds(0))
	require.False(t, m.Holds(3))
	require.False(t, m.Holds(4))
	a, b := m.CheckValue(0)
	require.Equal(t, [][2]int{{0, 1}}, a.Pairs())
	require.Empty(t, b.Pairs())
	a, b = m.CheckValue(3)
	require.Equal(t, [][2]int{{0, 1}, {1, 0}}, a.Pairs())
	require.Nil(t, b)
	a, _ = m.CheckValue(4)
	require.Nil(t, a)
}

func TestInterpContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	it, err := NewInterp(mustCompile(t, "let rec f S = match S with || {} -> 0 || e ++ es -> f es | f es end\nempty f M", stdSig))
	require.NoError(t, err)
	g := wide()
	ex := &Execution{N: g.n, Sets: g.sets, Rels: g.rels}
	_, err = it.Run(ctx, ex, RunOptions{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = it.Run(context.Background(), ex, RunOptions{MaxSteps: 1000})
	require.ErrorIs(t, err, ErrLimit)

	// within a definition that is evaluated on demand, and under try
	src := "let rec f S = match S with || {} -> 0 || e ++ es -> f es | f es end\nlet x = try f M with po\nempty x"
	_, err = runInterp(t, src, g, RunOptions{MaxSteps: 1000})
	require.ErrorIs(t, err, ErrLimit)
}

func TestInterpSkipAndShow(t *testing.T) {
	src := "acyclic po | po^-1 as bad\nlet x = po & loc\nshow rf, x\nshow po | rf as both\nshow W\nunshow rf\nprocedure p() = empty po end\ncall p() as q"
	res, err := runInterp(t, src, sb(), RunOptions{Skip: map[string]bool{"bad": true, "q": true}})
	require.NoError(t, err)
	require.Len(t, res.Branches, 1)
	var names []string
	for _, s := range res.Branches[0].Shows {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"x", "both", "W"}, names)
	res, err = runInterp(t, src, sb(), RunOptions{Skip: map[string]bool{"bad": true}})
	require.NoError(t, err)
	require.Equal(t, "q", res.Failed.Name)
	res, err = runInterp(t, src, sb(), RunOptions{})
	require.NoError(t, err)
	require.Equal(t, "bad", res.Failed.Name)
	require.Len(t, res.Failed.Cycle, 2)
}
