package model

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/litmus/herdlog"
	"optcheck/model/internal/gen"
	"optcheck/model/internal/herd"
)

// runHerd judges tests with herd7 under a built-in model and returns its log.
func runHerd(t testing.TB, name string, tests []*litmus.Test, args ...string) (string, []*LISA) {
	if _, err := herd.Find(); err != nil {
		required.Missing(t, "%v", err)
	}
	src, err := ModelForHerd(name)
	require.NoError(t, err)
	var list []*LISA
	var texts []string
	for _, test := range tests {
		l, err := ToLISA(test)
		require.NoError(t, err)
		list, texts = append(list, l), append(texts, l.Text)
	}
	files, err := herd.Write(t.TempDir(), LISABell, src, texts)
	require.NoError(t, err)
	r, err := herd.Run(t.Context(), append(args, files...)...)
	require.NoError(t, err)
	return r.Log, list
}

// TestAgainstHerd compares the final states and the witnesses with herd7's on
// random tests written in LISA.
func TestAgainstHerd(t *testing.T) {
	n := 200
	if os.Getenv("OPTCHECK_MODEL_TESTS") != "" {
		n = 1500
	}
	if testing.Short() {
		n = 40
	}
	for _, name := range lisaModels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, 4))
			c := gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 7, Locations: 3, Membar: true, Deps: true, Atomics: name != "ptx-2015"}
			if name == "ptx" {
				c.Membar, c.Strong, c.SC = false, true, true
			}
			var tests []*litmus.Test
			for len(tests) < n {
				test := gen.Test(r, c, fmt.Sprintf("R%05d", len(tests)))
				if _, err := ToLISA(test); err == nil && len(test.Terms()) > 0 && (name != "ptx" || fitsHerd(test)) {
					tests = append(tests, test)
				}
			}
			compareWithHerd(t, name, tests)
		})
	}
}

func compareWithHerd(t *testing.T, name string, tests []*litmus.Test) {
	out, list := runHerd(t, name, tests)
	m := load(t, name)
	i, states := 0, 0
	err := herdlog.Read("herd", strings.NewReader(out), func(l *herdlog.Test) error {
		require.Equal(t, tests[i].Name, l.Name)
		v, err := m.Judge(t.Context(), tests[i], Options{Co: CoTotal})
		require.NoError(t, err)
		require.Empty(t, v.Undecided)
		var want []string
		for _, s := range l.States {
			var parts []string
			for _, x := range v.Terms {
				for _, it := range s.Items {
					if list[i].Names[herdlog.Term(it.Term)] == x {
						parts = append(parts, fmt.Sprintf("%s=%d;", herdlog.Term(x), it.Value))
					}
				}
			}
			want = append(want, strings.Join(parts, " "))
		}
		slices.Sort(want)
		var got []string
		for _, s := range v.States {
			var parts []string
			for k, x := range v.Terms {
				parts = append(parts, fmt.Sprintf("%s=%d;", herdlog.Term(x), s.Values[k]))
			}
			got = append(got, strings.Join(parts, " "))
		}
		slices.Sort(got)
		require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), "herd7 and this engine differ on\n%s", list[i].Text)
		states += len(got)
		i++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, len(tests), i, "herd7 judged fewer tests")
	t.Logf("%d tests, %d states, all the same", i, states)
}

// fitsHerd reports whether herd7 can judge a test under ptx: it goes through all
// orders of the fences, and LISA makes an atomic with a result of a red, which is not
// the same there.
func fitsHerd(t *litmus.Test) bool {
	fences := 0
	for i := range t.Threads {
		for _, in := range t.Threads[i].Body {
			if in.Op == litmus.OpRed {
				return false
			}
			if in.Op == litmus.OpFence && in.Sem == litmus.SemSC {
				fences++
			}
		}
	}
	return fences <= 5
}
