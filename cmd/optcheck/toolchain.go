package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"optcheck/toolchain"
)

func newToolchainCmd(env *environment) *cobra.Command {
	cmd := &cobra.Command{Use: "toolchain", Short: "Find and install compilers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newToolchainListCmd(env), newToolchainInstallCmd(env), newToolchainVerifyCmd(env), newToolchainDriverCmd(env))
	return cmd
}

func newToolchainListCmd(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the compilers found, with build tags and targets",
		Example: `  optcheck toolchain list
  optcheck toolchain list --vendor amd
  optcheck toolchain list --source llvm-ir --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			of := env
			if !env.config.given("vendor") && !env.config.given("source") {
				of = env.forVendor(everyVendor)
			}
			tcs, err := discover(cmd.Context(), of)
			if err != nil {
				return err
			}
			if asJSON {
				list := []toolchain.Description{}
				for _, t := range tcs {
					list = append(list, t.Describe())
				}
				return env.printJSON(list)
			}
			if len(tcs) == 0 {
				return errors.New("no toolchain found; try: optcheck toolchain install")
			}
			tw := tabwriter.NewWriter(env.stdout, 0, 8, 2, ' ', 0)
			fmt.Fprintln(tw, "ID\tNAME\tPTX\tTARGETS\tBUILD\tFOUND IN")
			for _, t := range tcs {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.MaxPTX, t.TargetRange(), t.Build, t.Source)
			}
			return tw.Flush()
		},
	}
	jsonFlag(cmd, &asJSON, oneObject)
	cmd.Flags().String("vendor", "", "only compilers for this vendor's targets: nvidia or amd")
	sourceFlag(cmd)
	return cmd
}

func newToolchainInstallCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "install [NAME…]",
		Short: "Install compilers for this user: " + strings.Join(toolchain.Available(), ", "),
		Long: `Install compilers from Debian's packages into the user's cache folder, without
root: of a CUDA release NVIDIA's ptxas, nvdisasm and cuobjdump (non-free), of an
LLVM release clang, llc, llvm-objdump, llvm-mc, opt and libclc. The mirror is the
one that this machine's own apt configuration names; apt verifies signatures and
checksums. Without names, the CUDA releases and llvm-14, llvm-19 and llvm-22 are
installed. What is there already is kept.

NVIDIA's compilers are non-free software: their licence is installed beside them;
read it. optcheck neither contains nor distributes any compiler.`,
		Example: `  optcheck toolchain install cuda-12.4
  optcheck toolchain install cuda-11.8 llvm-22`,
		ValidArgs: toolchain.Available(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = toolchain.Recommended()
			}
			for _, name := range args {
				done, err := toolchain.Install(cmd.Context(), name, toolchain.InstallOptions{Dir: toolchain.ManagedDir(env.getenv), Progress: env.stderr})
				if err != nil {
					return fmt.Errorf("install %s: %w", name, err)
				}
				if !done {
					fmt.Fprintf(env.stderr, "%s is installed\n", name)
				}
			}
			return nil
		},
	}
}
