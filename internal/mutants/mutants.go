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
	bins    map[string]string // the test binary of each folder
}

// variable says which mutant a test binary is; chosen is what the changed files ask.
const (
	variable = "OPTCHECK_MUTANT"
	chosen   = `package %s

import (
	"os"
	"strconv"
)

var mutantNumber, _ = strconv.Atoi(os.Getenv(%q))

func isMutant(n int) bool { return n == mutantNumber }
`
)

// New returns the mutants of the Go files of one package. What is built lies in tmp.
func New(tmp string, files ...string) (*Package, error) {
	p := &Package{tmp: tmp, overlay: filepath.Join(tmp, "overlay.json"), bins: map[string]string{}}
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
	if err := p.put(replaced, filepath.Join(filepath.Dir(files[0]), "mutant_number.go"), "number.go", fmt.Appendf(nil, chosen, name, variable)); err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	return p, os.WriteFile(p.overlay, data, 0o600)
}

// put writes a file that stands for another.
func (p *Package) put(replaced map[string]string, path, name string, text []byte) error {
	replaced[path] = filepath.Join(p.tmp, name)
	return os.WriteFile(replaced[path], text, 0o600)
}

// Tests are tests of a package: its folder, and what go test -run takes.
type Tests struct{ Dir, Run string }

// Passes reports whether the tests pass with a mutant, or with the code as it is (nil). It goes on only while they pass, so
// the fast ones come first. A test binary that takes longer than the limit has noticed something.
func (p *Package) Passes(ctx context.Context, m *Mutant, limit time.Duration, tests ...Tests) (bool, error) {
	id := 0
	if m != nil {
		id = m.id
	}
	for _, s := range tests {
		bin, err := p.build(ctx, s.Dir)
		if err != nil {
			return false, err
		}
		run := exec.CommandContext(ctx, bin, "-test.run", s.Run, "-test.failfast", "-test.timeout", limit.String())
		run.Dir, run.WaitDelay, run.Env = s.Dir, time.Second, append(os.Environ(), variable+"="+strconv.Itoa(id))
		if run.Run() != nil {
			return false, ctx.Err()
		}
	}
	return true, ctx.Err()
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
