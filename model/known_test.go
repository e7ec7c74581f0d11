package model

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

func load(t testing.TB, name string) *Model {
	t.Helper()
	m, err := Load(name)
	require.NoError(t, err)
	return m
}

func parse(t testing.TB, src string) *litmus.Test {
	t.Helper()
	test, err := litmus.Parse("test.litmus", []byte(src))
	require.NoError(t, err)
	return test
}

func judge(t testing.TB, m *Model, test *litmus.Test) *Verdict {
	t.Helper()
	v, err := m.Judge(context.Background(), test, Options{})
	require.NoError(t, err)
	require.Empty(t, v.Undecided)
	return v
}

// known is a test with verdicts that are known from elsewhere: in testdata,
// a file per test whose doc string lists "model=observation" pairs. A model
// name ending in * stands for all models that begin so.
func TestKnownVerdicts(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.litmus") // known: of ptx; async: of what it lacks
	require.NoError(t, err)
	require.Greater(t, len(files), 40)
	n := 0
	for _, file := range files {
		test, err := litmus.ParseFile(file)
		require.NoError(t, err)
		want := verdicts(t, test)
		require.NotEmpty(t, want, "%s lists no verdicts", file)
		for _, info := range Builtin() {
			obs, ok := want[info.Name]
			if !ok {
				continue
			}
			m := load(t, info.Name)
			if _, err := m.Judge(t.Context(), test, Options{}); errors.Is(err, ErrOutside) {
				continue
			}
			n++
			v := judge(t, m, test)
			assert.Equal(t, obs, said(v), "%s under %s: %v", file, info.Name, v.States)
		}
	}
	t.Logf("%d verdicts on %d tests", n, len(files))
}

// said is what a verdict says in a doc string.
func said(v *Verdict) string {
	if v.Undefined != "" {
		return "Undefined"
	}
	return v.Observation.String()
}

// verdicts reads the doc string.
func verdicts(t testing.TB, test *litmus.Test) map[string]string {
	want := map[string]string{}
	for _, w := range strings.Fields(test.Doc) {
		name, obs, ok := strings.Cut(w, "=")
		if !ok {
			continue
		}
		require.Contains(t, []string{"Never", "Sometimes", "Always", "Undefined"}, obs)
		for _, info := range Builtin() {
			if prefix, star := strings.CutSuffix(name, "*"); name == info.Name || star && strings.HasPrefix(info.Name, prefix) {
				want[info.Name] = obs
			}
		}
	}
	if obs, ok := want["ptx"]; ok { // what ptx decides stays
		for _, name := range []string{AsyncModel, BytesModel} {
			if want[name] == "" {
				want[name] = obs
			}
		}
	}
	if obs := want[AsyncModel]; want[BytesModel] == "" && obs != "" && obs != "Undefined" {
		want[BytesModel] = obs
	}
	return want
}

func TestWitnessCountsOfManyWriters(t *testing.T) {
	src, err := os.ReadFile("testdata/known/CoRR-relaxed.litmus")
	require.NoError(t, err)
	require.Contains(t, string(src), "CoRR")
}
