package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
)

// corpusName is the word that names the built-in tests, corpusCLName those in
// OpenCL C.
const corpusName, corpusCLName = "corpus", "corpus-cl"

// generatedName says where a test is from that was made from its name alone.
const generatedName = "by name"

// origin is where a test is from: a preset's name (corpus is one too) or a file.
type origin struct{ preset, file string }

// origin tells where a test is from.
func (env *environment) origin(t *litmus.Test) (preset, file string) {
	o := env.origins[t]
	return o.preset, o.file
}

// from notes where tests are from.
func (env *environment) from(o origin, tests ...*litmus.Test) []*litmus.Test {
	if env.origins == nil {
		env.origins = map[*litmus.Test]origin{}
	}
	for _, t := range tests {
		env.origins[t] = o
	}
	return tests
}

// loadTests reads the tests that arguments name; see eachTest.
func loadTests(env *environment, args []string) ([]*litmus.Test, error) {
	var tests []*litmus.Test
	err := eachTest(env, args, func(o origin, t *litmus.Test) error {
		tests = append(tests, env.from(o, t)...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return unique(env, tests)
}

// parsedAtOnce is the number of files that are read before their tests are
// passed on.
const parsedAtOnce = 512

// eachTest passes on the tests that arguments name: the word corpus (or corpus-cl,
// for those in OpenCL C), a test of the
// corpus, a .litmus file, a folder of them, or - for standard input. Files that
// do not parse are left out and named at the end of the command (environment.ended);
// it is an error if nothing else is there.
func eachTest(env *environment, args []string, yield func(origin, *litmus.Test) error) error {
	if len(args) == 0 {
		args = []string{"corpus"}
	}
	var wrong, refused []error // arguments, and files
	n := 0
	for _, a := range args {
		err := testsOf(env, a, func(o origin, t *litmus.Test, err error) error {
			switch {
			case err != nil && o.file != "":
				refused = append(refused, err)
				return nil
			case err != nil:
				wrong = append(wrong, err)
				return nil
			}
			n++
			return yield(o, t)
		})
		if err != nil {
			return err
		}
	}
	if n == 0 || len(wrong) > 0 {
		return errors.Join(append(wrong, refused...)...)
	}
	env.refused = append(env.refused, refused...)
	return nil
}

// testsOf passes on the tests that one argument names, and what is wrong with
// single ones.
func testsOf(env *environment, a string, add func(origin, *litmus.Test, error) error) error {
	switch a {
	case corpusName, corpusCLName:
		tests := corpus.Tests()
		if a == corpusCLName {
			tests = corpus.OpenCL()
		}
		for _, t := range tests {
			if err := add(origin{preset: corpusName}, t, nil); err != nil {
				return err
			}
		}
		return nil
	case "-":
		src, err := input.Read("standard input", env.stdin, litmus.MaxFileBytes)
		if err != nil {
			return err
		}
		t, err := litmus.Parse("<stdin>", src)
		return add(origin{}, t, err)
	}
	st, err := os.Stat(a)
	switch {
	case err == nil && st.IsDir():
		return testsIn(a, add)
	case err == nil:
		if err := expect(a, wantTest); err != nil {
			return add(origin{}, nil, err)
		}
		t, err := litmus.ParseFile(a)
		return add(origin{file: a}, t, err)
	}
	if t, ok := corpus.Lookup(a); ok {
		return add(origin{preset: corpusName}, t, nil)
	}
	if sp, err := cycle.ParseName(a); err == nil { // the name of a generated test says all of it
		return add(origin{preset: generatedName}, sp.Test(), nil)
	}
	if base, list, err := cycle.SplitName(a); err == nil && len(list) > 0 {
		if t, ok := corpus.Lookup(base); ok {
			t, err := cycle.Apply(t, list...)
			return add(origin{preset: generatedName}, t, err)
		}
	}
	return add(origin{}, nil, noSuchTest(a))
}

func isTest(file string) bool { return strings.HasSuffix(file, ".litmus") }

// testsIn passes on the tests of a folder.
func testsIn(dir string, add func(origin, *litmus.Test, error) error) error {
	files, _, err := filesIn(dir, isTest)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return add(origin{}, nil, fmt.Errorf("%s: no .litmus files", dir))
	}
	for some := range slices.Chunk(files, parsedAtOnce) {
		parsed, failed := litmus.ParseFiles(some)
		for i := range some {
			if err := add(origin{file: some[i]}, parsed[i], failed[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// noSuchTest is the error of a word that names no test.
func noSuchTest(word string) error {
	var names []string
	for _, t := range slices.Concat(corpus.Tests(), corpus.OpenCL()) {
		names = append(names, t.Name)
	}
	hint := ""
	if n := nearest(word, names); n != "" {
		hint = fmt.Sprintf("; did you mean %s?", n)
	}
	return fmt.Errorf("%s: no such file, folder, test of the corpus, or name of a generated test%s", plain.Line(word), hint)
}

// loadTestsFor is loadTests for the vendor whose compilers are asked.
func loadTestsFor(env *environment, args []string) ([]*litmus.Test, error) {
	return loadTests(env, argsFor(env, args))
}

// argsFor is what arguments mean for the vendor whose compilers are asked: for
// AMD, the word corpus, or no argument, means the tests in OpenCL C.
func argsFor(env *environment, args []string) []string {
	if !env.settings.amd() {
		return args
	}
	if len(args) == 0 {
		args = []string{corpusName}
	}
	args = slices.Clone(args)
	for i, a := range args {
		if a == corpusName {
			args[i] = corpusCLName
		}
	}
	return args
}

// unique drops tests given twice and tells different tests of one name apart.
func unique(env *environment, tests []*litmus.Test) (out []*litmus.Test, err error) {
	seen := newNames()
	for _, t := range tests {
		known, err := seen.take(env, env.origins[t], t, t.Hash())
		if err != nil {
			return nil, err
		}
		if !known {
			out = append(out, t)
		}
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
		Example: `  optcheck tests
  optcheck tests mp --print
  optcheck tests litmus/ --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			tests, err := loadTests(env, args)
			if err != nil {
				return err
			}
			if tests, err = env.sane(tests); err != nil {
				return err
			}
			enc := env.lines()
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
					fmt.Fprintf(env.text, "%s  %s  %s\n", t.Hash(), plain.Line(t.Name), t.Cond)
				}
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON, jsonLines)
	cmd.Flags().BoolVar(&show, "print", false, "print the tests themselves")
	return cmd
}
