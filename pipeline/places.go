package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/target"
	"optcheck/toolchain"
)

// Levels are the optimisation levels of the compilers.
var Levels = []string{"O0", "O1", "O2", "O3"}

// Place is a toolchain, target and level for which code can be compiled.
type Place struct {
	Toolchain     *toolchain.Toolchain
	Pipeline      Pipeline
	Target, Level string
}

// Places lists the places of a matrix, sorted by toolchain, target and level. Without targets
// it takes all that each toolchain has. It is an error if a toolchain does not compile the
// source, or none has a target.
func Places(tcs []*toolchain.Toolchain, source string, targets, levels []string) (places []Place, err error) {
	if len(tcs) == 0 {
		return nil, errors.New("no toolchain found; try: optcheck toolchain install")
	}
	for _, l := range levels {
		if !slices.Contains(Levels, l) {
			return nil, fmt.Errorf("unknown level %q (O0, O1, O2, O3)", l)
		}
	}
	known := map[string]bool{}
	for _, tc := range tcs {
		p, err := Of(tc, source)
		if err != nil {
			return nil, err
		}
		for _, t := range tc.Targets {
			known[t] = true
			if len(targets) > 0 && !slices.Contains(targets, t) {
				continue
			}
			for _, l := range levels {
				places = append(places, Place{tc, p, t, l})
			}
		}
	}
	for _, t := range targets {
		if known[t] {
			continue
		}
		of := target.Vendor(t)
		if !slices.ContainsFunc(tcs, func(tc *toolchain.Toolchain) bool { return tc.Vendor() == of }) &&
			slices.ContainsFunc(Roads, func(r *Road) bool { return r.Vendor == of }) {
			return nil, &ForeignTargetError{t, of, slices.ContainsFunc(targets, func(t string) bool { return known[t] })}
		}
		return nil, fmt.Errorf("no toolchain knows target %q (%s)", t, someTargets(tcs))
	}
	return places, nil
}

// ForeignTargetError is the error of a target of a vendor for which other toolchains compile than those that were given.
// Beside tells that other targets are known.
type ForeignTargetError struct {
	Target, Vendor string
	Beside         bool
}

func (e *ForeignTargetError) Error() string {
	return fmt.Sprintf("no toolchain knows target %q, which is of vendor %s", e.Target, e.Vendor)
}

// Once returns the distinct elements of a list: what is asked for twice is one cell.
func Once[T comparable](list []T) (out []T) {
	for _, x := range list {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// someTargets lists the targets of toolchains for a message, unless there are too many.
func someTargets(list []*toolchain.Toolchain) string {
	var all []string
	for _, tc := range list {
		all = append(all, tc.Targets...)
	}
	if all = Once(all); len(all) > 30 {
		return "optcheck toolchain list --json names all"
	}
	return strings.Join(all, ", ")
}
