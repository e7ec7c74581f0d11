package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/audit"
	"optcheck/target"
	"optcheck/toolchain"
)

func sourceFlag(cmd *cobra.Command) {
	cmd.Flags().String("source", "",
		"what kernels are written in: ptx (ptxas), or llvm-ir (llc, then ptxas); for AMD opencl (clang), or llvm-ir (llc)")
}

// finders gives for each vendor and source how its toolchains are found; the
// first source of a vendor is the default.
var finders = []struct {
	vendor, source string
	find           func(context.Context, toolchain.Options) ([]*toolchain.Toolchain, []error)
}{
	{target.NVIDIA, audit.PTX, toolchain.Discover},
	{target.NVIDIA, audit.LLVMIR, toolchain.DiscoverLLC},
	{target.AMD, audit.OpenCL, toolchain.DiscoverLLVM},
	{target.AMD, audit.LLVMIR, toolchain.DiscoverLLVM},
	{everyVendor, "", discoverVendors},
}

// finder returns how the toolchains of a vendor are found that compile a source.
func finder(vendor, source string) (func(context.Context, toolchain.Options) ([]*toolchain.Toolchain, []error), error) {
	var sources []string
	for _, f := range finders {
		if f.vendor != vendor {
			continue
		}
		if source == "" || f.source == "" || f.source == source {
			return f.find, nil
		}
		sources = append(sources, f.source)
	}
	if sources == nil {
		return nil, fmt.Errorf("unknown vendor %q (nvidia, amd)", vendor)
	}
	return nil, fmt.Errorf("--source %s is none of vendor %s (%s)", source, vendor, strings.Join(sources, ", "))
}
