package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/audit"
	"optcheck/internal/plain"
	"optcheck/pipeline"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

func vendorFlag(cmd *cobra.Command) {
	cmd.Flags().String("vendor", "nvidia", "whose compilers and targets: nvidia (ptxas) or amd (clang, OpenCL C)")
}

// matrixFlags are the flags that select a matrix and say how it is worked on.
func matrixFlags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSlice("toolchains", nil, "only these toolchains, by ID, name or a piece of them (12.4)")
	fl.StringSlice("targets", nil, "only these targets (sm_80,sm_90)")
	fl.StringSlice("levels", nil, "only these optimisation levels (O0,O1,O2,O3)")
	fl.StringSlice("layouts", nil, "only these layouts (pointers,symbols,offsets)")
	jobFlags(cmd)
}

// jobFlags say how compilers are driven.
func jobFlags(cmd *cobra.Command) {
	cmd.Flags().IntP("jobs", "j", 0, "jobs at once (default: one more than there are cores)")
	toolFlags(cmd)
}

// toolFlags say how tools are run.
func toolFlags(cmd *cobra.Command) {
	timeoutFlag(cmd, fmt.Sprint(defaults["timeout"]))
	disassemblerFlag(cmd)
}

// timeoutFlag registers --timeout with the limit that the command has without it.
func timeoutFlag(cmd *cobra.Command, limit string) {
	cmd.Flags().String("timeout", limit, "time limit of one external process")
}

func disassemblerFlag(cmd *cobra.Command) {
	cmd.Flags().String("disassembler", "dictionary",
		"how cubins are read: dictionary (nvdisasm is asked once for each encoding), or nvdisasm (it prints everything)")
}

// matrix fills in what matrixFlags select.
func matrix(ctx context.Context, env *environment, o *audit.Options) (err error) {
	if o.Toolchains, err = discover(ctx, env); err != nil {
		return err
	}
	for _, s := range env.settings.layouts {
		l, err := spec.ParseLayout(s)
		if err != nil {
			return err
		}
		o.Layouts = append(o.Layouts, l)
	}
	o.Targets, o.Levels = targets(env, o.Toolchains), env.settings.levels
	env.leftOut(o.Toolchains, env.settings.targets, map[string]bool{})
	o.Jobs, o.Tool = env.settings.jobs, version()
	return nil
}

// discover finds the toolchains that the configuration asks for. That one which somebody
// has named, added or installed is missing or broken is an error; other tools that
// cannot be identified are named on standard error.
func discover(ctx context.Context, env *environment) ([]*toolchain.Toolchain, error) {
	all, wrong, err := found(ctx, env)
	if err != nil {
		return nil, err
	}
	names := env.settings.toolchains
	all, err = env.named(ctx, all, names...)
	var must []error
	for _, e := range wrong {
		// Who names toolchains does without the others that are added or installed.
		if e.Source == "added" || e.Source == "managed" {
			if len(names) > 0 && err == nil {
				env.tell("%v", e)
				continue
			}
		}
		must = append(must, e)
	}
	return all, errors.Join(append(must, err)...)
}

// found finds all toolchains of a vendor and a source of kernels, and what is wrong with
// those that somebody asked for.
func found(ctx context.Context, env *environment) (all []*toolchain.Toolchain, wrong []*toolchain.PlaceError, err error) {
	limit, err := env.settings.limit()
	if err != nil {
		return nil, nil, err
	}
	find, err := finder(env.settings.vendor, env.settings.kernels())
	if err != nil {
		return nil, nil, err
	}
	how := env.settings.disassembler
	if how != "dictionary" && how != "nvdisasm" {
		return nil, nil, fmt.Errorf("unknown disassembler %q (dictionary, nvdisasm)", how)
	}
	all, errs := find(ctx, toolchain.Options{Dirs: env.settings.toolchainDirs, Env: env.getenv,
		Runner: toolchain.NewRunner(0, limit), Listings: how == "nvdisasm"})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	for _, e := range toolchain.DistinctErrors(errs) {
		var place *toolchain.PlaceError
		if errors.As(e, &place) {
			wrong = append(wrong, place)
			continue
		}
		env.tell("%v", e)
	}
	return all, wrong, nil
}

