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
	name := flag.String("mutant", "", "only mutants with this in their names")
	again := flag.String("again", "", "only mutants that `FILE`, what an earlier run printed, says nobody notices")
	idle := flag.Bool("idle", false, "name all mutants that the tests cannot notice: they are never asked for, or made nothing else of a condition")
	each := flag.Bool("each", false, "run each test by itself, those first that take least: a mutant meets only tests that ask for it")
	skip := flag.Int("skip", 0, "how many of them are left out: an earlier run has done them")
	flag.Parse()
	if len(tests) == 0 {
		tests = []string{"."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	wanted, err := choose(*name, *again)
	for _, dir := range flag.Args() {
		if err == nil {
			err = sample(ctx, dir, *only, wanted, tests, *n, *skip, *seed, *limit, *idle, *each)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "sample:", err)
			os.Exit(1)
		}
	}
}

const unnoticed = "nobody notices "

// choose returns which mutants are wanted: those with something in their names, and those that an earlier run says nobody notices.
func choose(name, again string) (func(string) bool, error) {
	if again == "" {
		return func(m string) bool { return strings.Contains(m, name) }, nil
	}
	text, err := input.ReadFile(again, 16<<20)
	left := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		left[strings.TrimSpace(strings.TrimPrefix(line, unnoticed))] = strings.HasPrefix(line, unnoticed)
	}
	return func(m string) bool { return strings.Contains(m, name) && left[m] }, err
}

func sample(ctx context.Context, dir, only string, wanted func(string) bool, tests []string, n, skip int, seed uint64, limit time.Duration, idle, each bool) error {
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
	p, err := mutants.New(tmp, mutants.Sources(dir, only)...)
	if err != nil {
		return err
	}
	if each {
		suites, err = p.Each(ctx, limit, suites...)
	} else {
		limit, err = baseline(ctx, p, limit, suites)
	}
	if err != nil {
		return err
	}
	done, noticed := 0, 0
	for i := range p.Mutants {
		if m := &p.Mutants[i]; idle && !p.Differs(m, suites...) {
			fmt.Println("idle", filepath.Base(m.Path)+": "+m.Name)
		}
	}
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(p.Mutants)) {
		m := &p.Mutants[i]
		full := filepath.Base(m.Path) + ": " + m.Name
		if done == n || !wanted(full) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		ok, err := p.Passes(ctx, m, limit, suites...)
		if err != nil { // interrupted: what there is counts
			break
		}
		done++
		if ok {
			fmt.Println(unnoticed + full)
		} else {
			noticed++
		}
	}
	fmt.Printf("%s: seed %d, %d of %d sampled mutants noticed, of %d\n", filepath.Base(dir), seed, noticed, done, len(p.Mutants))
	return nil
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
