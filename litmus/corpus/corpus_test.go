package corpus

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

// Every file is what the printer prints of it, so print∘parse is a fixpoint on
// the corpus; it passes Check and its name is its file's.
func TestFiles(t *testing.T) {
	testFiles(t, "tests", 100)
	testFiles(t, "opencl", 60)
}

func testFiles(t *testing.T, dir string, least int) {
	entries, err := FS.ReadDir(dir)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(entries), least)
	hashes := map[string]string{}
	for _, e := range entries {
		src, err := FS.ReadFile(path.Join(dir, e.Name()))
		require.NoError(t, err)
		lt, err := litmus.Parse(e.Name(), src)
		require.NoError(t, err)
		require.NoError(t, lt.Check())
		require.Equal(t, e.Name(), lt.Name+".litmus")
		require.NotEmpty(t, lt.Doc, lt.Name)
		require.Equal(t, string(src), lt.String())
		require.Empty(t, hashes[lt.Hash()], "%s is the same test", lt.Name)
		hashes[lt.Hash()] = lt.Name
	}
}

// The accesses of the corpus all go to a known location.
func TestAddresses(t *testing.T) {
	for _, lt := range Tests() {
		for i := range lt.Threads {
			th := &lt.Threads[i]
			for j := range th.Body {
				if in := &th.Body[j]; in.IsAccess() {
					require.NotEmpty(t, th.AddrLoc(in), "%s: %s", lt.Name, in)
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, name := range []string{
		"coRR", "mp", "mp-L1", "mp-L1+membar.ctas", "mp-L1+membar.gls", "mp-L1+membar.syss",
		"coRR-L2-L1", "coRR-L2-L1+membar.cta", "coRR-L2-L1+membar.gl", "coRR-L2-L1+membar.sys", "mp-volatile",
		"dlb-mp", "dlb-mp+membar.gls", "dlb-lb", "dlb-lb+membar.gls", "cas-sl", "cas-sl+membar.gls",
		"exch-sl", "exch-sl+membar.gls", "sl-future", "sl-future+membar.gls", "sb", "mp+membar.cta+membar.gl",
		"lb", "lb+membar.ctas", "iriw",
	} {
		lt, ok := Lookup(name)
		require.True(t, ok, name)
		require.Equal(t, name, lt.Name)
	}
	_, ok := Lookup("nosuch")
	require.False(t, ok)
}

// Tests hands out its own list each time.
func TestTestsIsACopy(t *testing.T) {
	list := Tests()
	list[0] = nil
	require.NotNil(t, Tests()[0])
}

func BenchmarkParse(b *testing.B) {
	var src [][]byte
	for _, lt := range Tests() {
		src = append(src, []byte(lt.String()))
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, err := litmus.Parse("t", src[n%len(src)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
}
