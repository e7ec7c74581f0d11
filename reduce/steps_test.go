package reduce

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

// TestStepsEnd: whatever steps are taken in whatever order, each leaves a sane
// test that reads back from its own text, and there is an end.
func TestStepsEnd(t *testing.T) {
	all := corpus.Tests()
	rapid.Check(t, func(rt *rapid.T) {
		lt := rapid.SampledFrom(all).Draw(rt, "test").Clone()
		number(lt)
		seen := map[string]bool{}
		for n := 0; ; n++ {
			if n > 300 {
				rt.Fatalf("no end:\n%s", lt)
			}
			if seen[lt.Hash()] {
				rt.Fatalf("went in a circle:\n%s", lt)
			}
			seen[lt.Hash()] = true
			r := newReducer(Options{}, &Finding{}, lt)
			list := r.singles(r.steps(lt))
			if len(list) == 0 {
				break
			}
			lt = list[rapid.IntRange(0, len(list)-1).Draw(rt, "step")].test
			back, err := litmus.Parse("f", lt.Append(nil))
			if err != nil {
				rt.Fatalf("%v\n%s", err, lt)
			}
			if back.Hash() != lt.Hash() {
				rt.Fatalf("reads back as another test:\n%s", lt)
			}
		}
		// What no step can make any smaller is one instruction or none.
		require.LessOrEqual(rt, len(lt.Threads), 1)
	})
}

func TestKeep(t *testing.T) {
	lt, _ := corpus.Lookup("dlb-mp")
	lt = lt.Clone()
	number(lt)
	for _, keep := range Parts {
		r := newReducer(Options{Keep: []string{keep}}, &Finding{}, lt)
		for _, c := range r.singles(r.steps(lt)) {
			require.NotEqual(t, keep, c.steps[0].part)
		}
	}
	_, err := Run(t.Context(), &Finding{}, Options{Keep: []string{"colour"}})
	require.ErrorContains(t, err, `nothing called "colour"`)
}

func TestParseAddress(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Address
	}{
		{"coRR", Address{Test: "coRR"}},
		{"coRR@12.4", Address{Test: "coRR", Toolchain: "12.4"}},
		{"coRR@ptxas-12.4.131/sm_80/O3/offsets:merged", Address{"coRR", "ptxas-12.4.131", "sm_80", "O3", "offsets", "merged"}},
		{"coRR@clang-19.1.7/gfx900", Address{Test: "coRR", Toolchain: "clang-19.1.7", Target: "gfx900"}},
		{"coRR@ptxas 12.4.131/sm_80", Address{Test: "coRR", Toolchain: "ptxas 12.4.131", Target: "sm_80"}},
		{"a@b/c.litmus@cuda-11.8/sm_35", Address{Test: "a@b/c.litmus", Toolchain: "cuda-11.8", Target: "sm_35"}},
		{"mp@/sm_80//symbols", Address{Test: "mp", Target: "sm_80", Layout: "symbols"}},
	} {
		got, err := ParseAddress(c.in)
		require.NoError(t, err, c.in)
		require.Equal(t, c.want, got)
	}
	for _, bad := range []string{"@12.4", "x@a/b/c/d/e", "x@a/b/c/sideways", "x@a:"} {
		_, err := ParseAddress(bad)
		require.Error(t, err, bad)
	}
}

func TestRange(t *testing.T) {
	w := &Where{Releases: []string{"r1", "r2", "r3", "r4", "r5"}}
	for i, s := range []string{"good", "bad", "bad", "none", "good"} {
		p := Place{Toolchain: fmt.Sprintf("r%d", i+1), Target: "sm_80", Level: "O3", There: s == "bad", Class: "preserved"}
		if s == "none" {
			p.Class = "unsupported"
		}
		w.Places = append(w.Places, p)
	}
	require.Equal(t, Range{FirstBad: "r2", LastGood: "r1", LastBad: "r3", NextGood: "r5"}, w.rangeOf("r3", "sm_80", "O3"))
	require.Equal(t, Range{FirstBad: "r2", LastGood: "r1", LastBad: "r3", NextGood: "r5"}, w.rangeOf("r2", "sm_80", "O3"))
	require.Zero(t, w.rangeOf("r1", "sm_80", "O3"))
	require.Zero(t, w.rangeOf("r3", "sm_70", "O3"))
	w.Places[0].Class, w.Places[4].Class = "unknown", "unknown"
	require.Equal(t, Range{FirstBad: "r2", LastBad: "r3"}, w.rangeOf("r3", "sm_80", "O3"), "unknown is not good")
}
