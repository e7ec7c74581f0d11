package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/known"
)

func newKnownListCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Print the known findings with their reasons",
		Example: "  optcheck known list\n  optcheck known list --known mine.yaml --json",
		Args:    cobra.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			list, _, err := knownList(env)
			if err != nil {
				return err
			}
			enc := env.lines()
			for i, f := range list.Filters {
				if asJSON {
					if err := enc.Encode(f); err != nil {
						return err
					}
					continue
				}
				if i > 0 {
					fmt.Fprintln(env.stdout)
				}
				writeFilter(env, f)
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON, jsonLines)
	cmd.Flags().StringSlice("known", nil, "further lists of known findings")
	return cmd
}

func writeFilter(env *environment, f *known.Filter) {
	fmt.Fprintf(env.text, "%s: %s\n", f.ID, f.Note)
	line := func(what string, values ...string) {
		if s := strings.Join(values, " "); s != "" {
			fmt.Fprintf(env.text, "  %s %s\n", what, s)
		}
	}
	line("rules  ", f.Rules...)
	line("classes", f.Classes...)
	if f.From != "" || f.To != "" {
		line("releases", f.From, "to", f.To)
	}
	line("targets", f.Targets...)
	line("levels ", f.Levels...)
	line("layouts", f.Layouts...)
	line("stages ", f.Stages...)
	line("with   ", f.With...)
	line("beside ", f.Beside...)
	line("tests  ", append(f.Tests, f.Shapes...)...)
	line("detail ", f.Detail)
	line("reason ", f.Reason)
	line("link   ", f.Link)
	line("at     ", f.Origin)
}
