package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/model/exec"
)

// parse makes a test of threads' instructions, in blocks, with memory map and
// condition. Registers r… are declared by use; addresses are locations.
func parse(t testing.TB, blocks string, threads [][]string, init, cond string, shared bool) *litmus.Test {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "PTX t\n\"\"\n{ %s }\n", init)
	var names []string
	rows := 0
	for i, th := range threads {
		names = append(names, fmt.Sprintf("P%d@cta %c,gpu 0", i, blocks[i]))
		rows = max(rows, len(th))
	}
	b.WriteString(strings.Join(names, " | ") + " ;\n")
	for r := range rows {
		var cells []string
		for _, th := range threads {
			c := ""
			if r < len(th) {
				c = th[r]
			}
			cells = append(cells, c)
		}
		b.WriteString(strings.Join(cells, " | ") + " ;\n")
	}
	b.WriteString("exists (" + cond + ")\n")
	x, err := litmus.Parse("t.litmus", []byte(b.String()))
	require.NoError(t, err, b.String())
	for i := range x.Locations {
		x.Locations[i].Space = litmus.Global
		if shared {
			x.Locations[i].Space = litmus.Shared
		}
	}
	return x
}

// allows reports whether a model lets a test's proposition come true.
func allows(t testing.TB, m *Model, x *litmus.Test) bool {
	t.Helper()
	p, err := exec.Compile(x)
	require.NoError(t, err)
	r, err := m.Run(t.Context(), p, Options{})
	require.NoError(t, err)
	require.Empty(t, r.Undecided)
	for _, s := range r.States {
		if x.Cond.Eval(func(q litmus.Term) int64 {
			for i := range r.Terms {
				if r.Terms[i] == q {
					return s.Values[i]
				}
			}
			return 0
		}) {
			return true
		}
	}
	return false
}

type known struct {
	name string
	test *litmus.Test
	want bool
}

// seedVerdicts are Fig. 8 and 9 of Sorensen and others (ICS 2013), and Fig. 11 as its chips have it.
func seedVerdicts(t testing.TB) (list []known) {
	fences := map[string]string{"no fences": "", "TFB": "membar.cta", "TF": "membar.gl"}
	add := func(name, blocks, fence string, shared, mp, coRR bool) {
		f := fences[fence]
		name = fmt.Sprintf("%s, %s, shared %v", name, fence, shared)
		list = append(list, known{"MP " + name, parse(t, blocks, [][]string{{"st.weak x, 1", f, "st.weak y, 1"}, {"ld.weak r1, y", f, "ld.weak r2, x"}},
			"x=0; y=0;", "1:r1=1 /\\ 1:r2=0", shared), mp})
		list = append(list, known{"CoRR " + name, parse(t, blocks, [][]string{{"st.weak x, 1"}, {"ld.weak r1, x", f, "ld.weak r2, x"}},
			"x=0;", "1:r1=1 /\\ 1:r2=0", shared), coRR})
	}
	for _, shared := range []bool{true, false} {
		add("intra-block", "00", "no fences", shared, true, true)
		add("intra-block", "00", "TFB", shared, false, false)
		add("intra-block", "00", "TF", shared, false, false)
	}
	add("inter-block", "01", "no fences", false, true, true)
	add("inter-block", "01", "TFB", false, true, false)
	add("inter-block", "01", "TF", false, false, false)
	require.Len(t, list, 18)
	for fence, want := range map[string]bool{"no fences": true, "TFB": true, "TF": false} {
		f := fences[fence]
		list = append(list, known{"CAS-SL " + fence, parse(t, "01", [][]string{{"st.weak d, 1", f, "atom.exch r0, m, 0"},
			{"atom.cas r1, m, 0, 1", "bne r1, 0, END", f, "ld.weak r2, d", "END:"}}, "m=1; d=0;", "1:r1=0 /\\ 1:r2=0", false), want})
	}
	return list
}

