// Package mutants changes Go code on purpose and checks whether its tests notice: it measures
// the tests of code that judges. It is for tests and needs the go command.
package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/input"
)

// Mutant is one change of one file.
type Mutant struct {
	Path string // the file that is changed
	// Name says where and what, without line numbers: "ready: a && b → a".
	Name string
	id   int // from 1
}

// Package is a package with all its mutants in one binary: a variable of the environment says which of them is alive, so
// that a thousand mutants are compiled once.
type Package struct {
	Mutants []Mutant
	tmp     string
	overlay string
	bins    map[string]string       // the test binary of each folder
	differs map[Tests]map[int]bool  // mutants that are somewhere not what the code is, where tests have run with the code
	limits  map[Tests]time.Duration // of tests that have been timed
}

// variable says which mutant a test binary is, and noted, with the code as it is, the file where it writes the mutants that
// would differ from it. chosen is what the changed files ask.
const (
	variable, noted = "OPTCHECK_MUTANT", "OPTCHECK_MUTANTS_NOTED"
	chosen          = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

var (
	mutantNumber, _ = strconv.Atoi(os.Getenv(%q))
	mutantsNoted, _ = os.OpenFile(os.Getenv(%q), os.O_APPEND|os.O_WRONLY, 0)
	mutantsSeen     [%d]sync.Once
)

func init() { // what others have noted is not noted again
	text, _ := os.ReadFile(os.Getenv(%[3]q))
	for _, line := range strings.Fields(string(text)) {
		n, _ := strconv.Atoi(line)
		mutantsSeen[n].Do(func() {})
	}
}

func noteMutant(n int) {
	if mutantsNoted != nil {
		mutantsSeen[n].Do(func() { fmt.Fprintln(mutantsNoted, n) })
	}
}

// isMutant reports whether a mutant is alive.
func isMutant(n int) bool {
	noteMutant(n)
	return n == mutantNumber
}

// ofMutant is a condition, or what a mutant makes of it.
func ofMutant(n int, becomes, is bool) bool {
	if is == becomes {
		return is
	}
	noteMutant(n)
	return is != (n == mutantNumber)
}
`
)

// Sources are the files of a folder that match a pattern, without those of tests.
func Sources(dir, pattern string) []string {
	return slices.DeleteFunc(input.Glob(dir, pattern), func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

// New returns the mutants of the Go files of one package. What is built lies in tmp.
func New(tmp string, files ...string) (*Package, error) {
	p := &Package{tmp: tmp, overlay: filepath.Join(tmp, "overlay.json"), bins: map[string]string{}, differs: map[Tests]map[int]bool{}, limits: map[Tests]time.Duration{}}
	replaced, name := map[string]string{}, ""
	for i, path := range files {
		src, err := input.ReadFile(path, 16<<20)
		if err != nil {
			return nil, err
		}
		m := &mutator{src: src, first: len(p.Mutants) + 1, before: map[int]string{}, after: map[int]string{}, seen: map[string]int{}}
		if name, err = m.file(path); err != nil {
			return nil, err
		}
		for j, what := range m.names {
			p.Mutants = append(p.Mutants, Mutant{path, what, m.first + j})
		}
		if err := p.put(replaced, path, fmt.Sprintf("%d.go", i), m.changed()); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return p, errors.New("no files to change")
	}
	if err := p.put(replaced, filepath.Join(filepath.Dir(files[0]), "mutant_number.go"), "number.go", fmt.Appendf(nil, chosen, name, variable, noted, len(p.Mutants)+1)); err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	return p, input.WriteFile(p.overlay, data)
}

// put writes a file that stands for another.
func (p *Package) put(replaced map[string]string, path, name string, text []byte) error {
	replaced[path] = filepath.Join(p.tmp, name)
	return input.WriteFile(replaced[path], text)
}

// Tests are tests of a package: its folder, and what go test -run takes.
type Tests struct{ Dir, Run string }

// Passes reports whether the tests pass with a mutant, or with the code as it is (nil). It goes on only while they pass, so
// the fast ones come first. A test binary that takes longer than the limit has noticed something. Tests that have passed with
// the code as it is are not run with mutants that were never asked for then, or made nothing else of a condition.
func (p *Package) Passes(ctx context.Context, m *Mutant, limit time.Duration, tests ...Tests) (bool, error) {
	id, notes := 0, filepath.Join(p.tmp, "noted")
	if m != nil {
		id = m.id
	}
	for _, s := range tests {
		if p.differs[s] != nil && m != nil && !p.Differs(m, s) {
			continue
		}
		bin, err := p.build(ctx, s.Dir)
		if err != nil {
			return false, err
		}
		most := limit
		if l := p.limits[s]; l > 0 && m != nil {
			most = min(l, limit)
		}
		run := exec.CommandContext(ctx, bin, "-test.run", s.Run, "-test.failfast", "-test.timeout", most.String())
		run.Dir, run.WaitDelay, run.Env = s.Dir, time.Second, append(os.Environ(), variable+"="+strconv.Itoa(id))
		if id == 0 {
			if err := input.WriteFile(notes, nil); err != nil {
				return false, err
			}
			run.Env = append(run.Env, noted+"="+notes)
		}
		if run.Run() != nil {
			return false, ctx.Err()
		}
		if id == 0 {
			text, err := input.ReadFile(notes, 16<<20)
			if err != nil {
				return false, err
			}
			p.differs[s] = map[int]bool{}
			for _, n := range strings.Fields(string(text)) {
				i, _ := strconv.Atoi(n)
				p.differs[s][i] = true
			}
		}
	}
	return true, ctx.Err()
}

// Each returns each test of some by itself, those first that take least, after it has run them with the code as it is. Then a
// mutant meets only the tests that ask for it, and each has four times the time that it took.
func (p *Package) Each(ctx context.Context, limit time.Duration, tests ...Tests) (each []Tests, err error) {
	took := map[Tests]time.Duration{}
	for _, s := range tests {
		bin, err := p.build(ctx, s.Dir)
		if err != nil {
			return nil, err
		}
		list := exec.CommandContext(ctx, bin, "-test.list", s.Run)
		list.Dir = s.Dir
		out, err := list.Output()
		if err != nil {
			return nil, err
		}
		for _, name := range strings.Fields(string(out)) {
			one, start := Tests{s.Dir, "^" + name + "$"}, time.Now()
			if ok, err := p.Passes(ctx, nil, limit, one); err != nil || !ok {
				return nil, errors.Join(fmt.Errorf("%s does not pass with the code as it is", name), err)
			}
			took[one] = time.Since(start)
			p.limits[one] = max(10*time.Second, 4*took[one])
			each = append(each, one)
		}
	}
	slices.SortStableFunc(each, func(a, b Tests) int { return int(took[a] - took[b]) })
	return each, nil
}

// Differs reports whether a mutant was anywhere not what the code is, when tests passed with the code as it is.
func (p *Package) Differs(m *Mutant, tests ...Tests) bool {
	return slices.ContainsFunc(tests, func(s Tests) bool { return p.differs[s][m.id] })
}

// build builds the test binary of a folder once.
func (p *Package) build(ctx context.Context, dir string) (string, error) {
	if bin := p.bins[dir]; bin != "" {
		return bin, nil
	}
	bin := filepath.Join(p.tmp, fmt.Sprintf("test%d", len(p.bins)))
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", p.overlay, "-o", bin, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the mutants do not compile: %w: %s", err, bytes.TrimSpace(out))
	}
	p.bins[dir] = bin
	return bin, nil
}

// Score tests each mutant of the files with the tests of their package (go test -run tests) and
// logs the score. It fails for each mutant that passes and has no entry in equal, which says by
// name why a mutant is not worse, and for entries of mutants that are noticed or do not exist.
func Score(t *testing.T, tests string, equal map[string]string, files ...string) {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for i := range files {
		files[i] = filepath.Join(dir, files[i])
	}
	p, err := New(t.TempDir(), files...)
	require.NoError(t, err)
	noticed, passed := 0, map[string]bool{}
	for i := range p.Mutants {
		m := &p.Mutants[i]
		ok, err := p.Passes(t.Context(), m, time.Minute, Tests{dir, tests})
		require.NoError(t, err)
		if !ok {
			noticed++
			continue
		}
		passed[m.Name] = true
		if equal[m.Name] == "" {
			t.Errorf("nobody notices %s: %s", filepath.Base(m.Path), m.Name)
		}
	}
	var idle []string
	for name := range equal {
		if !passed[name] {
			idle = append(idle, name)
		}
	}
	require.Empty(t, idle, "noticed, or no mutants: %s", strings.Join(idle, ", "))
	t.Logf("%d mutants: %d noticed, %d as good as the code", len(p.Mutants), noticed, len(passed))
}