// named picks the toolchains that names stand for. The error says of a name that stands for none of them for what it
// stands in another language or for another vendor.
func (env *environment) named(ctx context.Context, all []*toolchain.Toolchain, names ...string) ([]*toolchain.Toolchain, error) {
	some, err := toolchain.Find(all, names...)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return some, err
	}
	quiet := *env
	quiet.stderr = io.Discard
	list := slices.Clone(joined.Unwrap())
	for _, r := range slices.Backward(pipeline.Roads) { // what the first one has is said
		all, _, _ := found(ctx, quiet.forVendor(r.Vendor).forSource(r.Source)) // what is wrong has been said
		for i, e := range joined.Unwrap() {
			var unknown *toolchain.NameError
			if !errors.As(e, &unknown) {
				continue
			}
			if some, err := toolchain.Find(all, unknown.Name); err == nil && len(some) > 0 {
				list[i] = fmt.Errorf("%q stands for %s, which compiles %s for %s; what was asked for is compiled by: %s", unknown.Name, some[0].ID,
					languages[r.Source], vendors[r.Vendor], unknown.Found)
			}
		}
	}
	return some, errors.Join(list...)
}

// What sources of kernels and vendors are called.
var (
	languages = map[string]string{pipeline.PTX: "PTX", pipeline.OpenCL: "OpenCL C", pipeline.LLVMIR: "LLVM IR (--source llvm-ir)", pipeline.CUDA: "CUDA C++"}
	vendors   = map[string]string{target.NVIDIA: "NVIDIA", target.AMD: "AMD (--vendor amd)"}
)

// leftOut says which toolchains do not know targets that others know, which are their cells that there are not, each once;
// said has what was said. It returns the targets that some know.
func (env *environment) leftOut(tcs []*toolchain.Toolchain, targets []string, said map[string]bool) (known []string) {
	for _, t := range targets {
		var lack []string
		for _, tc := range tcs {
			if !tc.HasTarget(t) {
				lack = append(lack, tc.ID)
			}
		}
		if len(lack) == len(tcs) {
			continue // "all", or one that nobody knows, which is an error
		}
		known = append(known, t)
		if who := strings.Join(lack, ", "); who != "" && !said[t+who] {
			said[t+who] = true
			env.tell("%s is left out: %s %s not know it", t, who, plain.Form(len(lack), "does", "do"))
		}
	}
	return known
}

// discoverVendors finds the toolchains of all vendors, and the front ends.
func discoverVendors(ctx context.Context, o toolchain.Options) ([]*toolchain.Toolchain, []error) {
	var all []*toolchain.Toolchain
	var errs []error
	for _, r := range pipeline.Roads {
		if pipeline.Usual(r.Vendor) != r {
			continue
		}
		list, more := r.Find(ctx, o)
		all, errs = append(all, list...), append(errs, more...)
	}
	fronts, more := toolchain.DiscoverFronts(ctx, o)
	return append(all, fronts...), append(errs, more...)
}

// amdTargets are the targets that are audited for AMD unless others are named:
// one of each generation, where a release knows it.
var amdTargets = []string{"tahiti", "gfx803", "gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"}

// targets are the targets asked for: of AMD, amdTargets by default and all of
// them for "all".
func targets(env *environment, tcs []*toolchain.Toolchain) []string {
	asked := env.settings.targets
	if !env.settings.amd() {
		return asked
	}
	if len(asked) == 1 && asked[0] == "all" {
		return nil
	}
	if len(asked) > 0 {
		return asked
	}
	for _, t := range amdTargets {
		if slices.ContainsFunc(tcs, func(tc *toolchain.Toolchain) bool { return tc.HasTarget(t) }) {
			asked = append(asked, t)
		}
	}
	return asked
}
