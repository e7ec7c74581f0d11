package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/audit"
	"optcheck/depgen"
	"optcheck/internal/plain"
)

func newDepsCmd(env *environment) *cobra.Command {
	var asJSON, schemes bool
	cmd := &cobra.Command{
		Use:   "deps",
		Short: "Tell which manufactured dependencies compilers keep",
		Long: `Compile false dependencies of every scheme (see --schemes) with every compiler found and
tell which are still there in the machine code. They are address, data and control
dependencies from a load into loads, stores and atomics, of global memory and of shared
memory with 64 and 32-bit addresses, in all layouts.`,
		Example: `  optcheck deps --levels O0,O3
  optcheck deps --toolchains 12.4 --targets sm_80,sm_90 --json
  optcheck deps --source llvm-ir --toolchains 22,12.4 --targets sm_80
  optcheck deps --vendor amd --targets gfx900,gfx1030`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if schemes {
				for _, s := range depgen.Schemes {
					fmt.Fprintf(env.stdout, "%s: %s\n%s\n\n", s.Name, s.Title, s.Explain)
				}
				return nil
			}
			return runDeps(cmd.Context(), env, asJSON)
		},
	}
	fl := cmd.Flags()
	vendorFlag(cmd)
	sourceFlag(cmd)
	matrixFlags(cmd)
	allowUnknownFlag(cmd)
	jsonFlag(cmd, &asJSON, jsonLines+", one per dependency and compilation")
	fl.BoolVar(&schemes, "schemes", false, "explain the schemes instead")
	return cmd
}

func runDeps(ctx context.Context, env *environment, asJSON bool) error {
	gate, err := env.settings.gate()
	if err != nil {
		return err
	}
	var o audit.Options
	if err := matrix(ctx, env, &o); err != nil {
		return err
	}
	o.Source = env.settings.kernels()
	bar := newProgress(env.bar, false)
	o.Progress = bar.update
	cells, err := audit.Dependencies(ctx, o)
	bar.done()
	if err != nil {
		return err
	}
	write := audit.WriteDepsText
	if asJSON {
		write = audit.WriteDepsJSON
	}
	if err := write(env.stdout, cells); err != nil {
		return err
	}
	n := 0
	for i := range cells {
		if cells[i].Fate == audit.DepUnknown {
			n++
		}
	}
	if n > gate.allowUnknown {
		return fmt.Errorf("%s could not be decided (--allow-unknown N accepts N of them)", plain.Count(n, "fate"))
	}
	return nil
}
