package machine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/exec"
	"optcheck/model/internal/gen"
)

// axioms returns the engine of a built-in model of axioms.
func axioms(t testing.TB, name string) *exec.Engine {
	t.Helper()
	f, err := cat.ReadFile("../models/"+name+".cat", cat.Library())
	require.NoError(t, err)
	p, err := cat.Compile(t.Context(), f, exec.Signature())
	require.NoError(t, err)
	if f.Header == "PTX" {
		return exec.NewEngine(p, exec.CoPartial)
	}
	return exec.NewEngine(p, exec.CoTotal)
}

// twin is a machine and the axioms that say the same.
type twin struct {
	m      *Model
	axioms string
	random gen.Config
	known  []*litmus.Test
}

func twins(t testing.TB) []twin {
	plain := gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 6, Locations: 2, Membar: true, Deps: true}
	files, err := filepath.Glob("../testdata/known/*.litmus")
	require.NoError(t, err)
	var known []*litmus.Test
	for _, f := range files {
		test, err := litmus.ParseFile(f)
		require.NoError(t, err)
		known = append(known, test)
	}
	// A level of a CTA beside others, whose order of stores is that of all.
	known = append(known, parse(t, "001", [][]string{{"st.weak x, 1", "membar.cta", "st.weak y, 2"}, {"st.weak y, 1", "membar.cta", "st.weak x, 2"},
		{"ld.weak r1, x"}}, "x=0; y=0;", "x=1 /\\ y=1", false))
	atomics := plain
	atomics.Atomics = true
	scoped := gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 6, Locations: 2, Strong: true, Atomics: true, Fences: true, Deps: true}
	return []twin{
		{Settling("ptx-op"), "ptx", scoped, known},
		{Levels("ptx-2015-op", false), "ptx-2015", plain, known},
		{Levels("ptx-2015-rmw-op", true), "ptx-2015-rmw", atomics, known},
	}
}

// maxStates bounds what is tried of a test at random.
var maxStates = 300_000

// different reports whether a machine has other final states than axioms; ok is
// false if the test is not in the machine's fragment or has no verdict.
func different(t testing.TB, m *Model, e *exec.Engine, test *litmus.Test) (diff string, ok bool) {
	t.Helper()
	p, err := exec.Compile(test)
	require.NoError(t, err)
	a, err := m.Run(t.Context(), p, Options{MaxStates: maxStates})
	if err != nil && !errors.Is(err, ErrOutside) { // nor do the axioms know what the test does
		_, other := e.Run(t.Context(), p, exec.Options{StatesOnly: true, MaxCandidates: 300_000})
		require.Error(t, other, err)
	}
	if err != nil {
		return "", false
	}
	b, err := e.Run(t.Context(), p, exec.Options{StatesOnly: true, MaxCandidates: 300_000})
	require.NoError(t, err)
	if a.Undecided != "" || b.Undecided != "" {
		return "", false
	}
	if slices.EqualFunc(states(a), states(b), slices.Equal) {
		return "", true
	}
	return fmt.Sprintf("%s: %s %v, axioms %v\n%s", test.Name, m.Name, states(a), states(b), test), true
}

// TestTwins: on random tests a machine and its axioms have the same final states.
func TestTwins(t *testing.T) {
	want := 500
	if os.Getenv("OPTCHECK_FULL") != "" {
		want = 20_000
	}
	for _, w := range twins(t) {
		e := axioms(t, w.axioms)
		r := rand.New(rand.NewPCG(20, 15))
		n := 0
		for _, test := range w.known {
			diff, _ := different(t, w.m, e, test)
			require.Empty(t, diff)
		}
		for i := 0; n < want; i++ {
			diff, ok := different(t, w.m, e, gen.Test(r, w.random, fmt.Sprintf("R%d", i)))
			require.Empty(t, diff)
			if ok {
				n++
			}
		}
		t.Logf("%s and %s are equal on %d random tests", w.m.Name, w.axioms, n)
	}
}

// TestTwinMutations: without any one of its rules a machine is not its axioms' twin
// any more.
func TestTwinMutations(t *testing.T) {
	for _, w := range twins(t) {
		e := axioms(t, w.axioms)
		killed, all := 0, 0
		for i, rule := range w.m.Rules {
			if !w.m.has(w.m.number(i)) {
				continue
			}
			all++
			m, err := w.m.Without(rule.Name)
			require.NoError(t, err)
			by := killer(t, m, e, w)
			t.Logf("%-20s %s", rule.Name, by)
			if by == "" {
				t.Errorf("nobody notices that rule %s of %s is missing", rule.Name, w.m.Name)
				continue
			}
			killed++
		}
		t.Logf("%s: %d of %d mutants noticed", w.m.Name, killed, all)
	}
}

// killer names a test on which a mutant differs from the axioms.
func killer(t testing.TB, m *Model, e *exec.Engine, w twin) string {
	for _, test := range w.known {
		if diff, _ := different(t, m, e, test); diff != "" {
			return test.Name
		}
	}
	r := rand.New(rand.NewPCG(20, 15))
	for i := range 3000 {
		test := gen.Test(r, w.random, fmt.Sprintf("R%d", i))
		if diff, _ := different(t, m, e, test); diff != "" {
			return test.Name
		}
	}
	return ""
}
