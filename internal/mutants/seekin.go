package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"optcheck/internal/input"
)

// seekVariable tells a test binary how to seek; the two files are what a package gets for that.
const (
	seekVariable = "OPTCHECK_SEEK"
	seekNumber   = `package %s

import "time"

var (
	mutantNumber, mutantsAsked int
	mutantsSeen                [%d]bool
	mutantUntil                int64
)

// isMutant reports whether a mutant is alive.
func isMutant(n int) bool {
	if mutantsAsked++; mutantsAsked%%10000 == 0 && mutantUntil != 0 && time.Now().UnixNano() > mutantUntil {
		panic("a mutant takes too long")
	}
	mutantsSeen[n] = true
	return n == mutantNumber
}

// ofMutant is a condition, or what a mutant makes of it.
func ofMutant(n int, becomes, is bool) bool {
	if is == becomes {
		return is
	}
	return is != isMutant(n)
}
`
	seekTest = `package %s

import (
	"encoding/json"
	"os"
	"testing"

	tries "optcheck/internal/mutants"
)

func TestSeekMutants(t *testing.T) {
	var o tries.Seeking
	if err := json.Unmarshal([]byte(os.Getenv(%q)), &o); err != nil {
		t.Fatal(err)
	}
	sought(t).Seek(t, &tries.Alive{Number: &mutantNumber, Seen: mutantsSeen[:], Until: &mutantUntil}, o)
}
`
)

// Seek seeks tries of the package in dir, and writes those that notice a mutant to o.File, with what the package's TestSought -update
// says of them. It returns how many mutants these notice.
func (p *Package) Seek(ctx context.Context, dir, name string, o Seeking) (noticed int, err error) {
	var overlay struct{ Replace map[string]string }
	text, err := input.ReadFile(p.overlay, 16<<20)
	if err != nil {
		return 0, err
	}
	err = errors.Join(json.Unmarshal(text, &overlay),
		p.put(overlay.Replace, filepath.Join(dir, "mutant_number.go"), "number.go", fmt.Appendf(nil, seekNumber, name, len(p.Mutants)+1)),
		p.put(overlay.Replace, filepath.Join(dir, "seek_mutants_test.go"), "seek_test.go", fmt.Appendf(nil, seekTest, name, seekVariable)))
	if err != nil {
		return 0, err
	}
	if text, err = json.Marshal(overlay); err != nil {
		return 0, err
	}
	if err := input.WriteFile(p.overlay, text); err != nil {
		return 0, err
	}
	bin, err := p.build(ctx, dir)
	if err != nil {
		return 0, err
	}
	if o.State = filepath.Join(p.tmp, "state"); o.Log == "" {
		o.Log = filepath.Join(p.tmp, "log")
	}
	if text, err = json.Marshal(o); err != nil {
		return 0, err
	}
	for { // a mutant may end the process
		run := exec.CommandContext(ctx, bin, "-test.run", "^TestSeekMutants$", "-test.timeout", "0")
		run.Dir, run.Env, run.WaitDelay = dir, append(os.Environ(), seekVariable+"="+string(text)), time.Second
		out, failed := run.CombinedOutput()
		log, err := input.ReadFile(o.Log, 64<<20)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil:
			return 0, fmt.Errorf("%w: %.2000s", err, out)
		case failed == nil:
			if noticed, err = keep(o.File, string(log)); err != nil {
				return 0, err
			}
			update := exec.CommandContext(ctx, "go", "test", ".", "-run", "^TestSought$", "-update")
			update.Dir = dir
			if out, err := update.CombinedOutput(); err != nil {
				return 0, fmt.Errorf("%w: %.2000s", err, out)
			}
			return noticed, nil
		case strings.Contains(string(out), "seek.go:") && strings.Contains(string(out), "Error Trace"):
			return 0, fmt.Errorf("%.2000s", out)
		}
	}
}

// keep writes the tries of a log that notice something, and returns how many mutants they notice.
func keep(file, log string) (noticed int, err error) {
	var list []Try
	for line := range strings.Lines(log) {
		var n int
		var y Try
		if _, err := fmt.Sscanf(line, "kill %d %d %d %d", &n, &y.Cell, &y.Kernel, &y.Seed); err == nil {
			noticed++
			if !slices.Contains(list, y) {
				list = append(list, y)
			}
		}
	}
	slices.SortFunc(list, func(a, b Try) int {
		return strings.Compare(fmt.Sprintf("%8d%8d%20d", a.Cell, a.Kernel, a.Seed), fmt.Sprintf("%8d%8d%20d", b.Cell, b.Kernel, b.Seed))
	})
	var out strings.Builder
	for _, y := range list {
		fmt.Fprintln(&out, y.Cell, y.Kernel, y.Seed, 0)
	}
	return noticed, input.WriteFile(file, []byte(out.String()))
}
