package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/pipeline"
	"optcheck/toolchain"
)

func sourceFlag(cmd *cobra.Command) {
	cmd.Flags().String("source", "",
		"what kernels are written in: ptx (ptxas), or llvm-ir (llc, then ptxas), or cuda (nvcc or clang, then ptxas); for AMD opencl (clang), or llvm-ir (llc)")
}

// finder returns how the toolchains of a vendor are found that compile a source.
func finder(vendor, source string) (func(context.Context, toolchain.Options) ([]*toolchain.Toolchain, []error), error) {
	if vendor == everyVendor {
		return discoverVendors, nil
	}
	var sources []string
	for _, r := range pipeline.Roads {
		if r.Vendor != vendor {
			continue
		}
		if source == "" || r.Source == source {
			return r.Find, nil
		}
		sources = append(sources, r.Source)
	}
	if sources == nil {
		return nil, fmt.Errorf("unknown vendor %q (nvidia, amd)", vendor)
	}
	return nil, fmt.Errorf("--source %s is none of vendor %s (%s)", source, vendor, strings.Join(sources, ", "))
}
