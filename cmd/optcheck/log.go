package main

import (
	"github.com/spf13/cobra"
)

func newLogCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "log",
		Example: "  optcheck log check herd.log --model ptx",
		Short:   "Work with logs of herd and litmus",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLogCheckCmd(env))
	return cmd
}
