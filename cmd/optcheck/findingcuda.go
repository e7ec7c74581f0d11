package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"optcheck/event"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/reduce"
	"optcheck/target"
	"optcheck/toolchain"
)

// atSource reports whether a finding in CUDA C++ is one of its front end: a crash. Any other is in the PTX that the
// front end makes, and names the front end with a ptxas.
func (f *findingFlags) atSource(env *environment, a reduce.Address, rule string) bool {
	if rule == "" {
		return !slices.ContainsFunc(or(a.Toolchain, env.settings.toolchains), func(tc string) bool { return strings.Contains(tc, "+") })
	}
	return rule == event.RuleCrash || rule == event.RuleHang
}

// madePTX are the modules that the front ends of an address make of its file, each with the ptxas, the targets and the
// findings that are meant: a line of the file stands for those of the PTX that was made of it.
func (f *findingFlags) madePTX(ctx context.Context, env *environment, a reduce.Address, all []*toolchain.Toolchain, want string) ([]place, error) {
	sub := *env
	sub.settings.toolchains, sub.settings.targets = or(a.Toolchain, env.settings.toolchains), or(a.Target, env.settings.targets)
	fronts := newFrontRun(&sub, f.frontFlags, "")
	modules, err := fronts.read(ctx, a.Test)
	if err != nil {
		return nil, err
	}
	var out []place
	for _, m := range slices.Backward(modules) {
		own := fronts.of[m]
		if own.Failed != nil {
			return nil, own.Failed
		}
		p := place{module: m, targets: own.Targets, wants: []string{want}}
		for _, pair := range own.Toolchains {
			at := slices.IndexFunc(all, func(tc *toolchain.Toolchain) bool { return strings.HasSuffix(pair.ID, " + "+tc.ID) })
			if at >= 0 {
				p.toolchains = append(p.toolchains, all[at])
			}
		}
		if line, err := strconv.Atoi(want); err == nil {
			if p.wants = linesOf(m, a.Test, line); len(p.wants) == 0 {
				return nil, fmt.Errorf("%s: no PTX was made of line %d", a.Test, line)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// linesOf are the lines of PTX that were made of a line of a file.
func linesOf(m *ptx.Module, file string, line int) (out []string) {
	for _, fn := range m.Funcs {
		for _, st := range fn.Body {
			if in := st.Inst; in != nil && in.Loc.Line == line && filepath.Base(in.Loc.File) == filepath.Base(file) {
				if s := strconv.Itoa(in.Pos.Line); !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// place is where a finding in PTX is looked for.
type place struct {
	module     *ptx.Module
	toolchains []*toolchain.Toolchain
	targets    []string
	wants      []string // rules or lines of the PTX
}

// findIn looks for a finding in some places, and returns the first that is there.
func findIn(ctx context.Context, places []place, levels []string) (*reduce.KernelFinding, error) {
	var last error
	for _, p := range places {
		for _, want := range p.wants {
			found, err := reduce.Find(ctx, p.module, want, p.toolchains, p.targets, levels)
			if err == nil || !errors.Is(err, reduce.ErrNotThere) && !errors.Is(err, reduce.ErrUndecided) {
				return found, err
			}
			last = err
		}
	}
	return nil, last
}

// inPTX are the places of a finding in a file of PTX.
func (f *findingFlags) inPTX(ctx context.Context, env *environment, a reduce.Address, all []*toolchain.Toolchain, want string) ([]place, error) {
	line, _ := strconv.Atoi(want) // 0 if it is a rule
	m, err := readPTX(a.Test, line)
	if err != nil {
		return nil, err
	}
	p := place{module: m, toolchains: all, targets: or(a.Target, env.settings.targets), wants: []string{want}}
	if names := or(a.Toolchain, env.settings.toolchains); len(names) > 0 {
		if p.toolchains, err = env.named(ctx, all, names...); err != nil {
			return nil, err
		}
	}
	if len(p.targets) == 0 {
		p.targets = []string{oldestTarget(m)}
	}
	return []place{p}, nil
}

// oldestTarget is the oldest target of an audit that a module is for.
func oldestTarget(m *ptx.Module) string {
	for _, t := range realcode.Targets {
		if target.Compare(strings.TrimRight(m.Target, "af"), t) <= 0 {
			return t
		}
	}
	return m.Target
}
