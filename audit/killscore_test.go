package audit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/fakeptxas"
	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
	"optcheck/toolchain"
)

// killRun applies wrong optimisations to tests before a real compiler.
type killRun struct {
	t       *testing.T
	tests   []*litmus.Test
	of      map[string][]int // by pass: the tests that it changes
	place   map[string]int   // of a test among all, by name
	kernels [][][]string     // by test and thread, as they are named if all tests are emitted together
	target  string
	levels  []string
	layouts []spec.Layout
	tcs     map[string]*toolchain.Toolchain // by release
	fakes   map[string]*toolchain.Toolchain
	dirs    map[string]string
	batch   int // tests audited at a time
	most    int // tests audited for a pass
	honest  map[string]map[kernelAt]*event.Cell
}

// newKillRun finds out which tests each pass changes.
func newKillRun(t *testing.T, tests []*litmus.Test, target string, layouts []spec.Layout, releases ...string) *killRun {
	s := newControlSuite(t)
	r := &killRun{t: t, target: target, levels: []string{"O0", "O3"}, layouts: layouts, fakes: s.fakes, dirs: s.dirs, batch: 24, most: 24}
	r.of, r.tcs, r.honest = map[string][]int{}, map[string]*toolchain.Toolchain{}, map[string]map[kernelAt]*event.Cell{}
	for _, release := range releases {
		if s.real[release] == nil {
			required.Missing(t, "no release %s", release)
		}
		r.tcs[release] = s.real[release]
	}
	sm, err := ptxgen.SM(target)
	require.NoError(t, err)
	r.place = map[string]int{}
	for _, x := range tests {
		if _, again := r.place[x.Name]; !again {
			r.place[x.Name] = len(r.tests)
			r.tests = append(r.tests, x)
		}
	}
	tests = r.tests
	for at := 0; at < len(tests); at += 512 {
		r.applicable(tests[at:min(at+512, len(tests))], at, sm)
	}
	return r
}

// applicable notes which passes change a kernel of some tests.
func (r *killRun) applicable(tests []*litmus.Test, first, sm int) {
	o := Options{Tests: tests, Layouts: r.layouts}
	em := &emission{}
	em.fill(&o, job{road: ptxRoad(r.t), target: r.target, chunk: newChunk(tests, 0)}, false)
	require.NoError(r.t, em.err)
	known := make([][]string, len(em.kernels)) // by kernel
	for i, k := range em.kernels {
		var err error
		known[i], err = fakeptxas.Applicable(k.text, sm)
		require.NoError(r.t, err, k.text)
	}
	for i := range tests {
		passes := map[string]bool{}
		names := make([][]string, len(tests[i].Threads))
		for l := range o.Layouts {
			for thread, k := range em.of[i*len(o.Layouts)+l] {
				names[thread] = append(names[thread], em.kernels[k].name)
				for _, p := range known[k] {
					passes[p] = true
				}
			}
		}
		r.kernels = append(r.kernels, names)
		for p := range passes {
			r.of[p] = append(r.of[p], first+i)
		}
	}
}

// audit audits tests with a compiler and returns their cells.
func (r *killRun) audit(tc *toolchain.Toolchain, tests []int) map[kernelAt]*event.Cell {
	o := Options{Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{r.target}, Levels: r.levels, Layouts: r.layouts}
	for _, i := range tests {
		o.Tests = append(o.Tests, r.tests[i])
	}
	run := event.NewRun()
	require.NoError(r.t, Run(r.t.Context(), o, run))
	out := make(map[kernelAt]*event.Cell, len(run.Cells))
	for i := range run.Cells {
		c := &run.Cells[i]
		out[kernelAt{r.target, c.Level, c.Layout, c.Test, 0}] = c
	}
	return out
}

// kill audits what a pass changes, until it is exposed or there is no more.
func (r *killRun) kill(p *fakeptxas.Pass) *kill {
	k := newKill(p.Name)
	k.tests = len(r.of[p.Name])
	for _, release := range sortedKeys(r.tcs) {
		k.audited = 0
		exposed := 0
		for at := 0; at < min(k.tests, r.most) && exposed == 0; at += r.batch {
			list := r.of[p.Name][at:min(at+r.batch, k.tests)]
			require.NoError(r.t, (&fakeptxas.Config{Real: r.tcs[release].Ptxas, Optimise: map[string][]string{"": {p.Name}}}).Write(r.dirs[release]))
			got := r.audit(r.fakes[release], list)
			done, err := fakeptxas.Notes(r.dirs[release])
			require.NoError(r.t, err)
			require.NotEmpty(r.t, done, "%s changes kernels of %s", p.Name, r.tests[list[0]].Name)
			base := r.base(release, list)
			for at, c := range got {
				if k.count(at, c, base[at], release) {
					exposed++
					if n := r.place[at.test] + 1; k.after == 0 || n < k.after {
						k.after = n
					}
				}
			}
			k.audited += len(list)
		}
	}
	return k
}

