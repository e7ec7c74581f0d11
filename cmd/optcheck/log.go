package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"optcheck/litmus"
	"optcheck/model"
)

func newLogCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Work with logs of herd and litmus",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLogCheckCmd(env))
	return cmd
}

func newLogCheckCmd(env *environment) *cobra.Command {
	var f modelFlags
	cmd := &cobra.Command{
		Use:   "check LOG [TEST…]",
		Short: "List the states of a log that a model forbids",
		Long: `Read a log with histograms, or one of a model, and list the states that the
model forbids. The tests are those that the log holds, those given, and those of
the corpus, in this order. The exit code is 1 if a state is forbidden or a test
could not be checked.`,
		Example: `  optcheck run mp sb --log run.log
  optcheck log check run.log --model ptx
  optcheck log check herd.log tests/ --cat my.cat`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			m, err := f.load(env)
			if err != nil {
				return err
			}
			return checkLog(cmd.Context(), env, m, o.Options, args)
		},
	}
	f.add(cmd)
	return cmd
}

func checkLog(ctx context.Context, env *environment, m *model.Model, o model.Options, args []string) error {
	var tests []*litmus.Test
	var err error
	if len(args) > 1 {
		if tests, err = loadTests(env, args[1:]); err != nil {
			return err
		}
	}
	known, err := loadTests(env, []string{"corpus"})
	if err != nil {
		return err
	}
	byName := map[string]*litmus.Test{}
	for _, t := range append(known, tests...) { // those given come last and win
		byName[t.Name] = t
	}
	in := env.stdin
	if args[0] != "-" {
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	findings, n, err := m.CheckLog(ctx, args[0], in, func(name string) *litmus.Test { return byName[name] }, o)
	for i := range findings {
		if err := findings[i].WriteText(env.stdout, m.Name); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stderr, "optcheck: %d tests in the log, %d with states that %s forbids or that could not be checked\n", n, len(findings), m.Name)
	if len(findings) > 0 {
		return errFound
	}
	return nil
}
