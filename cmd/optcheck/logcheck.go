package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/model"
	"optcheck/ptxgen/cycle"
)

func newLogCheckCmd(env *environment) *cobra.Command {
	var f modelFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check LOG [TEST…]",
		Short: "List the states of a log that a model forbids",
		Long: `Read a log with histograms, or one of a model, and list the states that the
model forbids. The tests are those that the log holds, those given, those of the
corpus, and those whose generated name says all of them, in this order. The exit code is 1 if a state is forbidden or a test
could not be checked. With --json a line per such test and a summary at the end,
see docs/internals/models.md.`,
		Example: `  optcheck run mp sb --log run.log
  optcheck log check run.log --model ptx
  optcheck log check herd.log tests/ --cat my.cat
  optcheck log check run.log --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			m, err := f.load(cmd.Context(), env)
			if err != nil {
				return err
			}
			return checkLog(cmd.Context(), env, m, o.Options, args, asJSON)
		},
	}
	f.add(cmd)
	jsonFlag(cmd, &asJSON, jsonLines)
	return cmd
}

func checkLog(ctx context.Context, env *environment, m *model.Model, o model.Options, args []string, asJSON bool) error {
	var tests []*litmus.Test
	var err error
	if len(args) > 1 {
		if tests, err = loadTests(env, args[1:]); err != nil {
			return err
		}
		if len(env.renamed) > 0 { // a log tells its tests by their names
			return fmt.Errorf("different tests have one name: %s", strings.Join(env.renamed, ", "))
		}
	}
	known, err := loadTests(env, []string{"corpus"})
	if err != nil {
		return err
	}
	byName := map[string]*litmus.Test{}
	for _, t := range append(known, tests...) { // those given come last and win
		byName[t.Name], byName[model.HerdName(t.Name)] = t, t
	}
	in := env.stdin
	if err := expect(args[0], wantLog); err != nil {
		return err
	}
	if args[0] != "-" {
		file, err := input.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	log := bufio.NewReader(input.Until(ctx, in))
	if err := input.SkipMark(log); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	findings, n, err := m.CheckLog(ctx, args[0], log, func(name string) *litmus.Test {
		if t := byName[name]; t != nil {
			return t
		}
		if sp, err := cycle.ParseName(name); err == nil {
			return sp.Test() // the name of a generated test says all of it
		}
		return nil
	}, o)
	for i := range findings {
		write := findings[i].WriteText
		if asJSON {
			write = findings[i].WriteJSON
		}
		if err := write(env.out(asJSON), m.Name); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if asJSON {
		if err := model.WriteSummaryJSON(env.stdout, logSummary(m, n, findings)); err != nil {
			return err
		}
	}
	env.tell("%s in the log, %d with states that %s forbids or that could not be checked", plain.Count(n, "test"), len(findings), m.Name)
	if len(findings) > 0 {
		return errFound
	}
	return nil
}

// logSummary counts what was found in a log.
func logSummary(m *model.Model, tests int, findings []model.LogFinding) model.JSONSummary {
	s := model.JSONSummary{Models: []string{m.Name}, Tests: tests, Forbidden: new(int)}
	for i := range findings {
		if findings[i].Skipped != "" {
			s.Failed++
		} else {
			*s.Forbidden++
		}
	}
	return s
}
