package model_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/litmus/herdlog"
	"optcheck/model"
	"optcheck/model/internal/herd"
	"optcheck/ptxgen/cycle"
)

func TestHerdName(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct{ name, want string }{
		{"mp+membar.gls", "mp+membar.gls"},
		{"MP-p0::p1-xgyg", "MP-p0//p1-xgyg"},
		{"MP-p0//p1-xgyg", "MP-p0[2f][2f]p1-xgyg"},
		{"a[2f]", "a[5b]2f[5d]"},
		{"a b", "a[20]b"},
		{"é", "[c3][a9]"},
	} {
		got := model.HerdName(c.name)
		require.Equal(t, c.want, got)
		require.Empty(t, seen[got])
		seen[got] = c.name
	}
}

// TestHerdJudgesEveryPreset: of the tests of the corpus and of all presets that
// LISA can express, herd7 judges every one, under its name; a sample of them, or
// with OPTCHECK_FULL=1 all.
func TestHerdJudgesEveryPreset(t *testing.T) {
	if _, err := herd.Find(); err != nil {
		required.Missing(t, "%v", err)
	}
	every := 20
	if os.Getenv("OPTCHECK_FULL") == "1" {
		every = 1
	}
	src, err := model.ModelForHerd("sc")
	require.NoError(t, err)
	sc, err := model.Load("sc")
	require.NoError(t, err)
	presets := map[string][]*litmus.Test{"corpus": corpus.Tests()}
	for _, p := range cycle.Presets() {
		g, err := cycle.Preset(p)
		require.NoError(t, err)
		for x := range g.Tests() {
			presets[p] = append(presets[p], x)
		}
	}
	for p, tests := range presets {
		var texts, want []string
		for i, x := range tests {
			if i%every != 0 && p != "corpus" {
				continue
			}
			if i%7 == 0 { // names that herd would take for one
				x = x.Clone()
				x.Name = fmt.Sprintf("%s: %c", x.Name, 'a'+i%26)
			}
			l, err := model.ToLISA(x)
			if err != nil {
				require.ErrorContains(t, err, "cannot be written in LISA")
				continue
			}
			v, err := sc.Judge(t.Context(), x, model.Options{StatesOnly: true})
			require.NoError(t, err)
			if v.Cut {
				continue // herd7 warns that it unrolls loops
			}
			texts, want = append(texts, l.Text), append(want, l.Name)
		}
		files, err := herd.Write(t.TempDir(), model.LISABell, src, texts)
		require.NoError(t, err)
		r, err := herd.Run(t.Context(), files...)
		require.NoError(t, err)
		var got []string
		require.NoError(t, herdlog.Read("herd", strings.NewReader(r.Log), func(l *herdlog.Test) error {
			got = append(got, l.Name)
			return nil
		}))
		require.Equal(t, want, got, p)
		t.Logf("%s: %d of %d tests, every %dth: herd7 judged all in %v", p, len(got), len(tests), every, r.Wall)
	}
}