// ugpuCases are small programs whose answer is known by hand.
func ugpuCases(t testing.TB) []known {
	const tf, tfb = "membar.gl", "membar.cta"
	list := seedVerdicts(t)
	add := func(name, blocks, cond string, shared, want bool, threads ...[]string) {
		list = append(list, known{name, parse(t, blocks, threads, "x=0; y=0;", cond, shared), want})
	}
	type T = []string
	add("a thread stores twice", "0", "x=1", false, false, T{"st.weak x, 1", "st.weak x, 2"})
	add("a load does not read a later store", "0", "0:r1=1", false, false, T{"ld.weak r1, x", "st.weak x, 1"})
	add("a load reads an earlier store", "01", "0:r1=0", false, false, T{"st.weak x, 1", "ld.weak r1, x"}, T{"ld.weak r1, x"})
	add("competing stores have an order", "01", "1:r1=1 /\\ x=2", false, false, T{"st.weak x, 1"}, T{"st.weak x, 2", "ld.weak r1, x"})
	add("2+2W", "01", "x=1 /\\ y=1", false, true, T{"st.weak x, 1", "st.weak y, 2"}, T{"st.weak y, 1", "st.weak x, 2"})
	add("2+2W, TF", "01", "x=1 /\\ y=1", false, false, T{"st.weak x, 1", tf, "st.weak y, 2"}, T{"st.weak y, 1", tf, "st.weak x, 2"})
	add("LB", "01", "0:r1=1 /\\ 1:r1=1", false, true, T{"ld.weak r1, x", "st.weak y, 1"}, T{"ld.weak r1, y", "st.weak x, 1"})
	add("LB, TFB", "01", "0:r1=1 /\\ 1:r1=1", false, false, T{"ld.weak r1, x", tfb, "st.weak y, 1"}, T{"ld.weak r1, y", tfb, "st.weak x, 1"})
	dep := T{"ld.weak r1, y", "and r2, r1, 128", "add r2, r2, 1", "st.weak x, r2"}
	add("LB with a dependency", "01", "0:r1=1 /\\ 1:r1=1", false, false, T{"ld.weak r1, x", tfb, "st.weak y, 1"}, dep)
	add("SB, TF", "01", "0:r1=0 /\\ 1:r1=0", false, false, T{"st.weak x, 1", tf, "ld.weak r1, y"}, T{"st.weak y, 1", tf, "ld.weak r1, x"})
	add("SB, TFB", "01", "0:r1=0 /\\ 1:r1=0", false, true, T{"st.weak x, 1", tfb, "ld.weak r1, y"}, T{"st.weak y, 1", tfb, "ld.weak r1, x"})
	wrc := [][]string{{"st.weak x, 1"}, {"ld.weak r1, x", tf, "st.weak y, 1"}, {"ld.weak r1, y", tf, "ld.weak r2, x"}}
	add("WRC, TF, the first two in a block", "001", "1:r1=1 /\\ 2:r1=1 /\\ 2:r2=0", false, false, wrc...)
	add("WRC, TF, the last in the first one's block", "010", "1:r1=1 /\\ 2:r1=1 /\\ 2:r2=0", false, false, wrc...)
	iriw := [][]string{{"st.weak x, 1"}, {"st.weak y, 1"}, {"ld.weak r1, x", tf, "ld.weak r2, y"}, {"ld.weak r1, y", tf, "ld.weak r2, x"}}
	add("IRIW, TF, readers beside writers", "0101", "2:r1=1 /\\ 2:r2=0 /\\ 3:r1=1 /\\ 3:r2=0", false, false, iriw...)
	iriw[2][1], iriw[3][1] = tfb, tfb
	add("IRIW, TFB, readers beside writers", "0101", "2:r1=1 /\\ 2:r2=0 /\\ 3:r1=1 /\\ 3:r2=0", false, true, iriw...)
	early := [][]string{{"st.weak x, 1", "ld.weak r1, x", "st.weak y, r1"}, {"ld.weak r1, y", tfb, "ld.weak r2, x"}}
	add("a thread sees its own store first", "00", "1:r1=1 /\\ 1:r2=0", false, true, early...)
	add("not in shared memory", "00", "1:r1=1 /\\ 1:r2=0", true, false, early...)
	add("an atomic and a store", "01", "1:r1=0 /\\ x=5", false, false, T{"st.weak x, 1"}, T{"atom.add r1, x, 5"})
	add("two atomics", "01", "x=1", false, false, T{"atom.add r1, x, 1"}, T{"atom.add r1, x, 1"})
	add("atomics are seen by all", "01", "1:r1=1 /\\ 1:r2=0", false, false, T{"atom.exch r1, x, 1", tfb, "atom.exch r2, y, 1"}, T{"ld.weak r1, y", tfb, "ld.weak r2, x"})
	return list
}

func TestUGPU(t *testing.T) {
	for _, c := range ugpuCases(t) {
		require.Equal(t, c.want, allows(t, UGPU(), c.test), c.name)
	}
}

// TestUGPUChoices: what the choices are needed for that the seed leaves open.
func TestUGPUChoices(t *testing.T) {
	wrong := func(rules ...string) (n int) {
		m := UGPU()
		for _, r := range rules {
			var err error
			m, err = m.Without(r)
			require.NoError(t, err)
		}
		for _, c := range seedVerdicts(t)[:18] {
			if allows(t, m, c.test) != c.want {
				n++
			}
		}
		return n
	}
	require.Equal(t, 0, wrong())
	require.Equal(t, 5, wrong("block-propagation", "grid-propagation"))
	require.Equal(t, 11, wrong("fence-after-loads"))
	require.Equal(t, 0, wrong("versions"))
}

// TestMutations: each rule is needed for some known case.
func TestMutations(t *testing.T) {
	for _, s := range []struct {
		m     *Model
		cases []known
	}{{UGPU(), ugpuCases(t)}} {
		killed := 0
		for _, r := range s.m.Rules {
			m, err := s.m.Without(r.Name)
			require.NoError(t, err)
			by := ""
			for _, c := range s.cases {
				if allows(t, m, c.test) != c.want {
					by = c.name
					break
				}
			}
			if by != "" {
				killed++
			}
			t.Logf("%-20s %s", r.Name, by)
			require.NotEmpty(t, by, "nobody notices that rule %s of %s is missing", r.Name, s.m.Name)
		}
		t.Logf("%s: %d of %d mutants noticed", s.m.Name, killed, len(s.m.Rules))
	}
}
