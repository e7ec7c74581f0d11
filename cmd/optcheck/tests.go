package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/ptxgen/named"
)

// origin tells where a test is from.
func (env *environment) origin(t *litmus.Test) (preset, file string) {
	o := env.origins[t]
	return o.Preset, o.File
}

// from notes where tests are from.
func (env *environment) from(o named.Origin, tests ...*litmus.Test) []*litmus.Test {
	if env.origins == nil {
		env.origins = map[*litmus.Test]named.Origin{}
	}
	for _, t := range tests {
		env.origins[t] = o
	}
	return tests
}

// loadTests reads the tests that arguments name; see eachTest.
func loadTests(env *environment, args []string) ([]*litmus.Test, error) {
	var tests []*litmus.Test
	err := eachTest(env, args, func(o named.Origin, t *litmus.Test) error {
		tests = append(tests, env.from(o, t)...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return unique(env, tests)
}

// eachTest passes on the tests that arguments name, without any the corpus. Files that do not parse are left out and named at the
// end of the command (environment.ended).
func eachTest(env *environment, args []string, yield func(named.Origin, *litmus.Test) error) error {
	if len(args) == 0 {
		args = []string{named.Corpus}
	}
	f := named.Finder{Stdin: env.stdin, Nearest: nearest, Expect: func(file string) error { return expect(file, wantTest) }}
	refused, err := f.Each(args, yield)
	env.refused = append(env.refused, refused...)
	return err
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
		args = []string{named.Corpus}
	}
	args = slices.Clone(args)
	for i, a := range args {
		if a == named.Corpus {
			args[i] = named.CorpusCL
		}
	}
	return args
}

// unique drops tests given twice and tells different tests of one name apart.
func unique(env *environment, tests []*litmus.Test) (out []*litmus.Test, err error) {
	seen := named.NewNames()
	for _, t := range tests {
		known, err := seen.Take(env.origins[t], t, t.Hash())
		if err != nil {
			return nil, err
		}
		if !known {
			out = append(out, t)
		}
	}
	env.renamed = append(env.renamed, seen.Renamed...)
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
