package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/litmus"
	"optcheck/ptxgen/cycle"
)

func newGenNameCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "name TEST|DIR|NAME…",
		Short: "Classify tests back to their cycles",
		Long: `Print the canonical name and the cycle of each test: of a generated test's name, a
file, a folder, or a test of the corpus. A test whose condition is no cycle of
program order and communications is said to be none.`,
		Example: `  optcheck gen name MP+membar.gl+addr-p0::p1-xgyg
  optcheck gen name mp tests/ --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			found := true
			enc := env.lines()
			for _, a := range args {
				var tests []*litmus.Test
				if sp, err := cycle.ParseName(a); err == nil {
					tests = []*litmus.Test{sp.Test()}
				} else if tests, err = loadTests(env, []string{a}); err != nil {
					return err
				}
				for _, t := range tests {
					r, err := cycle.Classify(t)
					found = found && err == nil
					if err := printClass(env, enc, asJSON, t.Name, r, err); err != nil {
						return err
					}
				}
			}
			if !found {
				return errFound
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON, jsonLines)
	return cmd
}

func printClass(env *environment, enc *json.Encoder, asJSON bool, name string, r *cycle.Class, cause error) error {
	if asJSON {
		out := map[string]any{"test": name}
		if cause != nil {
			out["reason"] = cause.Error()
		} else {
			out["family"], out["name"], out["cycle"], out["exact"] = r.Spec.Cycle.Family(), r.Spec.Name(), r.Spec.Cycle.String(), r.Exact
		}
		return enc.Encode(out)
	}
	if cause != nil {
		_, err := fmt.Fprintf(env.stdout, "%s\tno cycle: %v\n", name, cause)
		return err
	}
	about := ""
	if !r.Exact {
		about = "\t(the cycle only: the test has more)"
	}
	_, err := fmt.Fprintf(env.stdout, "%s\t%s\t%s%s\n", name, r.Spec.Name(), r.Spec.Cycle, about)
	return err
}
