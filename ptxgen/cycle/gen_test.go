package cycle_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/litmus"
	"optcheck/model"
	"optcheck/ptxgen/cycle"
)

// counts are the numbers of tests that the package comment and the guide state,
// and sums of their texts: presets do not change unnoticed.
var counts = map[string]struct {
	tests int
	sum   string
}{
	"paper":               {12455, "cebcda800b37"},
	"ptx":                 {8372, "58842c90b777"},
	"quick":               {200, "6ef7a67bf20a"},
	"opportunities":       {8271, "0b7515eae215"},
	"opportunities-quick": {68, "694560cfc802"},
	"scopes":              {6708, "de6ea1c1f63b"},
	"divisions":           {1270, "b141a823f0c0"},
	"score":               {95, "8226ef36d70a"},
	"widths":              {1394, "ec7db06c2104"},
	"async":               {1782, "105678771441"},
}

func TestPresets(t *testing.T) {
	require.Len(t, cycle.Presets(), len(counts))
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for _, p := range cycle.Presets() {
		g, err := cycle.Preset(p)
		require.NoError(t, err)
		require.Equal(t, counts[p].tests, g.Count(), p)
		require.Regexp(t, fmt.Sprintf(`(?m)^//\t%s +%d tests`, p, counts[p].tests), string(doc))
		for reason, n := range g.Dropped() {
			t.Logf("%s: %d cycles dropped: %s", p, n, reason)
		}
		h := sha256.New()
		names, hashes := map[string]bool{}, map[string]string{}
		n := 0
		for s := range g.Specs() {
			x := s.Test()
			require.NoError(t, x.Check(), x.Name)
			require.False(t, names[x.Name], "name %s twice", x.Name)
			names[x.Name] = true
			text := x.String()
			h.Write([]byte(text))
			back, err := litmus.Parse(x.Name, []byte(text))
			require.NoError(t, err)
			require.Equal(t, text, back.String())
			hash := isoHash(x)
			if len(s.Opportunities) == 0 { // a wide location may have a symmetric other one
				require.Empty(t, hashes[hash], "%s is %s with other names", x.Name, hashes[hash])
			}
			hashes[hash] = x.Name
			n++
			if len(s.Opportunities) == 0 { // what is added to a cycle says nothing of its outcome
				if len(x.Threads) < 4 || n%20 == 0 {
					require.False(t, interleaved(plain(x)), "%s can be seen under sequential consistency", x.Name)
				}
				require.True(t, conceivable(plain(x)), x.Name)
			}
			sp, err := cycle.ParseName(x.Name)
			require.NoError(t, err)
			require.Equal(t, text, sp.Test().String())
		}
		require.Equal(t, counts[p].tests, n)
		require.Equal(t, counts[p].sum, fmt.Sprintf("%x", h.Sum(nil)[:6]), "the tests of %s changed", p)
	}
}

// isoHash returns the same for tests that differ only in names and in the order of
// threads and equations. It knows nothing of cycles.
func isoHash(t *litmus.Test) string {
	best := ""
	perms(len(t.Threads), func(p []int) {
		c := t.Clone()
		loc := map[string]string{}
		c.Locations = nil
		for i, from := range p {
			c.Threads[i] = t.Clone().Threads[from]
			for j := range c.Threads[i].Regs {
				d := &c.Threads[i].Regs[j]
				if d.Init.Kind != litmus.OperandLoc {
					continue
				}
				if loc[d.Init.Name] == "" {
					loc[d.Init.Name] = fmt.Sprintf("l%d", len(loc))
					l := *t.Location(d.Init.Name)
					l.Name = loc[d.Init.Name]
					c.Locations = append(c.Locations, l)
				}
				d.Init.Name = loc[d.Init.Name]
			}
		}
		var eqs []string
		for _, a := range atoms(t) {
			if a.Left.Kind == litmus.TermLoc {
				a.Left.Name = loc[a.Left.Name]
			} else {
				a.Left.Thread = slices.Index(p, a.Left.Thread)
			}
			eqs = append(eqs, fmt.Sprint(a))
		}
		slices.Sort(eqs)
		c.Cond = litmus.Cond{}
		if h := c.Hash() + strings.Join(eqs, ";"); best == "" || h < best {
			best = h
		}
	})
	return best
}

func perms(n int, f func([]int)) {
	p := make([]int, 0, n)
	var rec func()
	rec = func() {
		if len(p) == n {
			f(p)
			return
		}
		for i := range n {
			if !slices.Contains(p, i) {
				p = append(p, i)
				rec()
				p = p[:len(p)-1]
			}
		}
	}
	rec()
}

// TestModelAgrees asks the judge: sc forbids every outcome, a model without
// rules allows it.
func TestModelAgrees(t *testing.T) {
	sc, err := model.Load("sc")
	require.NoError(t, err)
	any, err := model.Parse("any", "any.cat", "\"no rules\"\nacyclic 0 as nothing\n")
	require.NoError(t, err)
	for _, p := range cycle.Presets() {
		g, err := cycle.Preset(p)
		require.NoError(t, err)
		every := 1
		if testing.Short() {
			every = 20
		}
		n := 0
		for s := range g.Specs() {
			if n++; n%every != 0 || len(s.Opportunities) > 0 {
				continue
			}
			x := s.Test()
			if x.Extended() {
				x = plain(x)
			}
			v, err := sc.Judge(context.Background(), x, model.Options{})
			require.NoError(t, err, x.Name)
			require.Empty(t, v.Undecided, x.Name)
			require.Equal(t, model.Never, v.Observation, "sc allows %s", x.Name)
			v, err = any.Judge(context.Background(), x, model.Options{})
			require.NoError(t, err, x.Name)
			require.Empty(t, v.Undecided, x.Name)
			require.NotEqual(t, model.Never, v.Observation, "no execution shows %s", x.Name)
		}
	}
}

