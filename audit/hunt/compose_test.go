package hunt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptxgen/cycle"
)

// someBases are the cycles of a small preset.
func someBases(t testing.TB) []Base {
	t.Helper()
	g, err := cycle.Preset("quick")
	require.NoError(t, err)
	list, err := PresetBases(g)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return append(CorpusBases(), list[:40]...)
}

// TestCoverage: no key comes twice before all have been there, or could not be had.
func TestCoverage(t *testing.T) {
	bases := someBases(t)
	c := newComposer(bases, 1)
	seen, tests := map[*key]bool{}, map[string]bool{}
	c.first = len(bases)/2 + 1 // two slices
	for c.round <= 1 {
		for _, x := range c.batch(16) {
			if c.round > 1 {
				break
			}
			require.False(t, seen[x.key], "%s comes again after %d keys", x.key.name, len(seen))
			require.False(t, tests[x.test.Hash()], x.test.Name)
			require.NoError(t, x.test.Check())
			seen[x.key], tests[x.test.Hash()] = true, true
		}
	}
	require.Equal(t, len(c.order), c.done)
	require.Greater(t, len(seen), len(c.keys)*9/10)
	require.Greater(t, len(seen), 500)
	require.NotEmpty(t, c.batch(16), "the second round has other tests")
}

// TestCoverageIsVaried: what differs in strengths only comes late.
func TestCoverageIsVaried(t *testing.T) {
	c := newComposer(someBases(t), 1)
	kinds := map[string]bool{}
	for _, k := range c.more() {
		kinds[k.coarse] = true
	}
	got := map[string]bool{}
	for _, k := range deal(c.keys, c.rand)[:len(kinds)] {
		got[k.coarse] = true
	}
	require.Equal(t, len(kinds), len(got))
	require.Less(t, len(kinds), len(c.keys))
	require.Equal(t, "reload of ld across fence.acq_rel ld.acquire", coarse("reload.rlx.gpu of ld.volatile across ld.acquire.gpu fence.acq_rel.sys ld.acquire.cta"))
}

func names(list []*composition) (out []string) {
	for _, x := range list {
		out = append(out, x.test.Name)
	}
	return out
}

// TestSeed: the seed decides, and nothing else.
func TestSeed(t *testing.T) {
	bases := someBases(t)
	a, b, other := newComposer(bases, 7), newComposer(bases, 7), newComposer(bases, 8)
	first := names(a.batch(50))
	require.Equal(t, first, append(names(b.batch(20)), names(b.batch(30))...))
	require.NotEqual(t, first, names(other.batch(50)))
}

// TestSteering: what is near a shape that yielded something comes sooner, and what has a
// race comes once more without it.
func TestSteering(t *testing.T) {
	bases := someBases(t)
	near := func(steer bool) (n int) {
		c := newComposer(bases, 3)
		x := c.batch(1)[0]
		x.key = &key{kind: "reload", across: "nothing"}
		if steer {
			c.yielded(x, false)
		}
		for _, y := range c.batch(100) {
			if y.key.kind == "reload" && y.key.across == "nothing" {
				n++
			}
		}
		return n
	}
	require.Greater(t, near(true), near(false))

	g, err := cycle.Preset("opportunities")
	require.NoError(t, err)
	list, err := PresetBases(g)
	require.NoError(t, err)
	c := newComposer(list, 3)
	for range 100 {
		x := c.batch(1)[0]
		if free := raceFree(x.test); free == nil || c.seen[free.Hash()] {
			continue
		}
		c.yielded(x, true)
		require.Equal(t, x.test.Name+"@racefree-0.0", c.batch(1)[0].test.Name)
		return
	}
	t.Fatal("no composition could be made race-free")
}
