package realcode

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"optcheck/ptx"
	"optcheck/target"
	"optcheck/toolchain"
)

// setting is a number of the environment.
func setting(name string, or int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return or
}

// largest is how many operations a kernel of real files has at most that is changed again
// and again.
const largest = 800

// plan is what is changed: which files, by which releases, and how they choose.
type plan struct {
	real     bool
	files    []string
	releases []*toolchain.Toolchain
	seed     int
	tally    *tally
}

// ownFiles are kernels of our own that are changed.
var ownFiles = []string{"testdata/patterns.ptx", "testdata/async.ptx", "testdata/cluster.ptx", "testdata/matrices.ptx"}

// oldest is the way to compile a module for the oldest machine that it is for, of those that are looked at.
func oldest(tc *toolchain.Toolchain, m *ptx.Module) way {
	gpu := "sm_80"
	if number(m.Target) > 80 {
		gpu = "sm_90"
	}
	if own, err := targetFor(tc, m, gpu); err == nil {
		gpu = own
	}
	return way{tc, gpu, "O3"}
}

// newPlan has the patterns, by some releases, or with OPTCHECK_REAL, a folder or a pattern, real files by
// those of OPTCHECK_RELEASES, or all. OPTCHECK_SEED chooses.
func newPlan(t *testing.T, names ...string) *plan {
	p := &plan{files: ownFiles, seed: setting("OPTCHECK_SEED", 1), tally: newTally()}
	if pattern := os.Getenv("OPTCHECK_REAL"); pattern != "" {
		if info, err := os.Stat(pattern); err == nil && info.IsDir() {
			pattern = filepath.Join(pattern, "*.ptx")
		}
		var err error
		p.files, err = filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, p.files)
		p.real, names = true, nil
	}
	if s := os.Getenv("OPTCHECK_RELEASES"); s != "" {
		names = strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	}
	p.releases = releases(t, names...)
	return p
}

// random is a source of choices that depends on the seed and a name alone.
func (p *plan) random(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(uint64(p.seed), h.Sum64()))
}

// each gives all files, the largest first, some at a time.
func (p *plan) each(t *testing.T, do func(m *ptx.Module)) {
	size := func(file string) int64 {
		info, err := os.Stat(file)
		require.NoError(t, err)
		return info.Size()
	}
	slices.SortStableFunc(p.files, func(a, b string) int { return cmp.Compare(size(b), size(a)) })
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, file := range p.files {
		group.Go(func() error { do(module(t, file)); return nil })
	}
	require.NoError(t, group.Wait())
}

// way is one way to compile a module.
type way struct {
	tc            *toolchain.Toolchain
	target, level string
}

func (w way) String() string { return strings.Join([]string{w.tc.ID, w.target, w.level}, " ") }

// ways are those of a module, in random order: O1 and O3, and O0 once in so many.
func (p *plan) ways(m *ptx.Module) (out []way) {
	r := p.random(m.File)
	for _, tc := range p.releases {
		for _, gpu := range Targets {
			levels := []string{"O1", "O3"}
			if r.IntN(8) == 0 {
				levels = append(levels, "O0")
			}
			for _, level := range levels {
				if target.Compare(strings.TrimRight(m.Target, "af"), gpu) <= 0 {
					out = append(out, way{tc, gpu, level})
				}
			}
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// small are the kernels of a module that are changed; of others the tally keeps the count.
func (p *plan) small(m *ptx.Module) (names []string) {
	for _, f := range m.Funcs {
		src, err := readSource(m, f)
		switch {
		case !f.Entry || err != nil || len(src.ops) == 0:
		case p.real && len(src.ops) > largest:
			p.tally.leave(fmt.Sprintf("%s: %s: %d operations", m.File, f.Name, len(src.ops)))
		default:
			names = append(names, f.Name)
		}
	}
	return names
}

// outcome is what became of a control.
type outcome int

const (
	missed outcome = iota
	caught
	undecided // the cell is unknown
)

// tally counts what became of controls, by two features.
type tally struct {
	sync.Mutex
	count  map[[2]string]*[3]int
	misses []string
	left   map[string]bool
}

func newTally() *tally { return &tally{count: map[[2]string]*[3]int{}, left: map[string]bool{}} }

func (s *tally) leave(what string) {
	s.Lock()
	defer s.Unlock()
	s.left[what] = true
}

func said(f Finding) string { return f.Kernel + f.at() + f.headline() }

// judge counts a control by what is said of it that was not said before.
func (s *tally) judge(kind string, w way, res *Result, before map[string]bool, format string, args ...any) {
	news := func(f Finding) bool { return !before[said(f)] }
	what := fmt.Sprintf(format, args...)
	if slices.ContainsFunc(res.Findings, news) {
		s.add(kind, w, caught, what)
	} else if i := slices.IndexFunc(res.Unknown, news); i >= 0 {
		s.add(kind, w, undecided, what+": "+res.Unknown[i].at()+res.Unknown[i].headline())
	} else {
		s.add(kind, w, missed, what)
	}
}

// add counts a control of a kind that was compiled in a way.
func (s *tally) add(kind string, w way, o outcome, what string) {
	s.Lock()
	defer s.Unlock()
	for _, row := range []string{kind, "~ at " + w.target + " " + w.level, "~ all"} {
		for _, column := range []string{w.tc.Release(), "~ all"} {
			key := [2]string{row, column}
			if s.count[key] == nil {
				s.count[key] = &[3]int{}
			}
			s.count[key][o]++
		}
	}
	if o != caught {
		s.misses = append(s.misses, []string{missed: "missed: ", undecided: "unknown: "}[o]+what)
	}
}

// table has a row for each kind, target and level, and a column for each release.
func (s *tally) table() string {
	rows, columns := map[string]bool{}, map[string]bool{}
	for key := range s.count {
		rows[key[0]], columns[key[1]] = true, true
	}
	var b strings.Builder
	line := func(row string, cell func(column string) string) {
		fmt.Fprintf(&b, "| %s |", strings.TrimPrefix(row, "~ "))
		for _, c := range slices.Sorted(maps.Keys(columns)) {
			fmt.Fprintf(&b, " %s |", cell(c))
		}
		b.WriteString("\n")
	}
	line("caught of all (unknown)", func(c string) string { return strings.TrimPrefix(c, "~ ") })
	line("---", func(string) string { return "---" })
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		line(row, func(c string) string {
			n := s.count[[2]string{row, c}]
			if n == nil {
				return ""
			}
			text := fmt.Sprintf("%d of %d", n[caught], n[missed]+n[caught]+n[undecided])
			if n[undecided] > 0 {
				text += fmt.Sprintf(" (%d)", n[undecided])
			}
			return text
		})
	}
	return b.String()
}

// report prints the table, and what was missed; at least 99 of 100 have to be noticed.
func (p *plan) report(t *testing.T, what string) {
	s := p.tally
	slices.Sort(s.misses)
	for _, m := range s.misses {
		t.Log(m)
	}
	for _, m := range slices.Sorted(maps.Keys(s.left)) {
		t.Logf("left out: %s", m)
	}
	n := s.count[[2]string{"~ all", "~ all"}]
	require.NotNil(t, n)
	sum := n[missed] + n[caught] + n[undecided]
	t.Logf("%s, seed %d, %d files, %d kernels left out: %d caught of %d (%.1f %%), %d unknown, %d missed\n%s", what, p.seed, len(p.files),
		len(s.left), n[caught], sum, 100*float64(n[caught])/float64(sum), n[undecided], n[missed], s.table())
	assert.LessOrEqual(t, 100*n[missed], sum)
}
