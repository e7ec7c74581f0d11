package audit

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/fakeptxas"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/mapping"
	"optcheck/model"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// kernelAt names a kernel of a run: a thread of a cell.
type kernelAt struct {
	target, level, layout, test string
	thread                      int
}

// controlRun is what an audit says of every cell, and the code of every kernel.
type controlRun struct {
	cells map[kernelAt]*event.Cell // thread 0
	codes map[kernelAt][16]byte
	words map[kernelAt]string // the memory-relevant instructions without registers
}

// runControls audits tests for one target and keeps what the comparison needs.
func runControls(t *testing.T, tc *toolchain.Toolchain, target string, tests []*litmus.Test, levels []string, layouts []spec.Layout, execute int) *controlRun {
	t.Helper()
	o := Options{Tests: tests, Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{target}, Levels: levels, Layouts: layouts, Execute: execute}
	r := &controlRun{cells: map[kernelAt]*event.Cell{}, codes: map[kernelAt][16]byte{}, words: map[kernelAt]string{}}
	var mu sync.Mutex
	run := visited(t, o, func(v kernelVisit) {
		mu.Lock()
		defer mu.Unlock()
		at := kernelAt{target, v.cell.Level, v.cell.Layout, v.cell.Test, v.kernel.Thread}
		r.codes[at] = optcheck.CodeHash(v.fn, v.check.Consts)
		var words []string
		for i := range v.fn.Insts {
			if text, ok := mapping.Shown(&v.fn.Insts[i]); ok {
				words = append(words, text)
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
		found, errs := tested.CUDA(t.Context(), toolchain.Options{Cache: "off", Env: func(key string) string {
			return map[string]string{"OPTCHECK_TOOLCHAIN_DIRS": dir}[key]
		}})
		require.Empty(t, errs)
		require.Len(t, found, 1)
		require.Equal(t, tc.ID, found[0].ID, "the fake says that it is the real one")
		s.real[tc.Release()], s.fakes[tc.Release()], s.dirs[tc.Release()] = tc, found[0], dir
	}
	for _, x := range corpus.Tests() {
		s.corpus = append(s.corpus, x.ObserveAll())
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
	em.fill(&o, job{road: ptxRoad(t), target: target, chunk: newChunk(s.tests, 0)}, false)
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
	base := runControls(t, s.real[release], target, s.tests, levels, spec.Layouts, 0)
	require.NoError(t, (&fakeptxas.Config{Real: s.real[release].Ptxas, Edits: map[string]map[string][]fakeptxas.Edit{target: edits}}).Write(s.dirs[release]))
	got := runControls(t, s.fakes[release], target, s.tests, levels, spec.Layouts, 0)
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
	if cell == nil || base.cells[at].Class != event.Preserved {
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
	if c.legal && !c.strength && at.level != "O0" && cell.Class == event.Preserved {
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
		run := event.NewRun()
		require.NoError(t, Run(t.Context(), Options{Tests: tests, Toolchains: []*toolchain.Toolchain{s.real[release]}, Targets: []string{target},
			Levels: []string{"O3"}, Layouts: []spec.Layout{layout}, NoVerdict: true}, run))
		require.Len(t, run.Cells, len(tests))
		for k := range run.Cells {
			keep[of[k]] = run.Cells[k].Class == event.Preserved
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
