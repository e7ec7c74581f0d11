package main

import (
	"github.com/spf13/cobra"
)

func newToolchainCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{Use: "toolchain", Short: "Find and install compilers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newToolchainListCmd(env), newToolchainInstallCmd(env), newToolchainAddCmd(env), newToolchainRemoveCmd(env),
		newToolchainVerifyCmd(env), newToolchainDriverCmd(env))
	return cmd
}
