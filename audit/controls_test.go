package audit

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/fakeptxas"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/report"
	"optcheck/spec"
	"optcheck/toolchain"
)

// controlTargets are the targets of the positive controls with the release that
// compiles for each: every generation and every release.
var controlTargets = []struct{ target, release string }{
	{"sm_35", "11.2"}, {"sm_50", "11.8"}, {"sm_60", "12.4"}, {"sm_70", "11.2"}, {"sm_75", "11.8"}, {"sm_80", "12.4"}, {"sm_86", "11.2"}, {"sm_90", "12.4"},
}

// kernelAt names a kernel of a run: a thread of a cell.
type kernelAt struct {
	target, level, layout, test string
	thread                      int
}

// controlRun is what an audit says of every cell, and the code of every kernel.
type controlRun struct {
	cells map[kernelAt]*report.Cell // thread 0
	codes map[kernelAt][16]byte
	words map[kernelAt]string // the memory-relevant instructions without registers
}

// runControls audits tests for one target and keeps what the comparison needs.
func runControls(t *testing.T, tc *toolchain.Toolchain, target string, tests []*litmus.Test, levels []string, layouts []spec.Layout) *controlRun {
	t.Helper()
	o := Options{Tests: tests, Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{target}, Levels: levels, Layouts: layouts}
	r := &controlRun{cells: map[kernelAt]*report.Cell{}, codes: map[kernelAt][16]byte{}, words: map[kernelAt]string{}}
	var mu sync.Mutex
	run := visited(t, o, func(v kernelVisit) {
		mu.Lock()
		defer mu.Unlock()
		at := kernelAt{target, v.cell.Level, v.cell.Layout, v.cell.Test, v.kernel.Thread}
		r.codes[at] = optcheck.CodeHash(v.fn, v.check.Consts)
		var words []string
		for i := range v.fn.Insts {
			if in := &v.fn.Insts[i]; mapKeeps(in) {
				words = append(words, mapText(in))
			}
		}
		r.words[at] = strings.Join(words, "; ")
	})
	for i := range run.Cells {
		c := &run.Cells[i]
		r.cells[kernelAt{target, c.Level, c.Layout, c.Test, 0}] = c
	}
	return r
}

// oracle judges tests by a model, each distinct one once.
type oracle struct {
	models map[string]*model.Model
	known  map[string][]string
}

func (o *oracle) outcomes(ctx context.Context, target string, t *litmus.Test) ([]string, error) {
	name := DefaultModel(target)
	key := name + "\n" + t.String()
	if s, ok := o.known[key]; ok {
		return s, nil
	}
	m := o.models[name]
	if m == nil {
		var err error
		if m, err = model.Load(name); err != nil {
			return nil, err
		}
		o.models[name] = m
	}
	states, _, err := m.Outcomes(ctx, t, model.Options{})
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(states))
	for _, s := range states {
		out = append(out, fmt.Sprint(s.Values))
	}
	slices.Sort(out)
	o.known[key] = out
	return out, nil
}

// legal reports whether a changed test shows no outcome that the test forbids.
func (o *oracle) legal(ctx context.Context, target string, t, changed *litmus.Test) (bool, error) {
	a, err := o.outcomes(ctx, target, t)
	if err != nil {
		return false, err
	}
	b, err := o.outcomes(ctx, target, changed)
	if err != nil {
		return false, err
	}
	for _, s := range b {
		if _, ok := slices.BinarySearch(a, s); !ok {
			return false, nil
		}
	}
	return true, nil
}

// observed returns the test with every register that an access defines and
// every location in its final states, so that no change is without effect only
// because the condition does not speak of it.
func observed(t *litmus.Test) *litmus.Test {
	c := t.Clone()
	terms := c.Terms()
	add := func(x litmus.Term) {
		if !slices.Contains(terms, x) {
			terms = append(terms, x)
			c.Observed = append(c.Observed, x)
		}
	}
	for i := range c.Threads {
		for _, in := range c.Threads[i].Body {
			if in.IsAccess() && in.Dst != "" {
				add(litmus.Term{Kind: litmus.TermReg, Thread: i, Name: in.Dst})
			}
		}
	}
	for _, l := range c.Locations {
		add(litmus.Term{Kind: litmus.TermLoc, Name: l.Name})
	}
	return c
}

