package main

import (
	"github.com/spf13/cobra"
)

func newToolchainCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{Use: "toolchain", Example: "  optcheck toolchain install cuda-12.4\n  optcheck toolchain add ~/cuda-13.0\n  optcheck toolchain list", Short: "Find and install compilers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newToolchainListCmd(env), newToolchainInstallCmd(env), newToolchainAddCmd(env), newToolchainRemoveCmd(env),
		newToolchainVerifyCmd(env), newToolchainDriverCmd(env))
	return cmd
}
