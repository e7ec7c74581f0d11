package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/ptxgen"
	"optcheck/spec"
)

func newEmitCmd(env *environment) *cobra.Command {
	var target, layout string
	var plain bool
	cmd := &cobra.Command{
		Use:   "emit TEST…",
		Short: "Print the PTX of a test in audit form",
		Long: `Print the PTX of a test in audit form: one straight-line entry per thread, values
and addresses unknown to the compiler, and the specification as xor markers at
the end of each thread.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			tests, err := loadTests(env, args)
			if err != nil {
				return err
			}
			if err := checkTests(tests); err != nil {
				return err
			}
			if sm, err := ptxgen.SM(target); err != nil || sm > ptxgen.NewestSM {
				return fmt.Errorf("unknown target %q (up to sm_%d)", target, ptxgen.NewestSM)
			}
			l, err := spec.ParseLayout(layout)
			if err != nil {
				return err
			}
			var v ptxgen.Version
			var body strings.Builder
			for _, t := range tests {
				u, err := ptxgen.Emit(t, ptxgen.Options{Target: target, Layout: l, Plain: plain})
				if err != nil {
					return fmt.Errorf("%s: %w", t.Name, err)
				}
				v = max(v, u.Version)
				fmt.Fprintf(&body, "// %s\n%s\n", t.Name, u.Text)
			}
			_, err = fmt.Fprint(env.stdout, ptxgen.Header(v, target), body.String())
			return err
		},
	}
	cmd.Flags().StringVar(&target, "target", "sm_80", "target architecture")
	cmd.Flags().StringVar(&layout, "layout", "pointers", "how locations are addressed: pointers, symbols, offsets")
	cmd.Flags().BoolVar(&plain, "plain", false, "without markers")
	return cmd
}
