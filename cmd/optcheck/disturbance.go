package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/audit"
	"optcheck/internal/plain"
)

func newDisturbanceCmd(env *environment) *cobra.Command {
	var f auditFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "disturbance [TEST|DIR|corpus…]",
		Short: "Show that the markers do not change the code that they specify",
		Long: `Compile tests with and without markers and compare the sequences of memory accesses
and fences of every kernel. Kernels that differ are listed: there, what the audit
says holds for the kernel with its markers only. Exit code 1 if there is one.`,
		Example: `  optcheck disturbance mp --targets sm_80
  optcheck disturbance corpus --levels O0,O3`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			d, err := audit.Disturb(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				if err := env.lines().Encode(d); err != nil {
					return err
				}
			} else {
				for _, c := range d.Disturbed {
					fmt.Fprintf(env.stdout, "%s T%d %s %s %s %s\n  with markers    %s\n  without markers %s\n", c.Test, c.Thread, c.Toolchain, c.Target,
						c.Level, c.Layout, strings.Join(c.Marked, "; "), strings.Join(c.Plain, "; "))
				}
				fmt.Fprintf(env.stdout, "%s compared, %d disturbed\n", plain.Count(d.Kernels, "kernel"), len(d.Disturbed))
			}
			switch {
			case len(d.Disturbed) > 0:
				return errFound
			case d.Kernels == 0:
				return errors.New("no kernel could be compiled with and without markers")
			}
			return nil
		},
	}
	vendorFlag(cmd)
	sourceFlag(cmd)
	matrixFlags(cmd)
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}
