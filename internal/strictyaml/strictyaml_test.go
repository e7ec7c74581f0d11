package strictyaml

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"optcheck/internal/input"
)

func TestDecode(t *testing.T) {
	const limit = 40
	for text, want := range map[string]string{
		"":                                "empty",
		"# nothing\n":                     "empty",
		"a: 1\n":                          "",
		"---\na: 1\n...\n":                "",
		"a: 1\n---\na: 2\n":               "more than one document",
		"a: 1\n---\n[\n":                  "more than one document",
		"a: 1\nb: 2\n":                    `line 2: unknown key "b"`,
		"a: 1\na: 2\n":                    `line 2: mapping key "a" already defined`,
		"a: x\n":                          "line 1: a text (x) does not belong here",
		"a: [\n":                          "line ",
		strings.Repeat("#", 41):           "larger than 40 bytes",
		"a: 1 " + strings.Repeat("#", 35): "",
	} {
		v := struct{ A int }{}
		err := Decode([]byte(text), limit, &v)
		if want == "" {
			require.NoError(t, err, text)
			require.Equal(t, 1, v.A, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
		if err == ErrMore {
			require.Equal(t, 1, v.A, text)
		}
	}
	var n yaml.Node
	require.NoError(t, Decode([]byte("\nb: 2\n"), limit, &n))
	require.Equal(t, 2, n.Content[0].Line)
}

func TestReadFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	require.NoError(t, os.WriteFile(file, []byte("a: 1234\n"), 0o600))
	for _, limit := range []int{8, 100} {
		text, err := ReadFile(file, limit)
		require.NoError(t, err)
		require.Equal(t, "a: 1234\n", string(text))
	}
	_, err := ReadFile(file, 7)
	require.ErrorIs(t, err, input.ErrTooLarge)
	_, err = ReadFile(file+"x", 10)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = ReadFile(t.TempDir(), 10)
	require.ErrorIs(t, err, input.ErrNotRegular)
}

// TestTwice: keys that are there twice are told once, however many there are.
func TestTwice(t *testing.T) {
	var v map[string]any
	require.EqualError(t, Decode([]byte("a: 1\nb: {c: 1}\na: 2\n"), 1<<20, &v), `line 3: mapping key "a" already defined at line 1`)
	require.EqualError(t, Decode([]byte(strings.Repeat("a: 1\n", 100_000)), 1<<20, &v), `line 2: mapping key "a" already defined at line 1`)
}

// TestFind: the innermost part of a path that is there.
func TestFind(t *testing.T) {
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte("a: 1\nlist:\n  - x: 2\n  - Key: 3\n"), &doc))
	for _, w := range []struct {
		path []any
		line int
	}{{nil, 1}, {[]any{"a"}, 1}, {[]any{"list", 0, "x"}, 3}, {[]any{"list", 1, "key"}, 4}, {[]any{"list", 7, "x"}, 3}, {[]any{"none"}, 1}} {
		require.Equal(t, w.line, Find(&doc, w.path).Line, "%v", w.path)
	}
	require.NotNil(t, Find(&yaml.Node{}, []any{"a"}))
}
