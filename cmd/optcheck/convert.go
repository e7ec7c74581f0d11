package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/model"
)

func newConvertCmd(env *environment) *cobra.Command {
	var to, out string
	var mapping bool
	cmd := &cobra.Command{
		Use:   "convert TEST…",
		Short: "Convert tests to herd's LISA dialect or to OpenCL C",
		Long: `Convert tests to another dialect. With --to opencl, PTX tests are translated to
OpenCL C where they have a meaning there; --table prints the table.

With --to lisa, herd7 can judge the same test. With
--output the tests are written to a folder, with optcheck.bell, the models that herd
can run (sc, ptx-2015, ptx-2015-rmw; ptx with total coherence) and a list of the files, @all:

  herd7 -bell DIR/optcheck.bell -model DIR/ptx-2015.cat DIR/@all

herd ends names at a colon and judges one test of each name: a colon becomes a slash,
and other characters that herd does not take their hexadecimal numbers in brackets.`,
		Example: `  optcheck convert mp
  optcheck convert corpus --output lisa/
  optcheck convert --to opencl mp+membar.gls
  optcheck convert --table`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if mapping {
				return printMapping(env)
			}
			if len(args) == 0 {
				return argumentMistake(cmd, args)
			}
			if to == "opencl" {
				return toOpenCL(env, args, out)
			}
			if to != "lisa" {
				return fmt.Errorf("--to %s: lisa and opencl are known", to)
			}
			tests, err := loadTests(env, args)
			if err != nil {
				return err
			}
			if out != "" {
				return convertTo(env, out, tests)
			}
			if len(tests) > 1 {
				return errors.New("several tests need --output")
			}
			l, err := model.ToLISA(tests[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(env.stdout, l.Text)
			return err
		},
	}
	cmd.Flags().StringVar(&to, "to", "lisa", "the dialect to convert to: lisa or opencl")
	cmd.Flags().BoolVar(&mapping, "table", false, "print the table by which PTX tests become OpenCL C")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the tests to this folder")
	return cmd
}

// fileFor names the file of a test; tests with different names have different ones.
func fileFor(t *litmus.Test) string { return url.PathEscape(t.Name) + ".litmus" }

// printMapping prints the table of litmus.ToOpenCL.
func printMapping(env *environment) error {
	for _, r := range litmus.OpenCLMapping {
		to := r.OpenCL
		if to == "" {
			to = "unsupported"
		}
		if _, err := fmt.Fprintf(env.stdout, "%s\n    %s\n", r.PTX, to); err != nil {
			return err
		}
		if r.Why != "" {
			fmt.Fprintf(env.stdout, "    (%s)\n", r.Why)
		}
	}
	return nil
}

// toOpenCL translates tests; those without a meaning are named.
func toOpenCL(env *environment, args []string, out string) error {
	tests, err := loadTests(env, args)
	if err != nil {
		return err
	}
	var errs []error
	if out != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
	}
	for _, t := range tests {
		u, err := litmus.ToOpenCL(t)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.Name, err))
			continue
		}
		if out == "" {
			fmt.Fprintln(env.stdout, u.String())
			continue
		}
		if err := writeInto(out, fileFor(t), []byte(u.String())); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// convertTo writes all tests that LISA can express; the others are named.
func convertTo(env *environment, dir string, tests []*litmus.Test) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]string{"optcheck.bell": model.LISABell}
	for _, name := range model.ModelsForHerd() {
		src, err := model.ModelForHerd(name)
		if err != nil {
			return err
		}
		files[name+".cat"] = src
	}
	var index strings.Builder
	var errs []error
	for _, t := range tests {
		l, err := model.ToLISA(t)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.Name, err))
			continue
		}
		file := fileFor(t)
		files[file] = l.Text
		fmt.Fprintln(&index, file)
	}
	files["@all"] = index.String()
	for name, text := range files {
		if err := writeInto(dir, name, []byte(text)); err != nil {
			return err
		}
	}
	env.tell("%d of %s written to %s", len(tests)-len(errs), plain.Count(len(tests), "test"), dir)
	return errors.Join(errs...)
}
