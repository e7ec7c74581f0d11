package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/internal/gen"
	"optcheck/model/rel"
)

// fencedTests are dense in fence.sc of mixed scopes; several threads may write
// one location.
var fencedTests = gen.Config{MinThreads: 2, MaxThreads: 4, MaxInstr: 4, MaxAccesses: 6, Locations: 2, Strong: true, Atomics: true, SC: true, Deps: true}

// sfModels look at sync_fence in ways that the built-in models do not. late tells
// whether its order may be chosen late.
var sfModels = []struct {
	name, src string
	late      bool
}{
	{"one relation", "PTX a\nacyclic po | sync_fence | rf | co | fr as sc", true},
	{"demands co", "PTX b\nlet hb = (po | sync_fence)+\nempty (([W]; hb; [W]) & loc) \\ co as c\nirreflexive fr; hb as r\nempty ((W * W) & loc & ext) \\ (co | co^-1 | (IW * W)) as ww", true},
	{"demands sync_fence", "PTX c\nlet hb = (po | (rf & sr))+\nempty (([F & SC]; hb; [F & SC]) & sr & ext) \\ sync_fence as f\nirreflexive (fr | co) ; (hb | sync_fence)+ as r", true},
	{"wants no order", "PTX d\nempty sync_fence \\ (po | ((po ; rf ; po) & sr)) as only-if-communicated", false},
	{"wants some order", "PTX e\n~empty ((po ; sync_fence ; po) & rf) as needed", false},
	{"through the closure", "PTX f\nempty ((po ; rf ; po) & (F * F)) \\ sync_fence+ as f\nacyclic po | sync_fence | fr as a", false},
	{"orders writes that communicate", "PTX g\nempty ((rf ; po ; sync_fence ; po) & (W * W) & loc) \\ (co | co^-1) as w\nirreflexive fr ; (po | sync_fence)+ as r", false},
	{"flags it", "PTX h\nacyclic po | sync_fence | fr as a\nflag ~empty sync_fence \\ po as fences", false},
}

func compileText(t testing.TB, src string) *cat.Program {
	t.Helper()
	f, err := cat.Parse("m.cat", src, nil)
	require.NoError(t, err)
	p, err := cat.Compile(context.Background(), f, Signature())
	require.NoError(t, err)
	return p
}

// forEachSFModel runs f for the built-in models that have a Fence-SC order, and for
// sfModels, with both kinds of coherence order.
func forEachSFModel(t *testing.T, f func(t *testing.T, p *cat.Program, co CoMode)) {
	type named struct {
		name string
		prog *cat.Program
		late bool
	}
	var list []named
	for _, name := range []string{"ptx-6.0", "ptx-7.5", "ptx"} {
		p, _ := compileModel(t, name)
		list = append(list, named{name, p, true})
	}
	for _, m := range sfModels {
		list = append(list, named{m.name, compileText(t, m.src+"\nacyclic rf | addr | data | ctrl as no-thin-air"), m.late})
	}
	for _, m := range list {
		for co, mode := range []string{"total", "partial"} {
			t.Run(m.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, m.late, NewEngine(m.prog, CoMode(co)).lazy != nil, "the order is chosen late")
				f(t, m.prog, CoMode(co))
			})
		}
	}
}

func TestFencesAgainstBruteForce(t *testing.T) {
	forEachSFModel(t, func(t *testing.T, p *cat.Program, co CoMode) {
		e := NewEngine(p, co)
		it, err := cat.NewInterp(p)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(*seed, 11))
		for done, n := 0, count(t, 6); done < n; {
			if _, ok := agree(t, e, it, co, gen.Test(r, fencedTests, "F")); ok {
				done++
			}
		}
	})
}

// TestFencesByNeed compares the search for an order with the enumeration of all
// orders, on tests that are too large for brute force.
func TestFencesByNeed(t *testing.T) {
	c := fencedTests
	c.MaxThreads, c.MaxInstr, c.MaxAccesses, c.Locations = 5, 5, 8, 3
	forEachSFModel(t, func(t *testing.T, p *cat.Program, co CoMode) {
		r := rand.New(rand.NewPCG(*seed, 12))
		for done, n := 0, count(t, 12); done < n; {
			test := gen.Test(r, c, "F")
			x, err := Compile(test)
			require.NoError(t, err)
			all := NewEngine(p, co)
			all.lazy = nil
			const limit = 20_000
			want, err := all.Run(context.Background(), x, Options{MaxCandidates: limit})
			require.NoError(t, err)
			if want.Undecided != "" {
				continue
			}
			done++
			for _, from := range []float64{bigSpace, 0} {
				e := NewEngine(p, co)
				e.deepFrom, e.saturateFrom = from, from
				for _, only := range []bool{false, true} {
					got, err := e.Run(context.Background(), x, Options{StatesOnly: only, MaxCandidates: 20 * limit})
					require.NoError(t, err)
					require.Empty(t, got.Undecided, test)
					require.Equal(t, stateValues(want), stateValues(got), "all orders and orders by need differ on\n%s", test)
					if !only {
						require.Equal(t, want.Flags, got.Flags)
					}
				}
			}
		}
	})
}