// control is one cell with at least one injection that changed its code.
type control struct {
	at       kernelAt
	kinds    []string
	strength bool // only strengthening
	changed  *litmus.Test
	legal    bool
	got      *report.Cell
}

func (c *control) want() []string {
	switch {
	case !c.legal:
		return []string{report.Miscompiled}
	case c.strength:
		return []string{report.Preserved, report.Optimised}
	}
	return []string{report.Optimised}
}

// controlRules are the rules of which one at least must be reported for an
// injection, by the first words of its kind. An access that changes places with
// a fence has left what the fence orders.
var controlRules = []struct {
	kind  string
	rules []*optcheck.Rule
}{
	{"move", []*optcheck.Rule{optcheck.Reordered, optcheck.FenceRemoved}},
	{"drop fence", []*optcheck.Rule{optcheck.FenceRemoved, optcheck.FenceWeakened}},
	{"narrow fence", []*optcheck.Rule{optcheck.FenceWeakened, optcheck.FenceRemoved}},
	{"fence.sc to", []*optcheck.Rule{optcheck.FenceWeakened}},
	{"drop cache operator", []*optcheck.Rule{optcheck.Weakened}},
	{"drop", []*optcheck.Rule{optcheck.Missing}},
	{"forward store", []*optcheck.Rule{optcheck.Missing, optcheck.Merged}},
	{"merge", []*optcheck.Rule{optcheck.Merged}},
	{"cut dependency", []*optcheck.Rule{optcheck.DependencyBroken}},
	{"duplicate", []*optcheck.Rule{optcheck.Duplicated, optcheck.ExtraAccess}}, // the first of two atomics becomes a red
	{"retarget", []*optcheck.Rule{optcheck.Retargeted, optcheck.Missing}},
	{"speculate", []*optcheck.Rule{optcheck.ControlChanged}},
	{"weaken", []*optcheck.Rule{optcheck.Weakened, optcheck.FenceRemoved, optcheck.FenceWeakened}}, // an acquire or release is a fence too
	{"narrow", []*optcheck.Rule{optcheck.Weakened, optcheck.FenceRemoved, optcheck.FenceWeakened}},
}

// wrongRule says that the findings of a cell with a single injection do not
// name what was injected.
func (c *control) wrongRule() string {
	if len(c.kinds) != 1 || c.strength || !c.got.HasFindings() {
		return ""
	}
	for _, x := range controlRules {
		if !strings.HasPrefix(c.kinds[0], x.kind) {
			continue
		}
		for _, r := range x.rules {
			if slices.ContainsFunc(c.got.Findings, func(f report.Finding) bool { return f.Rule == r.ID }) {
				return ""
			}
		}
		return "wrong rule for " + c.kinds[0]
	}
	return "no rule is expected for " + c.kinds[0]
}

// controlSuite is the state of one test of positive controls.
type controlSuite struct {
	seed    uint64
	fakes   map[string]*toolchain.Toolchain // by release
	dirs    map[string]string
	real    map[string]*toolchain.Toolchain
	oracle  *oracle
	corpus  []*litmus.Test
	tests   []*litmus.Test // of the target at hand
	skipped map[string]int
	used    map[string]int // injections by kind
}

func newControlSuite(t *testing.T) *controlSuite {
	s := &controlSuite{seed: 1, fakes: map[string]*toolchain.Toolchain{}, dirs: map[string]string{}, real: map[string]*toolchain.Toolchain{},
		oracle: &oracle{models: map[string]*model.Model{}, known: map[string][]string{}}, skipped: map[string]int{}, used: map[string]int{}}
	if v := os.Getenv("OPTCHECK_CONTROLS_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		require.NoError(t, err)
		s.seed = n
	}
	built := ""
	for _, tc := range releases(t) {
		dir := t.TempDir()
		if built == "" {
			require.NoError(t, fakeptxas.Build(dir, tc.Nvdisasm, tc.Cuobjdump))
			built = dir
		} else {
			require.NoError(t, fakeptxas.Copy(dir, built, tc.Nvdisasm, tc.Cuobjdump))
		}
		require.NoError(t, (&fakeptxas.Config{Real: tc.Ptxas}).Write(dir))
		found, errs := toolchain.Discover(t.Context(), toolchain.Options{Cache: "off", Env: func(key string) string {
			return map[string]string{"OPTCHECK_TOOLCHAIN_DIRS": dir}[key]
		}})
		require.Empty(t, errs)
		require.Len(t, found, 1)
		require.Equal(t, tc.ID, found[0].ID, "the fake says that it is the real one")
		s.real[tc.Release()], s.fakes[tc.Release()], s.dirs[tc.Release()] = tc, found[0], dir
	}
	for _, x := range corpus.Tests() {
		s.corpus = append(s.corpus, observed(x))
	}
	return s
}

