// Command seek looks for inputs of which a package's mutants say something else, and writes them to testdata/sought.txt, with
// what is said of them:
//
//	go run ./internal/mutants/seek -for 5m -seed 31 ./optcheck
//
// It tries those of the file first and leaves out what notices nothing. It is for whoever writes tests; no test runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"optcheck/internal/mutants"
)

func main() {
	length := flag.Duration("for", 5*time.Minute, "how long it looks")
	seed := flag.Uint64("seed", 1, "which inputs it tries")
	most := flag.Duration("most", 10*time.Millisecond, "how long one input may take")
	log := flag.String("log", "", "`FILE` to note in what was found: a later run with the same code goes on behind it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, dir := range flag.Args() {
		if err := seek(ctx, dir, mutants.Seeking{Log: *log, Seed: *seed, End: time.Now().Add(*length), Most: *most}); err != nil {
			fmt.Fprintln(os.Stderr, "seek:", err)
			os.Exit(1)
		}
	}
}

func seek(ctx context.Context, dir string, o mutants.Seeking) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	p, err := mutants.New(tmp, mutants.Sources(dir, "*.go")...)
	if err != nil {
		return err
	}
	o.File = filepath.Join(dir, "testdata", "sought.txt")
	noticed, err := p.Seek(ctx, dir, filepath.Base(dir), o)
	if err != nil {
		return err
	}
	fmt.Printf("%s: seed %d, %d of %d mutants noticed\n", filepath.Base(dir), o.Seed, noticed, len(p.Mutants))
	return nil
}
