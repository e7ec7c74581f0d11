package main

import (
	"context"
	"runtime"
	"strings"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/pipeline"
	"optcheck/ptxgen/named"
	"optcheck/toolchain"
)

// testRun is an audit of litmus tests.
type testRun struct {
	env  *environment
	f    *auditFlags
	args []string
	o    audit.Options
}

func (r *testRun) memory() int64 { return testMemory() }

func (r *testRun) read(ctx context.Context) (err error) {
	r.o, err = r.f.options(ctx, r.env, r.args)
	return err
}

func (r *testRun) store(ctx context.Context, path string) (*auditStore, error) {
	return openStore(ctx, r.env, path, r.f.artefacts, &r.o)
}

func (r *testRun) run(ctx context.Context, h event.Handler, bar *progress) error {
	r.o.Progress = bar.update
	return audit.Run(ctx, r.o, h)
}

// brief: but for pages, which compare the toolchains of a run, nobody looks at what is preserved.
func (r *testRun) brief() bool { return r.f.html == "" }

// empty: a part of the matrix may have no cells, and is reported on like any other.
func (r *testRun) empty(err error) bool {
	part := r.f.shard != "" && err == nil
	if part {
		r.env.tell("part %s of the matrix has no cells", r.f.shard)
	}
	return part
}

func (r *testRun) lacking(*event.Run) error { return nil }

// testMemory is the limit for audits of tests: 640 MiB and 64 MiB for each core.
func testMemory() int64 { return 640<<20 + int64(runtime.GOMAXPROCS(0))<<26 }

// dailyPresets are audited beside the corpus where nothing else is said.
var dailyPresets = []string{"quick", "opportunities-quick"}

// tests gathers the tests that are named, and generated ones.
func (f *auditFlags) tests(env *environment, args []string) (*audit.Packed, error) {
	list, err := newTestList(env)
	if err != nil {
		return nil, err
	}
	if f.gen == "" || len(args) > 0 {
		if err := eachTest(env, argsFor(env, args), list.add); err != nil {
			return nil, err
		}
	}
	var presets []string
	switch {
	case f.gen != "":
		presets = []string{f.gen}
	case len(args) == 0 && !env.settings.amd():
		presets = dailyPresets
	}
	for _, gen := range presets {
		g, err := generatorOf(env, gen)
		if err != nil {
			return nil, err
		}
		for t := range g.Tests() {
			if err := list.add(named.Origin{Preset: gen}, t); err != nil {
				return nil, err
			}
		}
	}
	return list.packed, list.end()
}

// options are those of an audit of tests.
func (f *auditFlags) options(ctx context.Context, env *environment, args []string) (o audit.Options, err error) {
	if o.Packed, err = f.tests(env, args); err != nil {
		return o, err
	}
	if err := matrix(ctx, env, &o); err != nil {
		return o, err
	}
	o.Model, o.NoVerdict, o.Code, o.Hardware = f.model, f.noVerdict, f.keepCode, f.hardware
	o.ControlCodes = f.controlCodes
	o.Execute = int(f.execute)
	o.Source = env.settings.kernels()
	o.Toolchains = thatCompile(env, o.Toolchains, o.Source)
	o.Flags = f.flags
	if o.Shard, err = shardOf(f.shard); err != nil {
		return o, err
	}
	o.Build, err = buildID()
	return o, err
}

// thatCompile leaves out toolchains that do not compile a source, and names them on
// standard error. If none does, they all stay and the audit says why it cannot be done.
func thatCompile(env *environment, tcs []*toolchain.Toolchain, source string) (out []*toolchain.Toolchain) {
	var left []string
	for _, tc := range tcs {
		if _, err := pipeline.Of(tc, source); err != nil {
			left = append(left, tc.ID+" is left out: it"+strings.TrimPrefix(err.Error(), tc.ID))
			continue
		}
		out = append(out, tc)
	}
	if len(out) == 0 {
		return tcs
	}
	for _, l := range left {
		env.tell("%s", l)
	}
	return out
}
