package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/internal/plain"
	"optcheck/mapping"
)

func newMappingCmd(env *environment) *cobra.Command {
	var asJSON, asMarkdown, diff bool
	cmd := &cobra.Command{
		Use:   "mapping [OPERATION…]",
		Short: "Show which machine instructions each PTX or OpenCL operation becomes",
		Long: `Compile a kernel for each PTX operation with every compiler found, for every
target, at O0 and O3, and show the machine instructions that matter to memory:
accesses with their modifiers, fences, cache control, error barriers, barriers
and guards. Registers and address computation are left out.

OPERATION is a pattern (ld.relaxed.*, membar.*, atom.shared.cas.b32) or a group:
loads, stores, fences, atomics, reductions, barriers. Without one, all are shown.

With --vendor amd the compilers are releases of clang and the operations those of
OpenCL C: load.acquire.device.global, fence.release.agent, mem_fence.both,
fetch_add.*; reductions are atomics whose result is not used. A store and a load of
global and of local memory are outstanding before each, so that its waits show; on
targets of r600 nothing stands around it. At O0 the back end alone works at that
level: the passes of O1 remove private variables before, whose waits would hide those
of the operation. What the release or its libclc lacks is shown as –.

An operation that a compiler refuses is shown as –; the JSON form has the
compiler's words.`,
		Example: `  optcheck mapping fences
  optcheck mapping 'ld.acquire.*' 'st.release.*' --targets sm_70,sm_90 --levels O3
  optcheck mapping --diff --toolchains 11.8,12.4
  optcheck mapping --vendor amd 'load.acquire.*' --targets gfx942
  optcheck mapping --markdown > mapping.md`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cells, err := runMapping(cmd.Context(), env, args)
			if err != nil {
				return err
			}
			write := mapping.WriteText
			switch {
			case diff && asJSON:
				write = mapping.WriteDiffJSON
			case diff && asMarkdown:
				return errors.New("--diff has no Markdown form")
			case diff:
				write = mapping.WriteDiffText
			case asJSON:
				write = mapping.WriteJSON
			case asMarkdown:
				write = mapping.WriteMarkdown
			}
			if err := write(env.stdout, cells); err != nil {
				return err
			}
			return mappingUnknown(env, cells)
		},
	}
	vendorFlag(cmd)
	fl := cmd.Flags()
	fl.StringSlice("toolchains", nil, "only these toolchains, by ID, name or a piece of them (12.4)")
	fl.StringSlice("targets", nil, "only these targets (sm_80,sm_90; of AMD one of each generation by default, or all)")
	fl.StringSlice("levels", nil, "only these optimisation levels (default O0,O3; of AMD O2)")
	toolFlags(cmd)
	jsonFlag(cmd, &asJSON, jsonLines+", one per operation and compilation")
	fl.BoolVar(&asMarkdown, "markdown", false, "print Markdown tables")
	fl.BoolVar(&diff, "diff", false, "show what each release does differently from the one before it")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

func runMapping(ctx context.Context, env *environment, ops []string) ([]mapping.Cell, error) {
	tcs, err := discover(ctx, env)
	if err != nil {
		return nil, err
	}
	return mapping.Run(ctx, mapping.Options{Toolchains: tcs, Targets: targets(env, tcs), Levels: env.settings.levels, Ops: ops})
}

// mappingUnknown makes cells without an answer an error: they are no good news.
func mappingUnknown(env *environment, cells []mapping.Cell) error {
	n := 0
	for i := range cells {
		if c := &cells[i]; c.Status == mapping.Unknown {
			if n++; n <= 5 {
				env.tell("%s, %s %s %s: %s", c.Op, c.Toolchain, c.Target, c.Level, c.Reason)
			}
		}
	}
	if n > 0 {
		return fmt.Errorf("%s of the mapping %s unknown", plain.Count(n, "cell"), plain.Form(n, "is", "are"))
	}
	return nil
}
