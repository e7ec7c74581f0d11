package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"optcheck/audit"
	campaigns "optcheck/audit/campaign"
	"optcheck/audit/device"
	"optcheck/internal/input"
	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/ptxgen/named"
	"optcheck/target"
	"optcheck/toolchain"
)

// resolve makes a path of a campaign file absolute.
func resolve(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// forPart returns an environment whose settings are a campaign's for one of
// its vendors, and nobody else's: what a task does must not depend on where it
// is done.
func (env *environment) forPart(s *campaigns.Spec, vendor, source string, dirs []string) *environment {
	sub := *env
	sub.origins = nil
	sub.settings = settings{vendor: vendor, source: source, toolchainDirs: slices.Concat(env.settings.toolchainDirs, dirs),
		levels: s.Levels, layouts: s.Layouts,
		jobs: s.Jobs, timeout: cmp.Or(string(s.Timeout), fmt.Sprint(defaults["timeout"])), disassembler: fmt.Sprint(defaults["disassembler"])}
	return &sub
}

// sourceFor is what a vendor's kernels are written in.
func sourceFor(s *campaigns.Spec, vendor string) string {
	for _, r := range pipeline.Roads {
		if r.Vendor == vendor && r.Source == s.Source {
			return s.Source
		}
	}
	return ""
}

// planCampaign makes the plan of a campaign file in dir, and its tests.
func planCampaign(ctx context.Context, env *environment, s *campaigns.Spec, dir string) (*campaigns.Plan, [][]campaigns.Test, error) {
	build, err := buildID()
	if err != nil {
		return nil, nil, err
	}
	p := &campaigns.Plan{Tool: version(), Build: build, Spec: s, Store: resolve(dir, s.Store)}
	for _, f := range s.Known {
		p.Known = append(p.Known, resolve(dir, f))
	}
	for i, d := range s.ToolchainDirs {
		s.ToolchainDirs[i] = resolve(dir, d)
	}
	if f := resolve(dir, s.Model); s.Model != "" && exists(f) {
		s.Model = f
	}
	var tests [][]campaigns.Test
	found := map[string]bool{}
	var errs []error
	for _, v := range s.Vendors {
		part, some, err := planPart(ctx, env, s, v, dir, found)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.Parts = append(p.Parts, *part)
		p.Cells += part.Cells
		tests = append(tests, some)
	}
	for _, name := range append(slices.Clone(s.Toolchains), s.Targets...) {
		if !found[name] && len(errs) == 0 {
			errs = append(errs, fmt.Errorf("no compiler is, or knows, %q (optcheck toolchain list)", name))
		}
	}
	if g := s.GPU; g != nil && g.Target != "" {
		c, err := deviceCompiler(ctx, env, s)
		if err != nil {
			errs = append(errs, fmt.Errorf("gpu: %w", err))
		} else {
			p.Compiler = c.Tool.ID
		}
	}
	return p, tests, errors.Join(errs...)
}

// deviceCompiler finds the compiler for a campaign's device.
func deviceCompiler(ctx context.Context, env *environment, s *campaigns.Spec) (*device.Compiler, error) {
	f := runFlags{toolchain: s.GPU.Toolchain, level: s.GPU.Level}
	return f.compilerFor(ctx, env.forPart(s, target.NVIDIA, "", s.ToolchainDirs), s.GPU.Target)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// planPart is the part of one vendor. It notes in found which names of
// toolchains and targets mean something.
func planPart(ctx context.Context, env *environment, s *campaigns.Spec, vendor, dir string, found map[string]bool) (*campaigns.Part,
	[]campaigns.Test, error) {
	sub := env.forPart(s, vendor, sourceFor(s, vendor), s.ToolchainDirs)
	tests, err := campaignTests(sub, s.Tests, dir)
	if err != nil {
		return nil, nil, err
	}
	o := audit.Options{}
	for _, t := range tests {
		o.Tests = append(o.Tests, t.Test)
	}
	if err := matrix(ctx, sub, &o); err != nil {
		return nil, nil, err
	}
	o.Source = sub.settings.kernels()
	o.Toolchains = picked(o.Toolchains, s.Toolchains, found)
	o.Toolchains = thatCompile(env, o.Toolchains, o.Source)
	if len(s.Targets) > 0 {
		o.Targets = nil
		for _, t := range s.Targets {
			if slices.ContainsFunc(o.Toolchains, func(tc *toolchain.Toolchain) bool { return tc.HasTarget(t) }) {
				found[t] = true
				o.Targets = append(o.Targets, t)
			}
		}
		if len(o.Targets) == 0 {
			return nil, nil, fmt.Errorf("vendor %s: no compiler found knows any of the targets %s", vendor, strings.Join(s.Targets, ", "))
		}
	}
	o.Model, o.NoVerdict, o.Flags, o.Execute = s.Model, s.NoVerdict, s.Flags, executions(s)
	cfg, err := o.Config()
	if err != nil {
		return nil, nil, fmt.Errorf("vendor %s: %w", vendor, err)
	}
	return &campaigns.Part{Vendor: vendor, Toolchains: cfg.Toolchains, Targets: cfg.Targets, Levels: cfg.Levels,
		Layouts: cfg.Layouts, Source: cfg.Source,
		Model: cfg.Model, Cells: cfg.Cells}, tests, nil
}

// picked are the toolchains that names mean; all of them if there are no names.
func picked(all []*toolchain.Toolchain, names []string, found map[string]bool) []*toolchain.Toolchain {
	if len(names) == 0 {
		return all
	}
	var out []*toolchain.Toolchain
	for _, n := range names {
		some, err := toolchain.Find(all, n)
		if err != nil {
			continue // perhaps of another vendor
		}
		found[n] = true
		for _, tc := range some {
			if !slices.Contains(out, tc) {
				out = append(out, tc)
			}
		}
	}
	return out
}

// campaignTests reads the tests of a campaign file in dir.
func campaignTests(env *environment, sources []campaigns.Tests, dir string) ([]campaigns.Test, error) {
	if len(sources) == 0 {
		sources = []campaigns.Tests{{Name: named.Corpus}}
		if !env.settings.amd() {
			for _, p := range dailyPresets {
				sources = append(sources, campaigns.Tests{Preset: p})
			}
		}
	}
	var all []*litmus.Test
	for _, s := range sources {
		var some []*litmus.Test
		var err error
		switch {
		case s.Name != "":
			name := s.Name
			if f := filepath.Join(dir, name); !filepath.IsAbs(name) && exists(f) {
				name = f // as the user would write it: it is in reports
			}
			some, err = loadTestsFor(env, []string{name})
		case s.Gen != "":
			some, err = generated(env, resolve(dir, s.Gen))
		default:
			some, err = generated(env, s.Preset)
		}
		if err != nil {
			return nil, err
		}
		if s.Limit > 0 && len(some) > s.Limit {
			some = some[:s.Limit]
		}
		all = append(all, some...)
	}
	all, err := unique(env, all)
	if err != nil {
		return nil, err
	}
	if err := env.strict(checkTests(all)); err != nil { // a plan is complete or none
		return nil, err
	}
	out := make([]campaigns.Test, len(all))
	for i, t := range all {
		out[i].Test = t
		if out[i].Preset, out[i].File = env.origin(t); out[i].File == "" {
			continue
		}
		text, err := input.ReadFile(out[i].File, litmus.MaxFileBytes)
		if err != nil {
			return nil, err
		}
		out[i].Source = string(text)
	}
	return out, nil
}
