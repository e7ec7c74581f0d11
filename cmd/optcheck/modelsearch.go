package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/litmus"
	"optcheck/model"
)

func newModelSearchCmd(env *environment) *cobra.Command {
	var f compareFlags
	var out string
	cmd := &cobra.Command{
		Use:   "search A B [TEST…]",
		Short: "Find the tests whose result would decide between two models",
		Long: `Find the tests whose result on a device would decide between two models: a state
that one allows and the other forbids refutes the latter if it is seen. The tests
are those of the presets (all, unless --gen or tests are given), ordered by how
likely the runner is to see such a state. What it is likely to see is learnt from
results (--seen): from tests of one family, by what their names have in common. A
test that was run in vain is expected at no more than the rate that this excludes.

--output writes the tests, for optcheck run.`,
		Example: `  optcheck model search ugpu ptx-2015 --seen h200.jsonl --most 20
  optcheck model search ptx ptx-strong --seen results.store --output tests/
  optcheck run tests/ --model ptx-strong`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && len(f.gen) == 0 {
				f.gen = []string{"paper", "ptx", "scopes"}
			}
			return runSearch(cmd.Context(), env, &f, args, out)
		},
	}
	f.addLimits(cmd)
	f.addTests(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.limit, "most", 0, "list, and write, at most so many tests (0: all)")
	jsonFlag(cmd, &f.asJSON, jsonLines)
	fl.StringVarP(&out, "output", "o", "", "write the tests to this folder")
	return cmd
}

func runSearch(ctx context.Context, env *environment, f *compareFlags, args []string, out string) error {
	c, err := f.compare(ctx, env, args)
	if err != nil {
		return err
	}
	if c.failed != nil {
		return c.failed
	}
	var past []model.Past
	for _, h := range slices.Sorted(maps.Keys(c.past.past)) {
		past = append(past, *c.past.past[h])
	}
	list := model.Deciders(c.Comparison, past)
	if f.limit > 0 && f.limit < len(list) && (f.asJSON || out != "") {
		list = list[:f.limit]
	}
	for i := range list {
		if f.asJSON {
			err = list[i].WriteJSON(env.stdout)
		}
		if out != "" {
			err = errors.Join(err, writeTest(out, list[i].Test))
		}
		if err != nil {
			return err
		}
	}
	if !f.asJSON {
		if err := model.WriteDeciders(env.text, c.Comparison, list, f.limit); err != nil {
			return err
		}
	}
	if err := f.conclude(env, c); !errors.Is(err, errFound) {
		return err
	}
	return nil
}

// writeTest writes a test as NAME.litmus into a folder.
func writeTest(dir string, t *litmus.Test) error {
	if t.Name == "" || strings.ContainsAny(t.Name, `/\`) || !filepath.IsLocal(t.Name) {
		return fmt.Errorf("test %q: its name is no file's name", t.Name)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return writeInto(dir, t.Name+".litmus", t.Append(nil))
}