// randomConfig draws a configuration that makes at most a few hundred tests.
func randomConfig(t *rapid.T) *cycle.Config {
	some := func(label string, least int, from ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(from), least, 3, rapid.ID[string]).Draw(t, label)
	}
	c := &cycle.Config{Seed: rapid.Uint64().Draw(t, "seed")}
	for range rapid.IntRange(1, 2).Draw(t, "parts") {
		lo := rapid.IntRange(1, 3).Draw(t, "least threads")
		p := cycle.Part{Threads: []int{lo, min(3, lo+rapid.IntRange(0, 1).Draw(t, "more threads"))},
			Coherence: rapid.Bool().Draw(t, "coherence"), Accesses: rapid.IntRange(2, 3).Draw(t, "accesses"),
			Edges: append([]string{"Rfe", "Fre", "Coe"}, some("edges", 1, "Pod**", "Pos**", "Rfi", "Fri", "Coi", "Membar.gld**", "Membar.glsWW",
				"Fence.sc.gpudWR", "Bard**", "DpAddrd*", "DpDatad*", "DpCtrld*", "DpCtrlMembar.ctadR", "DpAddrsR", "PodWR", "PodRW")...),
			Annotations: some("annotations", 1, "weak", "cg", "ca/cg", "vol", "rlx.gpu", "acq.cta/rel.cta", "atom.cas", "atom.add/atom.exch", "atom.add.rlx.sys"),
			Spread:      rapid.SampledFrom([]string{"test", "thread", "access"}).Draw(t, "spread"),
			Levels:      some("levels", 1, "warp", "cta", "cluster", "gpu", "sys"),
			Regions:     some("regions", 1, "global", "shared"),
			Schemes:     some("schemes", 1, "xor", "sub", "and-high-bit", "shift-high-bit", "zero-param", "predicate"),
			PerCycle:    rapid.IntRange(0, 4).Draw(t, "per cycle"),
		}
		if p.Spread != "test" { // the product must stay small
			p.Accesses, p.Annotations = 2, p.Annotations[:min(2, len(p.Annotations))]
		}
		c.Parts = append(c.Parts, p)
	}
	if rapid.Bool().Draw(t, "limited") {
		c.Limit = rapid.IntRange(1, 60).Draw(t, "limit")
	}
	return c
}

// TestRandomConfigurations: what random configurations generate are tests of different names and shapes, that can be read back and that need
// a weak memory, always in one order. OPTCHECK_SEED chooses others; -short tries a fifth of them, which generate a fifth of the tests.
func TestRandomConfigurations(t *testing.T) {
	seed, configs, total := 20150314, 100, 0
	if s := os.Getenv("OPTCHECK_SEED"); s != "" {
		var err error
		seed, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	if testing.Short() {
		configs /= 5
	}
	random := rapid.Custom(randomConfig)
	check := func(c *cycle.Config) {
		g, err := c.Generator()
		require.NoError(t, err)
		names, hashes, order := map[string]bool{}, map[string]string{}, []string{}
		for s := range g.Specs() {
			x := s.Test()
			require.NoError(t, x.Check(), x.Name)
			require.False(t, names[x.Name], "name %s twice", x.Name)
			names[x.Name] = true
			order = append(order, x.Name)
			hash := isoHash(x)
			require.Empty(t, hashes[hash], "%s is %s with other names", x.Name, hashes[hash])
			hashes[hash] = x.Name
			sp, err := cycle.ParseName(x.Name)
			require.NoError(t, err)
			require.Equal(t, x.String(), sp.Test().String())
			c, err := cycle.Classify(x)
			require.NoError(t, err, x.Name)
			require.Equal(t, x.Name, c.Spec.Name())
			require.True(t, c.Exact, x.Name)
			if len(order) <= 40 {
				require.False(t, interleaved(plain(x)), "%s can be seen under sequential consistency", x.Name)
				require.True(t, conceivable(plain(x)), x.Name)
			}
			if total++; len(order) == 400 {
				return
			}
		}
		if n := g.Config().Limit; n > 0 {
			require.LessOrEqual(t, len(order), n)
		}
		require.Equal(t, len(order), g.Count())
		k := 0
		for s := range g.Specs() {
			require.Equal(t, order[k], s.Name(), "the order changed")
			k++
		}
	}
	for i := range configs {
		check(random.Example(seed + i))
	}
	t.Logf("seed %d: %d tests of %d random configurations", seed, total, configs)
	require.Greater(t, total, 5*configs)
}

// TestMemory streams more than a million tests and looks at the memory in use.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a million tests take some seconds")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	c := &cycle.Config{Parts: []cycle.Part{{Threads: []int{2, 3}, Spread: "access",
		Edges:       []string{"Rfe", "Fre", "Coe", "Pod**", "Membar.gld**", "DpAddrd*", "DpDatad*"},
		Annotations: []string{"weak", "vol", "ca/cg", "rlx.gpu", "acq.gpu/rel.gpu"}, Levels: []string{"cta", "gpu"}}}}
	g, err := c.Generator()
	require.NoError(t, err)
	n, peak := 0, uint64(0)
	var m runtime.MemStats
	for s := range g.Specs() {
		if n++; n%50_000 == 0 {
			if s.Test().Name == "" {
				t.Fatal("no name")
			}
			runtime.ReadMemStats(&m)
			peak = max(peak, m.Sys)
		}
		if n == 1_000_000 {
			break
		}
	}
	require.Equal(t, 1_000_000, n)
	t.Logf("%d tests with %d MiB from the system", n, peak>>20)
	require.Less(t, peak, uint64(256<<20))
}
