package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/litmus"
	"optcheck/optcheck"
)

func newExplainCmd(env *environment) *cobra.Command {
	var asJSON, instructions bool
	cmd := &cobra.Command{
		Use:   "explain [RULE…]",
		Short: "Explain the rules that machine code is checked against, or what tests may say",
		Example: `  optcheck explain
  optcheck explain merged reordered
  optcheck explain --instructions`,
		RunE: func(_ *cobra.Command, args []string) error {
			if instructions {
				_, err := env.stdout.Write(litmus.AppendGrammar(nil))
				return err
			}
			rules := optcheck.Rules
			if len(args) > 0 {
				rules = nil
				for _, a := range args {
					r, ok := optcheck.LookupRule(a)
					if !ok {
						return fmt.Errorf("no rule %q; the rules are %s", a, ruleNames())
					}
					rules = append(rules, r)
				}
			}
			enc := env.lines()
			for i, r := range rules {
				if asJSON {
					if err := enc.Encode(map[string]any{"id": r.ID, "title": r.Title, "explanation": r.Explain, "note": r.Note}); err != nil {
						return err
					}
					continue
				}
				if i > 0 {
					fmt.Fprintln(env.stdout)
				}
				kind := "finding"
				if r.Note {
					kind = "note"
				}
				fmt.Fprintf(env.stdout, "%s (%s): %s\n\n%s\n", r.ID, kind, r.Title, r.Explain)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&instructions, "instructions", false,
		"the instructions of litmus tests instead: their modifiers, and since which PTX and target")
	jsonFlag(cmd, &asJSON, jsonLines)
	cmd.MarkFlagsMutuallyExclusive("instructions", "json")
	return cmd
}

func ruleNames() string {
	var s []string
	for _, r := range optcheck.Rules {
		s = append(s, r.ID)
	}
	return strings.Join(s, ", ")
}