// choose takes the tests of a target: all, or a third, another one for each
// target.
func (s *controlSuite) choose(number int) {
	s.tests = nil
	for i, x := range s.corpus {
		if full() || (i+number)%3 == 0 {
			s.tests = append(s.tests, x)
		}
	}
}

// plan chooses an injection, or none, for every distinct kernel of a target.
// Tests share kernels: a kernel's injection is one of all tests that have it.
func (s *controlSuite) plan(t *testing.T, target string, round int) (edits map[string][]fakeptxas.Edit, of map[kernelAt]injection) {
	t.Helper()
	sm, err := ptxgen.SM(target)
	require.NoError(t, err)
	o := Options{Tests: s.tests, Layouts: spec.Layouts}
	em := &emission{}
	em.fill(&o, target, false, ptxgen.Emit)
	require.NoError(t, em.err)
	rng := rand.New(rand.NewPCG(s.seed, uint64(sm)<<8|uint64(round)))
	chosen := map[int]injection{}
	edits, of = map[string][]fakeptxas.Edit{}, map[kernelAt]injection{}
	for cell, kernels := range em.of {
		test, layout := s.tests[cell/len(o.Layouts)], o.Layouts[cell%len(o.Layouts)]
		for thread, k := range kernels {
			j, ok := chosen[k]
			if !ok {
				if list := injections(test, thread, sm, layout); len(list) > 0 && rng.IntN(100) < 45 {
					j = s.pick(rng, list)
					edits[em.kernels[k].name] = []fakeptxas.Edit{j.edit}
				}
				chosen[k] = j
			}
			if j.apply != nil {
				of[kernelAt{target, "", layout.String(), test.Name, thread}] = j
			}
		}
	}
	return edits, of
}

// pick chooses the kind that was chosen least often so far, then one injection
// of that kind.
func (s *controlSuite) pick(rng *rand.Rand, list []injection) injection {
	least := slices.MinFunc(list, func(a, b injection) int {
		return cmp.Or(cmp.Compare(s.used[a.kind], s.used[b.kind]), cmp.Compare(a.kind, b.kind))
	}).kind
	s.used[least]++
	list = slices.DeleteFunc(slices.Clone(list), func(j injection) bool { return j.kind != least })
	return list[rng.IntN(len(list))]
}

// target runs the controls of one target.
func (s *controlSuite) target(t *testing.T, target, release string, round int) []control {
	t.Helper()
	edits, of := s.plan(t, target, round)
	levels := []string{"O0", "O3"}
	base := runControls(t, s.real[release], target, s.tests, levels, spec.Layouts)
	require.NoError(t, (&fakeptxas.Config{Real: s.real[release].Ptxas, Edits: map[string]map[string][]fakeptxas.Edit{target: edits}}).Write(s.dirs[release]))
	got := runControls(t, s.fakes[release], target, s.tests, levels, spec.Layouts)
	var out []control
	for _, level := range levels {
		for _, layout := range spec.Layouts {
			for _, x := range s.tests {
				if c := s.control(t, x, kernelAt{target, level, layout.String(), x.Name, 0}, of, base, got); c != nil {
					out = append(out, *c)
				}
			}
		}
	}
	return s.complete(t, out, target, release)
}