func stateValues(r *Result) (list [][]int64) {
	for _, s := range r.States {
		list = append(list, s.Values)
	}
	return list
}

// TestFencesShown: what a visitor is shown has an order of all fences, and the
// model, asked again, says what was said of it.
func TestFencesShown(t *testing.T) {
	forEachSFModel(t, func(t *testing.T, p *cat.Program, co CoMode) {
		e := NewEngine(p, co)
		it, err := cat.NewInterp(p)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(*seed, 13))
		for done, n := 0, count(t, 4); done < n; {
			test := gen.Test(r, fencedTests, "F")
			x, err := Compile(test)
			require.NoError(t, err)
			want, err := e.Run(context.Background(), x, Options{})
			require.NoError(t, err)
			if len(want.States) == 0 || want.Candidates > 200 {
				continue
			}
			done++
			var states [][]int64
			got, err := e.Run(context.Background(), x, Options{Visit: func(c *Candidate) bool {
				ex := c.Execution()
				require.True(t, totalOrder(c, ex.Rels[nameSF]), test)
				res, err := it.Run(context.Background(), ex, cat.RunOptions{})
				require.NoError(t, err)
				require.Equal(t, res.Allowed, c.Failed < 0, test)
				if c.Failed < 0 {
					states = append(states, slices.Clone(c.State))
				}
				return true
			}})
			require.NoError(t, err)
			require.Empty(t, got.Undecided)
			slices.SortFunc(states, slices.Compare)
			require.Equal(t, stateValues(want), slices.CompactFunc(states, slices.Equal), test)
		}
	})
}

func totalOrder(c *Candidate, sf rel.Rel) bool {
	if !rel.Acyclic(sf) {
		return false
	}
	for _, p := range c.w.pairsSF {
		if a, b := int(p[0]), int(p[1]); sf.Has(a, b) == sf.Has(b, a) {
			return false
		}
	}
	return true
}

// TestFencedRing: the work grows with the states, not with the orders.
func TestFencedRing(t *testing.T) {
	for _, n := range []int{2, 3, 12} {
		test, err := litmus.Parse("ring", []byte(gen.FencedRing(n)))
		require.NoError(t, err)
		x, err := Compile(test)
		require.NoError(t, err)
		for _, name := range []string{"ptx-6.0", "ptx-7.5", "ptx"} {
			p, co := compileModel(t, name)
			r, err := NewEngine(p, co).Run(context.Background(), x, Options{})
			require.NoError(t, err)
			require.Len(t, r.States, 1<<n-1, name)
			require.Less(t, r.Candidates+r.Partial, uint64(3<<n+200*n), fmt.Sprint(name, n))
			for _, s := range r.States {
				require.Contains(t, s.Values, int64(1))
			}
		}
	}
}

// A chain through fences of which the first and the last are not related: either
// pair may be the one to turn round, and here only the second one can be.
func TestFencesOfSeveralScopes(t *testing.T) {
	test, err := litmus.Parse("chain", []byte(`PTX chain
{ x=0; y=0; }
 P0@cta 0,gpu 0       | P1@cta 0,gpu 0       | P2@cta 1,gpu 0       ;
 st.relaxed.gpu x, 1  | st.relaxed.gpu y, 1  | fence.sc.gpu         ;
 fence.sc.cta         | fence.sc.gpu         | ld.relaxed.gpu r1, x ;
 ld.relaxed.gpu r0, y |                      |                      ;
exists (P0:r0 == 0 /\ P2:r1 == 0)
`))
	require.NoError(t, err)
	for _, name := range []string{"ptx-6.0", "ptx-7.5", "ptx"} {
		p, co := compileModel(t, name)
		it, err := cat.NewInterp(p)
		require.NoError(t, err)
		n, ok := agree(t, NewEngine(p, co), it, co, test)
		require.True(t, ok)
		require.Equal(t, 4, n, name)
	}
}
