// Command sample draws mutants of a package's files and says which of them its tests do not notice:
//
//	go run ./internal/mutants/sample -n 40 -seed 7 ./known
//	go run ./internal/mutants/sample -tests . -tests './audit:TestGolden|TestEdited' ./optcheck
//
// It is for whoever writes tests; no test runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/mutants"
)

func main() {
	n := flag.Int("n", 40, "how many mutants that compile")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "which ones")
	var tests []string
	flag.Func("tests", "`tests` as go test -run takes them, with FOLDER: in front of those of another package; each flag is for mutants that pass the one before (.)",
		func(s string) error { tests = append(tests, s); return nil })
	limit := flag.Duration("limit", time.Minute, "how long the tests of one flag may take")
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
	list, err := all(dir, only)
	if err != nil {
		return err
	}
	if limit, err = baseline(ctx, list[0].Path, limit, suites); err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(list))
	done, noticed := 0, 0
	for _, i := range order {
		if m := &list[i]; done < n && strings.Contains(m.Name, name) {
			ok, built, err := passes(ctx, m, limit, suites)
			if err != nil {
				return err
			}
			if built {
				done++
			}
			switch {
			case ok:
				fmt.Printf("nobody notices %s: %s\n", filepath.Base(m.Path), m.Name)
			case built:
				noticed++
			}
		}
	}
	fmt.Printf("%s: seed %d, %d of %d sampled mutants noticed, of %d\n", filepath.Base(dir), seed, noticed, done, len(list))
	return nil
}

// all lists the mutants of a folder's files, without those of tests.
func all(dir, only string) (list []mutants.Mutant, err error) {
	for _, f := range input.Glob(dir, only) {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		more, err := mutants.Of(f)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// baseline makes sure that the tests pass with the code as it is, and have four times the time that they take.
func baseline(ctx context.Context, path string, limit time.Duration, suites []mutants.Tests) (time.Duration, error) {
	m, err := mutants.Unchanged(path)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	ok, built, err := passes(ctx, &m, limit, suites)
	if err == nil && !ok {
		err = fmt.Errorf("the tests do not pass with the code as it is (built: %v)", built)
	}
	return max(limit, 4*time.Since(start)), err
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

func passes(ctx context.Context, m *mutants.Mutant, limit time.Duration, suites []mutants.Tests) (ok, built bool, err error) {
	tmp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return false, false, err
	}
	defer os.RemoveAll(tmp)
	return m.Passes(ctx, tmp, limit, suites...)
}
