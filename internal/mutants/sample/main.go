// Command sample draws mutants of a package's files and says which of them its tests do not notice:
//
//	go run ./internal/mutants/sample -n 40 -seed 7 ./known
//	go run ./internal/mutants/sample -tests . -tests './audit:TestGolden|TestEdited' ./optcheck
//
// It is for whoever writes tests; no test runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/mutants"
)

func main() {
	n := flag.Int("n", 40, "how many mutants")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "which ones")
	var tests []string
	flag.Func("tests", "`tests` as go test -run takes them, with FOLDER: in front of those of another package; each flag is for mutants that pass the one before (.)",
		func(s string) error { tests = append(tests, s); return nil })
	limit := flag.Duration("limit", 10*time.Minute, "how long the tests of one flag may take with the code as it is")
	only := flag.String("files", "*.go", "the files that are changed")
	name := flag.String("mutant", "", "only mutants with this in their names, all of them")
	flag.Parse()
	if len(tests) == 0 {
		tests = []string{"."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, dir := range flag.Args() {
		if err := sample(ctx, dir, *only, *name, tests, *n, *seed, *limit); err != nil {
			fmt.Fprintln(os.Stderr, "sample:", err)
			os.Exit(1)
		}
	}
}

func sample(ctx context.Context, dir, only, name string, tests []string, n int, seed uint64, limit time.Duration) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	suites, err := parse(dir, tests)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	p, err := mutants.New(tmp, sources(dir, only)...)
	if err != nil {
		return err
	}
	if limit, err = baseline(ctx, p, limit, suites); err != nil {
		return err
	}
	done, noticed := 0, 0
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(p.Mutants)) {
		m := &p.Mutants[i]
		if done == n || !strings.Contains(m.Name, name) {
			continue
		}
		ok, err := p.Passes(ctx, m, limit, suites...)
		if err != nil { // interrupted: what there is counts
			break
		}
		done++
		if ok {
			fmt.Printf("nobody notices %s: %s\n", filepath.Base(m.Path), m.Name)
		} else {
			noticed++
		}
	}
	fmt.Printf("%s: seed %d, %d of %d sampled mutants noticed, of %d\n", filepath.Base(dir), seed, noticed, done, len(p.Mutants))
	return nil
}

// sources are the files of a folder that match a pattern, without those of tests.
func sources(dir, only string) []string {
	return slices.DeleteFunc(input.Glob(dir, only), func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

// baseline makes sure that the tests pass with the code as it is, and have four times the time that they take.
func baseline(ctx context.Context, p *mutants.Package, limit time.Duration, suites []mutants.Tests) (time.Duration, error) {
	if _, err := p.Passes(ctx, nil, limit, suites...); err != nil { // builds
		return 0, err
	}
	start := time.Now()
	ok, err := p.Passes(ctx, nil, limit, suites...)
	if err == nil && !ok {
		err = errors.New("the tests do not pass with the code as it is")
	}
	return max(10*time.Second, 4*time.Since(start)), err
}

// parse reads tests of the package in dir or, behind a folder and a colon, of another.
func parse(dir string, tests []string) (suites []mutants.Tests, err error) {
	for _, s := range tests {
		t := mutants.Tests{Dir: dir, Run: s}
		if other, run, ok := strings.Cut(s, ":"); ok {
			t.Run = run
			if t.Dir, err = filepath.Abs(other); err != nil {
				return nil, err
			}
		}
		suites = append(suites, t)
	}
	return suites, nil
}
