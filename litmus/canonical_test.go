package litmus

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCompareLocations(t *testing.T) {
	order := []string{"X", "_", "lock", "m", "x", "x0", "xx", "y", "z", "a", "b", "c", "d", "e", "flag", "h", "t"}
	require.Len(t, letters, 26)
	for c := byte('a'); c <= 'z'; c++ {
		require.Contains(t, letters, string(c))
	}
	for i, a := range order {
		for j, b := range order {
			require.Equal(t, i < j, CompareLocations(a, b) < 0, "%s %s", a, b)
			require.Equal(t, i == j, CompareLocations(a, b) == 0, "%s %s", a, b)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-f_x-z][a-f0-9$x-z]{0,3}`)
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		require.Equal(t, a == b, CompareLocations(a, b) == 0)
		require.Equal(t, CompareLocations(a, b), -CompareLocations(b, a))
	})
}

// respell returns the test written in another way: everything that Hash leaves out
// is changed.
func respell(t *rapid.T, lt *Test) *Test {
	c := lt.Clone()
	c.Name, c.Doc, c.Meta = "other", "another doc", []Meta{{"K", "v"}}
	c.Locations = rapid.Permutation(c.Locations).Draw(t, "locations")
	for i := range c.Locations {
		l := &c.Locations[i]
		l.Pos = Pos{"other", i + 1, 1}
		if l.Space != Shared {
			l.Space = rapid.SampledFrom([]Space{Generic, Global}).Draw(t, "spelling")
		}
	}
	up := rapid.IntRange(0, 3).Draw(t, "places")
	for i := range c.Threads {
		th := &c.Threads[i]
		th.Name = "other" + strconv.Itoa(i)
		th.Regs = rapid.Permutation(th.Regs).Draw(t, "registers")
		if th.Placed {
			p := &th.Place
			*p = Place{p.GPU + up, 2*p.Grid + up, 3*p.Cluster + up, p.CTA + up, p.Warp + up}
		}
	}
	return c
}

// bare returns a canonical form without what may differ between tests of one hash.
func bare(lt *Test) *Test {
	c := lt.Canonical().Clone()
	c.Name, c.Doc, c.Meta = "", "", nil
	for i := range c.Locations {
		c.Locations[i].Pos = Pos{}
	}
	return c
}

func TestCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lt := genTest(t)
		text := lt.String()
		c := lt.Canonical()
		require.Equal(t, text, lt.String(), "the test itself is not changed")
		require.Same(t, c, c.Canonical())
		require.Equal(t, lt.Hash(), c.Hash())

		other := respell(t, lt)
		require.Equal(t, lt.Hash(), other.Hash())
		require.Equal(t, bare(lt), bare(other))
		again, err := Parse("printed", []byte(other.String()))
		require.NoError(t, err)
		require.Equal(t, bare(lt).String(), bare(again).String())
		require.True(t, again.LocationsSorted())
	})
}
