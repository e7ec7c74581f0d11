package named

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

// TestEach: each way to name tests finds them and says where they are from; of a folder what does not parse is refused.
func TestEach(t *testing.T) {
	mp, ok := corpus.Lookup("mp")
	require.True(t, ok)
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "a.litmus"), filepath.Join(dir, "b.litmus")
	require.NoError(t, os.WriteFile(good, []byte(mp.String()), 0o600))
	require.NoError(t, os.WriteFile(bad, []byte("nothing"), 0o600))
	unexpected := errors.New("something else")
	f := Finder{Stdin: strings.NewReader(mp.String()), Nearest: func(string, []string) string { return "mp" },
		Expect: func(file string) error {
			if file == bad {
				return unexpected
			}
			return nil
		}}
	find := func(args ...string) (from []Origin, refused []error, err error) {
		refused, err = f.Each(args, func(o Origin, x *litmus.Test) error {
			from = append(from, o)
			return nil
		})
		return from, refused, err
	}
	for arg, want := range map[string]Origin{"mp": {Preset: Corpus}, "-": {}, good: {File: good}, "mp+membar.gls": {Preset: Corpus},
		"SB+pos": {}} {
		from, refused, err := find(arg)
		if arg == "SB+pos" {
			require.EqualError(t, err, "SB+pos: no such file, folder, test of the corpus, or name of a generated test; did you mean mp?")
			continue
		}
		require.NoError(t, err, arg)
		require.Empty(t, refused)
		require.Equal(t, []Origin{want}, from)
	}
	from, refused, err := find(dir, CorpusCL)
	require.NoError(t, err)
	require.Len(t, refused, 1)
	require.Len(t, from, 1+len(corpus.OpenCL()))
	_, _, err = find(bad)
	require.ErrorIs(t, err, unexpected)
	_, _, err = find(t.TempDir(), "mp")
	require.ErrorContains(t, err, "no .litmus files")
}

// TestTake: equal tests are one, different ones of a name are told apart by their files, and without files refused.
func TestTake(t *testing.T) {
	n := NewNames()
	test := func() *litmus.Test { return &litmus.Test{Name: "mp"} }
	known, err := n.Take(Origin{File: "x/mp.litmus"}, test(), "1")
	require.NoError(t, err)
	require.False(t, known)
	known, err = n.Take(Origin{}, test(), "1")
	require.NoError(t, err)
	require.True(t, known)
	other := test()
	known, err = n.Take(Origin{File: "y/mp.litmus"}, other, "2")
	require.NoError(t, err)
	require.False(t, known)
	require.Equal(t, "mp~y", other.Name)
	require.Equal(t, []string{"mp~y"}, n.Renamed)
	known, err = n.Take(Origin{File: "z/mp.litmus"}, test(), "2")
	require.NoError(t, err)
	require.True(t, known, "it is there already, under another name")
	_, err = n.Take(Origin{}, test(), "3")
	require.EqualError(t, err, "two different tests have the name mp")
}
