package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/toolchain"
)

func newToolchainInstallCmd(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "install [NAME…]",
		Short: "Install compilers for this user: " + strings.Join(toolchain.Available(), ", "),
		Long: `Install compilers from Debian's packages into the user's cache folder, without root. Of
a CUDA release these are NVIDIA's ptxas, nvdisasm and cuobjdump (cuda-12.4, non-free),
or the compiler of CUDA C++ and all headers (nvcc-12.4, non-free). Of an LLVM release
they are clang, llc, llvm-objdump, llvm-mc, opt and libclc. The mirror is the one that
this machine's own apt configuration names; apt verifies signatures and checksums.
Without names, the releases of ptxas and llvm-14, llvm-19 and llvm-22 are installed
(cuda-12.5 and nvcc-12.5, of Debian's experimental suite, when named). What is there
already is kept. nvcc-11.8 and later ones read about a gigabyte each, most of it
libraries, of which 120 MB are kept. Debian packs the headers with them, and a part
of a package has no checksum. nvcc needs g++; clang compiles CUDA C++ with the headers
that come with an nvcc.

Any other release comes from a toolkit, package, wheel or archive that you have:
optcheck toolchain add PATH.

NVIDIA's compilers are non-free software: their licence is installed beside them;
read it. optcheck neither contains nor distributes any compiler.`,
		Example: `  optcheck toolchain install cuda-12.4
  optcheck toolchain install cuda-11.8 llvm-22
  optcheck toolchain install nvcc-12.4`,
		ValidArgs: toolchain.Available(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = toolchain.Recommended()
			}
			for _, name := range args {
				done, err := toolchain.Install(cmd.Context(), name,
					toolchain.InstallOptions{Dir: toolchain.ManagedDir(env.getenv), Progress: env.stderr})
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