// control makes the control of one cell, or nil if nothing was injected that
// shows in its code.
func (s *controlSuite) control(t *testing.T, x *litmus.Test, at kernelAt, of map[kernelAt]injection, base, got *controlRun) *control {
	cell := got.cells[at]
	if cell == nil || base.cells[at].Class != report.Preserved {
		return nil // unsupported, or the compiler changed it by itself
	}
	c := &control{at: at, got: cell, changed: x.Clone(), strength: true}
	other := x.Clone()
	for thread := range x.Threads {
		key := at
		key.thread = thread
		if base.codes[key] == got.codes[key] {
			continue // nothing injected, or the compiler undid it, or the machine has one word for both
		}
		in := at
		in.level, in.thread = "", thread
		j := of[in]
		require.NotNil(t, j.apply, "%+v changed without an injection", key)
		if j.edit.Op == fakeptxas.Respell && !strings.HasPrefix(j.kind, "retarget") && base.words[key] == got.words[key] {
			continue // only the schedule differs
		}
		c.kinds = append(c.kinds, j.kind)
		c.strength = c.strength && j.strengthens
		j.apply(&c.changed.Threads[thread])
		if j.also != nil {
			j.also(&other.Threads[thread])
		} else {
			j.apply(&other.Threads[thread])
		}
	}
	if len(c.kinds) == 0 {
		return nil
	}
	if err := c.changed.Check(); err != nil {
		s.skipped["no legal litmus test"]++
		return nil
	}
	var err error
	if c.legal, err = s.oracle.legal(t.Context(), at.target, x, c.changed); err != nil {
		s.skipped["oracle: "+err.Error()]++
		return nil
	}
	also, err := s.oracle.legal(t.Context(), at.target, x, other)
	require.NoError(t, err)
	if also != c.legal {
		s.skipped["depends on how an instruction is read"]++
		return nil
	}
	if c.legal && !c.strength && at.level != "O0" && cell.Class == report.Preserved {
		// Registers or schedules differ, the accesses are in the test's order again.
		s.skipped["undone by the compiler"]++
		return nil
	}
	return c
}

// complete keeps the controls whose label speaks of all that happened: above O0
// the changed test, compiled honestly, must be preserved.
func (s *controlSuite) complete(t *testing.T, all []control, target, release string) []control {
	t.Helper()
	keep := map[int]bool{}
	for _, layout := range spec.Layouts {
		var tests []*litmus.Test
		var of []int
		for i := range all {
			if all[i].at.layout != layout.String() || all[i].at.level == "O0" {
				keep[i] = all[i].at.level == "O0" || keep[i]
				continue
			}
			all[i].changed.Name += fmt.Sprintf(" %d", i)
			tests, of = append(tests, all[i].changed), append(of, i)
		}
		if len(tests) == 0 {
			continue
		}
		run := report.NewRun()
		require.NoError(t, Run(t.Context(), Options{Tests: tests, Toolchains: []*toolchain.Toolchain{s.real[release]}, Targets: []string{target},
			Levels: []string{"O3"}, Layouts: []spec.Layout{layout}, NoVerdict: true}, run))
		require.Len(t, run.Cells, len(tests))
		for k := range run.Cells {
			keep[of[k]] = run.Cells[k].Class == report.Preserved
		}
	}
	var out []control
	for i := range all {
		if keep[i] {
			out = append(out, all[i])
		} else {
			s.skipped["the compiler changed more"]++
		}
	}
	return out
}

// TestControlOracle: labels that follow from the paper and the vendor's model by
// hand.
func TestControlOracle(t *testing.T) {
	o := &oracle{models: map[string]*model.Model{}, known: map[string][]string{}}
	for _, c := range []struct {
		test, target string
		thread       int
		kind         string
		legal        bool
	}{
		{"mp+membar.gls", "sm_50", 1, "drop fence", false},
		{"mp+fence.sc.gpus", "sm_80", 0, "narrow fence", false},
		{"sb+fence.sc.gpus", "sm_80", 0, "fence.sc to fence.acq_rel", false},
		{"mp+fence.sc.gpus", "sm_80", 0, "fence.sc to fence.acq_rel", true},
		{"mp+release.gpu+acquire.gpu", "sm_80", 1, "weaken load", false},
		{"mp", "sm_80", 1, "move load over load", true},
		{"coRR", "sm_50", 1, "merge weak loads", true},
		{"lb+datas", "sm_50", 0, "cut dependency", false},
		{"mp", "sm_80", 0, "add fence", true},
		{"mp+bar.syncs", "sm_80", 1, "move load over barrier", false},
	} {
		x, ok := corpus.Lookup(c.test)
		require.True(t, ok, c.test)
		x = observed(x)
		sm, err := ptxgen.SM(c.target)
		require.NoError(t, err)
		n := 0
		for _, j := range injections(x, c.thread, sm, spec.Pointers) {
			if j.kind != c.kind {
				continue
			}
			y := x.Clone()
			j.apply(&y.Threads[c.thread])
			require.NoError(t, y.Check())
			legal, err := o.legal(t.Context(), c.target, x, y)
			require.NoError(t, err)
			require.Equal(t, c.legal, legal, "%s: %s\n%s", c.test, c.kind, y)
			n++
		}
		require.Positive(t, n, "%s: %s", c.test, c.kind)
	}
}

