package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"optcheck/bug"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// inSource finds the crash or hang of a compiler at a file of CUDA C++, and lists all toolchains of that language.
func (f *findingFlags) inSource(ctx context.Context, env *environment, a reduce.Address) (*reduce.SourceFinding,
	[]*toolchain.Toolchain, error) {
	text, err := input.ReadFile(a.Test, ptx.MaxInput)
	if err != nil {
		return nil, nil, err
	}
	all, err := discoverAll(ctx, env.forSource(pipeline.CUDA))
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, errNoFront
	}
	tcs := all
	if names := or(a.Toolchain, env.settings.toolchains); len(names) > 0 {
		if tcs, err = env.forSource(pipeline.CUDA).named(ctx, all, names...); err != nil {
			return nil, nil, err
		}
	}
	targets := or(a.Target, env.settings.targets)
	if len(targets) == 0 {
		targets = realcode.Targets
	}
	tcs = slices.DeleteFunc(slices.Clone(tcs), func(tc *toolchain.Toolchain) bool { return !slices.ContainsFunc(targets, tc.HasTarget) })
	if len(tcs) == 0 {
		return nil, nil, fmt.Errorf("no such toolchain knows target %q", targets[0])
	}
	find, err := reduce.FindSource(ctx, a.Test, string(text), f.frontFlags, cmp.Or(f.finding, a.Rule, f.rule), tcs, targets)
	return find, all, err
}

// sourceFinding is the crash or hang of a compiler at CUDA C++.
type sourceFinding struct {
	f    *findingFlags
	at   reduce.Address
	find *reduce.SourceFinding
	all  []*toolchain.Toolchain
	res  *reduce.SourceResult
}

func (s *sourceFinding) look(ctx context.Context, env *environment) (err error) {
	s.find, s.all, err = s.f.inSource(ctx, env, s.at)
	return err
}

func (s *sourceFinding) address() string { return s.find.Address() }

func (s *sourceFinding) class(context.Context, *environment) (string, error) {
	return s.find.Signature.Class, nil
}

func (s *sourceFinding) smallest(ctx context.Context, env *environment, whole bool) (err error) {
	o := reduce.KernelOptions{Jobs: env.settings.jobs, Limit: s.f.limit, Whole: whole}
	o.Progress = s.f.progress(env, func(r reduce.Round) string { return plain.Count(r.Instrs, "word") })
	if s.res, err = reduce.RunSource(ctx, s.find, o); err == nil && s.res.Stopped {
		env.tell("stopped after %v: there may be a smaller file", s.f.limit)
	}
	return err
}

func (s *sourceFinding) locate(ctx context.Context, _ *environment) (*reduce.Where, error) {
	return reduce.LocateSource(ctx, &s.res.Min, s.all)
}

func (s *sourceFinding) reduced(*environment) (*reducedFinding, []byte, error) {
	r := s.res
	return &reducedFinding{Finding: r.Start.Address(), Address: r.Min.Address(), Signature: r.Min.Signature,
		Program: r.Min.Text, Crash: r.Crash, Effort: r.Effort}, []byte(r.Min.Text), nil
}

func (s *sourceFinding) print(w io.Writer, out *reducedFinding) {
	r := s.res
	fmt.Fprintf(w, "%s, %s\n%s: %s\n", plain.Line(out.Address), r.Min.Signature.Class, r.Crash.Rule, plain.Line(r.Crash.Full()))
	fmt.Fprintf(w, "%s: of %d words %d are left\n\n%s\n", effort(&out.Effort), r.Whole, r.Left, r.Min.Text)
}

func (s *sourceFinding) bundle(
	_ context.Context, _ *environment, f *bugFlags, where *reduce.Where,
) (b *bug.Bundle, note string, err error) {
	b, err = bug.BuildSource(&bug.SourceInput{Result: s.res, Where: where, Tool: version(), Host: host(), Stamp: f.stamp})
	return b, "", err
}
