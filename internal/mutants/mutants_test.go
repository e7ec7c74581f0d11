package mutants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	code = `package p

// clip has a branch, a loop, a return and statements. Its comment stays where it is.
func clip(n, low int) (out int) {
	if n < low && /* not */ !(low == 0) { // a comment at the end
		out = low
	} else {
		out = n
	}
	for i := 0; i < 1; i++ {
		f := func() bool { return i > 5 || n > 100 }
		if f() {
			panic("large")
		}
	}
	switch {
	case out == 7:
		out++
	}
	return out
}
`
	test = `package p

import "testing"

func TestClip(t *testing.T) {
	if clip(1, 3) != 3 || clip(4, 3) != 4 || clip(3, 3) != 3 || clip(-1, 0) != -1 {
		t.Error("wrong")
	}
}
`
)

// TestPasses: each mutant is alive alone, and the tests say of each what they would say of code written so.
func TestPasses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.go")
	for name, text := range map[string]string{"go.mod": "module p\n", "p.go": code, "p_test.go": test} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p, err := New(t.TempDir(), file)
	require.NoError(t, err)
	ok, err := p.Passes(t.Context(), nil, time.Minute, Tests{dir, "."})
	require.NoError(t, err)
	require.True(t, ok, "the code as it is")
	passes := map[string]bool{}
	for i := range p.Mutants {
		m := &p.Mutants[i]
		passes[m.Name], err = p.Passes(t.Context(), m, time.Minute, Tests{dir, "."})
		require.NoError(t, err)
	}
	require.Equal(t, map[string]bool{
		"clip: n < low && /* not */ !(low == 0) → true":        false,
		"clip: n < low && /* not */ !(low == 0) → false":       false,
		"clip: n < low && /* not */ !(low == 0) → n < low":     false,
		"clip: n < low && /* not */ !(low == 0) → !(low == 0)": false,
		"clip: n < low → n <= low":                             true, // one for the other
		"clip: low == 0 → low != 0":                            false,
		"clip: out = low left out":                             false,
		"clip: out = n left out":                               false,
		"clip: i < 1 → i <= 1":                                 true,
		"clip: i > 5 || n > 100 → i > 5":                       true, // nobody tries 101
		"clip: i > 5 || n > 100 → n > 100":                     true,
		"clip: i > 5 → i >= 5":                                 true,
		"clip: n > 100 → n >= 100":                             true,
		"clip: f() → true":                                     false,
		"clip: f() → false":                                    true,
		"clip: out == 7 → true":                                false,
		"clip: out == 7 → false":                               true, // nor 7
		"clip: out == 7 → out != 7":                            false,
		"clip: out++ left out":                                 true,
	}, passes)
}

// TestEach: each test runs by itself, and a mutant meets only those that ask for it.
func TestEach(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.go")
	const other = "\nfunc TestNothing(t *testing.T) {\n\tif os.Getenv(\"OPTCHECK_MUTANT\") != \"0\" {\n\t\tt.Error(\"asked\")\n\t}\n}\n"
	for name, text := range map[string]string{"go.mod": "module p\n", "p.go": code,
		"p_test.go": strings.Replace(test, "\"testing\"", "(\n\t\"os\"\n\t\"testing\"\n)", 1) + other} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p, err := New(t.TempDir(), file)
	require.NoError(t, err)
	suites, err := p.Each(t.Context(), time.Minute, Tests{dir, "."})
	require.NoError(t, err)
	require.ElementsMatch(t, []Tests{{dir, "^TestClip$"}, {dir, "^TestNothing$"}}, suites)
	noticed := 0
	for i := range p.Mutants {
		ok, err := p.Passes(t.Context(), &p.Mutants[i], time.Minute, suites...)
		require.NoError(t, err)
		if !ok {
			noticed++
		}
	}
	require.Equal(t, 10, noticed, "those that TestClip notices")
}