// tally counts controls of one kind.
type tally struct{ legal, legalRight, illegal, illegalRight int }

// TestControls: a compiler that does wrong things is found out, and one that
// does unusual but legal things is not accused. The labels come from an oracle:
// the model's answer about the litmus test with the same change.
func TestControls(t *testing.T) {
	s := newControlSuite(t)
	t.Logf("seed %d (OPTCHECK_CONTROLS_SEED)", s.seed)
	rounds := 1
	if full() {
		rounds = 3
	}
	kinds, targets := map[string]*tally{}, map[string]int{}
	total := &tally{}
	var wrong []string
	for round := range rounds {
		for i, x := range controlTargets {
			if s.real[x.release] == nil {
				continue
			}
			s.choose(i + round)
			for _, c := range s.target(t, x.target, x.release, round) {
				right := slices.Contains(c.want(), c.got.Class)
				targets[c.at.target]++
				for _, k := range append([]string{""}, c.kinds...) {
					n := kinds[k]
					if n == nil {
						n = &tally{}
						kinds[k] = n
					}
					n.count(c.legal, right)
				}
				total.count(c.legal, right)
				if !right {
					wrong = append(wrong, c.String())
				}
				if r := c.wrongRule(); r != "" {
					wrong = append(wrong, r+"\n"+c.String())
				}
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-40s %15s %15s\n", "injection", "illegal found", "legal accepted")
	for _, k := range sortedKeys(kinds) {
		n := kinds[k]
		fmt.Fprintf(&b, "%-40s %7d of %4d %7d of %4d\n", cmp.Or(k, "all"), n.illegalRight, n.illegal, n.legalRight, n.legal)
	}
	injected := 0
	for k, n := range s.used {
		injected += n
		if kinds[k] == nil {
			t.Logf("no control has the injection %q, which was made %d times", k, n)
		}
	}
	t.Logf("%d kernels injected; %d controls, by target %v\n%snot counted: %v", injected, total.legal+total.illegal, targets, b.String(), s.skipped)
	for i, w := range wrong {
		if i < 40 {
			t.Error(w)
		}
	}
	if dir := os.Getenv("OPTCHECK_CONTROLS_OUT"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "controls.txt"), []byte(b.String()+strings.Join(wrong, "\n")), 0o600))
	}
	require.Empty(t, wrong, "%d of %d controls", len(wrong), total.legal+total.illegal)
	require.GreaterOrEqual(t, total.legal+total.illegal, 200)
	require.GreaterOrEqual(t, len(kinds)-1, 40, "kinds of injections")
	require.GreaterOrEqual(t, total.illegal, 100)
	require.GreaterOrEqual(t, total.legal, 50)
}

func (n *tally) count(legal, right bool) {
	one := 0
	if right {
		one = 1
	}
	if legal {
		n.legal++
		n.legalRight += one
	} else {
		n.illegal++
		n.illegalRight += one
	}
}

// String says what the oracle and the pipeline disagree on.
func (c *control) String() string {
	var b strings.Builder
	label := "illegal"
	if c.legal {
		label = "legal"
	}
	fmt.Fprintf(&b, "%s %s %s %s: %s (%s) is called %s %s", c.at.test, c.at.target, c.at.level, c.at.layout, strings.Join(c.kinds, " and "), label, c.got.Class, c.got.Reason)
	for _, f := range c.got.Findings {
		fmt.Fprintf(&b, "\n  T%d #%d %s: %s", f.Thread, f.Access, f.Rule, f.Detail)
	}
	if v := c.got.Verdict; v != nil {
		fmt.Fprintf(&b, "\n  new %v\n%s", v.New, v.Lifted)
	}
	fmt.Fprintf(&b, "\nthe oracle judged\n%s", c.changed)
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
