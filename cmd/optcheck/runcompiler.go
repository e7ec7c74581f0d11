package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"optcheck/audit/device"
	"optcheck/audit/store"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/runner"
	"optcheck/runner/drive"
	"optcheck/sass/patch"
	"optcheck/spec"
	"optcheck/toolchain"
)

// compiler finds the compiler for a device.
func (f *runFlags) compiler(ctx context.Context, env *environment, s runner.Session) (*device.Compiler, error) {
	target := s.Device().Target
	if f.target != "" {
		target = f.target
	}
	if target == "" && f.cubins != "" {
		return nil, fmt.Errorf("--cubins: %s is no CUDA device and cannot load cubins", s.Device().Name)
	}
	if target == "" && len(f.patch) > 0 {
		return nil, fmt.Errorf("--patch: the machine code of %s is not known", s.Device().Name)
	}
	if target == "" {
		layout, err := f.harnessLayout()
		return &device.Compiler{Maker: pipeline.NewOpenCLMaker(s), Level: f.level, Layout: layout}, err
	}
	c, err := f.compilerFor(ctx, env, target)
	if err != nil {
		return nil, err
	}
	switch {
	case f.cubins != "":
		stored, err := f.readCubins(ctx, target)
		if err != nil {
			return nil, err
		}
		c.Maker, err = pipeline.NewStoredMaker(c.Tool, target, f.level, stored)
		return c, err
	case f.toolchain == byDriver:
		c.Maker, err = pipeline.NewDriverMaker(c.Tool, target, f.level, s)
	}
	return c, err
}

// harnessLayout is the layout of harness kernels.
func (f *runFlags) harnessLayout() (spec.Layout, error) {
	l, err := spec.ParseLayout(cmp.Or(f.layout, spec.Pointers.String()))
	if err == nil && l != spec.Pointers && l != spec.Adjacent {
		err = fmt.Errorf("layout %v is for audits; kernels that run have pointers or adjacent", l)
	}
	if err != nil {
		return l, fmt.Errorf("--layout: %w", err)
	}
	return l, nil
}

// byDriver is what --toolchain calls the driver's own compiler.
const byDriver = "driver"

// compilerFor finds the compiler for a target.
func (f *runFlags) compilerFor(ctx context.Context, env *environment, target string) (*device.Compiler, error) {
	layout, err := f.harnessLayout()
	if err != nil {
		return nil, err
	}
	c := &device.Compiler{Target: target, Level: f.level, Layout: layout}
	for _, text := range f.patch {
		e, err := patch.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--patch %w", err)
		}
		c.Patch = append(c.Patch, e)
	}
	all, errs := toolchain.Discover(ctx, toolchain.Options{Dirs: env.settings.toolchainDirs, Env: env.getenv,
		Runner: toolchain.NewRunner(0, time.Minute)})
	for _, e := range errs {
		env.tell("%v", e)
	}
	if f.toolchain != "" && f.toolchain != byDriver {
		var err error
		if all, err = env.named(ctx, all, f.toolchain); err != nil {
			return nil, err
		}
	}
	for _, t := range all {
		if t.Nvdisasm != "" && t.HasTarget(c.Target) && (c.Tool == nil || toolchain.CompareVersions(t.Version, c.Tool.Version) > 0) {
			c.Tool = t
		}
	}
	if c.Tool == nil {
		return nil, fmt.Errorf("no compiler with a disassembler for %s found (optcheck toolchain list)", c.Target)
	}
	return c, nil
}

// writeCubins compiles for another machine.
func (f *runFlags) writeCubins(ctx context.Context, env *environment, tests []*litmus.Test) (err error) {
	if f.target == "" {
		return errors.New("--save-cubins needs --target")
	}
	c, err := f.compilerFor(ctx, env, f.target)
	if err != nil {
		return err
	}
	if n := len(strings.Split(f.across.devices, ",")); n > 1 {
		if tests, _, err = divided(tests, n); err != nil {
			return err
		}
	}
	if storeName(f.saveCubins) {
		return f.storeCubins(ctx, env, c, tests)
	}
	fh, err := input.Create(f.saveCubins)
	if err != nil {
		return err
	}
	n, err := pipeline.WriteCubins(ctx, c.Tool, c.Target, c.Level, c.Layout, tests, fh)
	if err = errors.Join(err, fh.Close()); err != nil {
		return err
	}
	env.tell("%s by %s for %s in %s", plain.Count(n, "kernel"), c.Tool.ID, c.Target, f.saveCubins)
	return nil
}

// storeName tells whether a file is a store, or would be one.
func storeName(file string) bool {
	return store.Is(file) || !exists(file) && (strings.HasSuffix(file, ".store") || strings.HasSuffix(file, ".db"))
}

// storeCubins compiles for another machine, into a store.
func (f *runFlags) storeCubins(ctx context.Context, env *environment, c *device.Compiler, tests []*litmus.Test) (err error) {
	s, err := storeAt(ctx, f.saveCubins, store.Create)
	if err != nil {
		return err
	}
	defer func() { err = s.End(err) }()
	part := f.shard
	if part == "" {
		part = "1/1"
	}
	n, err := c.StoreCubins(ctx, s, part, tests)
	if err == nil {
		env.tell("%s by %s for %s in %s", plain.Count(n, "kernel"), c.Tool.ID, c.Target, f.saveCubins)
	}
	return err
}

// readCubins reads the cubins that --cubins names.
func (f *runFlags) readCubins(ctx context.Context, target string) (_ *pipeline.Cubins, err error) {
	if err := expect(f.cubins, wantCubins); err != nil {
		return nil, err
	}
	if store.Is(f.cubins) {
		s, err := storeAt(ctx, f.cubins, store.Read)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		return device.StoredCubins(ctx, s, target, f.level, f.compiledBy)
	}
	fh, err := input.Open(f.cubins)
	if err != nil {
		return nil, err
	}
	defer fh.Close()
	st, err := fh.Stat()
	if err != nil {
		return nil, err
	}
	c, err := pipeline.ReadCubins(fh, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.cubins, err)
	}
	return c, nil
}

// profiled applies the profile of --profile.
func (f *runFlags) profiled(d runner.Device, t *drive.Tuning) error {
	fh, err := input.Open(f.useProfile)
	if err != nil {
		return err
	}
	defer fh.Close()
	p, err := drive.ReadProfile(fh)
	if err != nil {
		return fmt.Errorf("%s: %w", f.useProfile, err)
	}
	if p.Device != d.Name {
		return fmt.Errorf("%s was tuned for %s; this is %s (optcheck tune makes one for it)", f.useProfile, p.Device, d.Name)
	}
	f.usedProfile = p
	return p.Apply(t)
}

// tuning applies --profile and --tune to the device's defaults.
func (f *runFlags) tuning(d runner.Device) (drive.Tuning, error) {
	t := drive.DefaultTuning(d)
	if f.useProfile != "" {
		if err := f.profiled(d, &t); err != nil {
			return t, err
		}
	}
	for _, kv := range f.tune {
		if err := t.Keep(kv); err != nil {
			return t, fmt.Errorf("--tune: %w", err)
		}
	}
	return t, nil
}
