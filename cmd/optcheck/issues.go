package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"optcheck/event"
	"optcheck/report"
)

func newIssuesCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "issues FILE…",
		Short: "The ten issues of the study, by release and chip, from saved runs",
		Long: `Print the ten issues of GPU Concurrency: Weak Behaviours and Programming Assumptions
(ASPLOS 2015, Tab. 2) as saved runs have them: what each compiler release makes of their
tests (optcheck audit --output or --store), and how often each chip shows them (optcheck
run --output or --store). A test belongs to an issue if it has the shape of one of the
corpus that shows it. What it and its registers, locations and numbers are called does
not matter, nor does the order of its threads. FILE is an event stream or a store; of a
store the latest run counts. Only what validated binaries showed says something of a
chip.`,
		Example: `  optcheck audit coRR-volatile cas-sl mp-L1 -o audit.jsonl
  optcheck issues audit.jsonl results.store`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return printIssues(env, args) },
	}
}

func printIssues(env *environment, files []string) error {
	var runs []*event.Run
	for _, file := range files {
		if _, err := os.Stat(file); file != "-" && errors.Is(err, fs.ErrNotExist) {
			return err
		}
		set, err := readAll(env, []string{file}, 0, nil)
		if err != nil {
			return err
		}
		runs = append(runs, set.Lean())
	}
	return report.WriteIssues(env.text, runs)
}
