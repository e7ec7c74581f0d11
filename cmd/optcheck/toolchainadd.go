package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"optcheck/toolchain"
)

func newToolchainAddCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "add PATH…",
		Short: "Make a release known that is on this machine: a toolkit, a ptxas, a package, a wheel, an archive",
		Long: `Make compilers known that are on this machine, whichever release they are of. PATH is
one of

  the path of ptxas, nvcc or clang itself
  the folder that holds it, a toolkit with a bin folder, or a folder above several
  a Debian package (.deb), a wheel (.whl) or a redistributable archive (.tar.xz, .tar.gz,
  .tar.zst, .zip) with NVIDIA's ptxas, nvdisasm or cuobjdump

Folders are noted where they are, and every command looks into them from then on. Archives
are unpacked into the user's cache folder, with the hashes of all files (optcheck
toolchain verify). Where NVIDIA ships ptxas and nvdisasm in two archives, name both: what
is of one release becomes one toolchain. A ptxas without nvdisasm is read by that of
the next newer release found.

Each tool is asked who it is. Nothing is added if one does not answer. What was added and
is missing later is an error, not a release less (optcheck toolchain remove).`,
		Example: `  optcheck toolchain add /usr/local/cuda-13.0
  optcheck toolchain add toolkits/
  optcheck toolchain add nvidia_cuda_nvcc.whl nvidia_cuda_nvdisasm.whl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tcs, err := toolchain.Add(cmd.Context(), args,
				toolchain.InstallOptions{Dir: toolchain.ManagedDir(env.getenv), Progress: env.stderr})
			if err != nil {
				return err
			}
			if err := listToolchains(env, tcs); err != nil {
				return err
			}
			for _, t := range tcs {
				if !t.Describe().Complete {
					env.tell("%s has no disassembler, nor has any newer release here: add its nvdisasm, too, to audit it", t.ID)
				}
			}
			return nil
		},
	}
}

func newToolchainRemoveCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME|PATH…",
		Short: "Forget compilers that were added, or delete what was installed",
		Long: `Forget folders that were added, by path or by the name of their compilers, and delete
what was installed or unpacked under a name. Nothing is deleted in folders that were added.`,
		Example: "  optcheck toolchain remove cuda-13.0\n  optcheck toolchain remove /usr/local/cuda-13.0",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			did, err := toolchain.Remove(toolchain.ManagedDir(env.getenv), args)
			for _, line := range did {
				fmt.Fprintln(env.text, line)
			}
			return err
		},
	}
}
