package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/litmus"
	"optcheck/model"
)

func newConvertCmd(env *environment) *cobra.Command {
	var to, out string
	cmd := &cobra.Command{
		Use:   "convert TEST…",
		Short: "Convert tests to herd's LISA dialect",
		Long: `Convert tests to herd's LISA dialect, so that herd7 can judge the same test. With
--out the tests are written to a folder, with optcheck.bell, the models that herd
can run (sc, ptx-2015, ptx-2015-rmw) and a list of the files, @all:

  herd7 -bell DIR/optcheck.bell -model DIR/ptx-2015.cat DIR/@all`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if to != "lisa" {
				return fmt.Errorf("--to %s: only lisa is known", to)
			}
			tests, err := loadTests(env, args)
			if err != nil {
				return err
			}
			if out != "" {
				return convertTo(env, out, tests)
			}
			if len(tests) > 1 {
				return errors.New("several tests need --out")
			}
			l, err := model.ToLISA(tests[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(env.stdout, l.Text)
			return err
		},
	}
	cmd.Flags().StringVar(&to, "to", "lisa", "the dialect to convert to")
	cmd.Flags().StringVar(&out, "out", "", "write the tests to this folder")
	return cmd
}

// convertTo writes all tests that LISA can express; the others are named.
func convertTo(env *environment, dir string, tests []*litmus.Test) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]string{"optcheck.bell": model.LISABell}
	for _, name := range []string{"sc", "ptx-2015", "ptx-2015-rmw"} {
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
		file := strings.ReplaceAll(t.Name, "/", "_") + ".litmus"
		files[file] = l.Text
		fmt.Fprintln(&index, file)
	}
	files["@all"] = index.String()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(env.stderr, "optcheck: %d of %d tests written to %s\n", len(tests)-len(errs), len(tests), dir)
	return errors.Join(errs...)
}
