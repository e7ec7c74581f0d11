package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/toolchain"
)

// loadTests reads the tests that arguments name: the word corpus (or corpus-cl,
// for those in OpenCL C), a test of the
// corpus, a .litmus file, a folder of them, or - for standard input. A file
// that does not parse is an error that names all bad files.
func loadTests(env *environment, args []string) ([]*litmus.Test, error) {
	if len(args) == 0 {
		args = []string{"corpus"}
	}
	var tests []*litmus.Test
	var errs []error
	add := func(t *litmus.Test, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		tests = append(tests, t)
	}
	for _, a := range args {
		if a == "corpus" {
			tests = append(tests, corpus.Tests()...)
			continue
		}
		if a == "corpus-cl" {
			tests = append(tests, corpus.OpenCL()...)
			continue
		}
		if a == "-" {
			src, err := io.ReadAll(io.LimitReader(env.stdin, 8<<20))
			if err != nil {
				return nil, fmt.Errorf("standard input: %w", err)
			}
			add(litmus.Parse("<stdin>", src))
			continue
		}
		st, err := os.Stat(a)
		switch {
		case err == nil && st.IsDir():
			files, err := litmusFiles(a)
			if err != nil {
				return nil, err
			}
			if len(files) == 0 {
				errs = append(errs, fmt.Errorf("%s: no .litmus files", a))
			}
			parsed, failed := litmus.ParseFiles(files)
			for i := range files {
				add(parsed[i], failed[i])
			}
		case err == nil:
			add(litmus.ParseFile(a))
		default:
			if t, ok := corpus.Lookup(a); ok {
				add(t, nil)
				continue
			}
			errs = append(errs, fmt.Errorf("%s: no such file, folder, or test of the corpus", a))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return unique(tests)
}

// loadTestsFor is loadTests for the vendor whose compilers are asked: for AMD,
// the word corpus, or no argument, means the tests in OpenCL C.
func loadTestsFor(env *environment, args []string) ([]*litmus.Test, error) {
	if env.config.v.GetString("vendor") != toolchain.AMD {
		return loadTests(env, args)
	}
	if len(args) == 0 {
		args = []string{"corpus"}
	}
	for i, a := range args {
		if a == "corpus" {
			args = slices.Clone(args)
			args[i] = "corpus-cl"
		}
	}
	return loadTests(env, args)
}

// litmusFiles lists the .litmus files below a folder, sorted.
func litmusFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".litmus") {
			files = append(files, path)
		}
		return err
	})
	sort.Strings(files)
	return files, err
}

// unique drops tests given twice and refuses different tests of one name.
func unique(tests []*litmus.Test) ([]*litmus.Test, error) {
	seen := map[string]string{}
	var out []*litmus.Test
	for _, t := range tests {
		h := t.Hash()
		if old, ok := seen[t.Name]; ok {
			if old != h {
				return nil, fmt.Errorf("two different tests have the name %s", t.Name)
			}
			continue
		}
		seen[t.Name] = h
		out = append(out, t)
	}
	return out, nil
}

// checkTests refuses tests that are not sane.
func checkTests(tests []*litmus.Test) error {
	var errs []error
	for _, t := range tests {
		if err := t.Check(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func newTestsCmd(env *environment) *cobra.Command {
	var asJSON, show bool
	cmd := &cobra.Command{
		Use:   "tests [TEST|DIR|corpus…]",
		Short: "List, check or print litmus tests (default: the corpus)",
		Long: `List litmus tests with their hashes after checking them; --print prints them in
their own dialect. Without arguments, the corpus: the tests of the founding paper
and the same shapes in present-day PTX. corpus-cl is the corpus in OpenCL C.`,
		RunE: func(_ *cobra.Command, args []string) error {
			tests, err := loadTests(env, args)
			if err != nil {
				return err
			}
			if err := checkTests(tests); err != nil {
				return err
			}
			enc := json.NewEncoder(env.stdout)
			for _, t := range tests {
				switch {
				case asJSON:
					if err := enc.Encode(map[string]any{"name": t.Name, "hash": t.Hash(), "threads": len(t.Threads),
						"dialect": t.Dialect.String(), "condition": t.Cond.String()}); err != nil {
						return err
					}
				case show:
					fmt.Fprintln(env.stdout, t.String())
				default:
					fmt.Fprintf(env.stdout, "%s  %s  %s\n", t.Hash(), t.Name, t.Cond)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	cmd.Flags().BoolVar(&show, "print", false, "print the tests themselves")
	return cmd
}