// base audits tests honestly, each once.
func (r *killRun) base(release string, tests []int) map[kernelAt]*event.Cell {
	if r.honest[release] == nil {
		r.honest[release] = map[kernelAt]*event.Cell{}
	}
	known := r.honest[release]
	probe := func(i int) kernelAt {
		return kernelAt{r.target, r.levels[0], r.layouts[0].String(), r.tests[i].Name, 0}
	}
	if missing := slices.DeleteFunc(slices.Clone(tests), func(i int) bool { return known[probe(i)] != nil }); len(missing) > 0 {
		for at, c := range r.audit(r.tcs[release], missing) {
			known[at] = c
		}
	}
	return known
}

// killTests returns the tests of a set.
func killTests(t *testing.T, set string) []*litmus.Test {
	var out []*litmus.Test
	add := func(preset string) {
		g, err := cycle.Preset(preset)
		require.NoError(t, err)
		out = append(out, slices.Collect(g.Tests())...)
	}
	switch set {
	case "corpus":
		out = slices.Clone(corpus.Tests())
		add("quick")
	case "presets":
		out = slices.Clone(corpus.Tests())
		for _, p := range []string{"quick", "ptx", "paper", "scopes"} {
			add(p)
		}
	case "shapes":
		for _, x := range killShapes {
			out = append(out, killShape(t, x.pass, x.threads))
		}
	default:
		if f := KillSets[set]; f != nil {
			return f(t) // in an order of its own
		}
		add(set)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// TestKillScore applies wrong optimisations that look at the code before a
// real compiler, and asks which of them the tests of a set expose: a cell is
// miscompiled by the rule that says what the pass did, and the honest compiler's
// is not. Without a set, it asks this of the tests that were written for each.
func TestKillScore(t *testing.T) {
	set := os.Getenv("OPTCHECK_KILL_SET")
	if set == "" {
		killShapesScore(t)
		return
	}
	releases, layouts := []string{"12.4"}, spec.AllLayouts
	if full() {
		releases = []string{"11.8", "12.4"}
	}
	switch set {
	case "presets", "corpus": // no words are neighbours there
		layouts = spec.Layouts
	case "hunt":
		layouts = []spec.Layout{spec.Pointers, spec.Adjacent}
	}
	r := newKillRun(t, killTests(t, set), "sm_80", layouts, releases...)
	if full() || os.Getenv("OPTCHECK_KILL_ALL") == "1" {
		r.most = len(r.tests)
	}
	kills := r.score()
	exposed, all := 0, 0
	var left []string
	for _, k := range kills {
		if k.pass.Legal {
			continue
		}
		if all++; k.exposed > 0 {
			exposed++
		} else {
			left = append(left, k.pass.Name)
		}
	}
	s := fmt.Sprintf("%s, %d tests: %d of %d exposed; not: %s\n", set, len(r.tests), exposed, all, strings.Join(left, ", "))
	t.Log(s)
	if dir := os.Getenv("OPTCHECK_KILL_OUT"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "kill-"+set+".txt"), []byte(killTable(kills)+s), 0o600))
	}
}

// score audits what each pass changes.
func (r *killRun) score() (kills []*kill) {
	for i := range fakeptxas.Passes {
		p := &fakeptxas.Passes[i]
		if only := os.Getenv("OPTCHECK_KILL_PASS"); only != "" && !slices.Contains(strings.Split(only, ","), p.Name) {
			continue
		}
		kills = append(kills, r.kill(p))
	}
	r.report(kills)
	return kills
}

// report prints a table, and fails if a pass breaks a kernel or a legal one is
// called miscompiled.
func (r *killRun) report(kills []*kill) {
	r.t.Log("\n" + killTable(kills))
	for _, k := range kills {
		for i, w := range k.wrong {
			if i < 5 {
				r.t.Errorf("%s: %s", k.pass.Name, w)
			}
		}
	}
}

// TestKillRules: the rules that passes are to be found by exist.
func TestKillRules(t *testing.T) {
	for _, p := range fakeptxas.Passes {
		for _, id := range p.Rules {
			require.True(t, slices.ContainsFunc(optcheck.Rules, func(r *optcheck.Rule) bool { return r.ID == id }), "%s: %s", p.Name, id)
		}
	}
}
