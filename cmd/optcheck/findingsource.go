package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"optcheck/bug"
	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/internal/whole"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// sourceFinding finds the crash or hang of a compiler at a file of CUDA C++, and lists all toolchains of that language.
func (f *findingFlags) sourceFinding(ctx context.Context, env *environment, a reduce.Address) (*reduce.SourceFinding,
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

// smallestSource reduces a crash at CUDA C++, with progress, and looks for it in other releases.
func (f *findingFlags) smallestSource(ctx context.Context, env *environment, find *reduce.SourceFinding, none, noWhere bool,
	all []*toolchain.Toolchain) (*reduce.SourceResult, *reduce.Where, error) {
	o := reduce.KernelOptions{Jobs: env.settings.jobs, Limit: f.limit, Whole: none}
	if !f.quiet {
		o.Progress = func(r reduce.Round) {
			env.tell("round %d: %s, %d %s the finding; now %s", r.Number, plain.Count(r.Candidates, "candidate"), r.Kept,
				plain.Form(r.Kept, "keeps", "keep"), plain.Count(r.Instrs, "word"))
		}
	}
	res, err := reduce.RunSource(ctx, find, o)
	if err != nil {
		return nil, nil, err
	}
	if res.Stopped {
		env.tell("stopped after %v: there may be a smaller file", f.limit)
	}
	if noWhere {
		return res, nil, nil
	}
	where, err := reduce.LocateSource(ctx, &res.Min, all)
	return res, where, err
}

// reducedSource is the JSON form of a reduction of CUDA C++.
type reducedSource struct {
	Finding    string                 `json:"finding"`
	Address    string                 `json:"address"` // of the smallest
	Signature  reduce.KernelSignature `json:"signature"`
	Program    string                 `json:"program"` // CUDA C++
	Crash      *event.Finding         `json:"crash"`
	Steps      []string               `json:"steps"`
	Stopped    bool                   `json:"stopped,omitempty"` // by --for
	Rounds     int                    `json:"rounds"`
	Candidates int                    `json:"candidates"`
	Where      *reduce.Where          `json:"where,omitempty"`
}

// reduceSource reduces a crash at CUDA C++.
func reduceSource(ctx context.Context, env *environment, f *reduceFlags, a reduce.Address) error {
	find, all, err := f.sourceFinding(ctx, env, a)
	if f.check {
		if errors.Is(err, reduce.ErrNotThere) {
			env.tell("%v", err)
			return errFound
		}
		if err == nil {
			fmt.Fprintf(env.text, "%s: %s\n", plain.Line(find.Address()), find.Signature.Class)
		}
		return err
	}
	if err != nil {
		return err
	}
	res, where, err := f.smallestSource(ctx, env, find, false, f.noWhere, all)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := whole.Write(f.out, []byte(res.Min.Text), 0o666); err != nil {
			return err
		}
	}
	if f.asJSON {
		return env.printJSON(reducedSource{Finding: res.Start.Address(), Address: res.Min.Address(), Signature: res.Min.Signature,
			Program: res.Min.Text, Crash: res.Crash, Steps: res.Steps, Stopped: res.Stopped, Rounds: res.Rounds, Candidates: res.Candidates, Where: where})
	}
	return writeReducedSource(env.text, res, where)
}

func writeReducedSource(w io.Writer, r *reduce.SourceResult, where *reduce.Where) error {
	fmt.Fprintf(w, "%s, %s\n%s: %s\n", plain.Line(r.Min.Address()), r.Min.Signature.Class, r.Crash.Rule, plain.Line(r.Crash.Full()))
	fmt.Fprintf(w, "%s in %s, %s compiled: of %d words %d are left\n\n%s\n", plain.Count(len(r.Steps), "step"), plain.Count(r.Rounds, "round"),
		plain.Count(r.Candidates, "candidate"), r.Whole, r.Left, r.Min.Text)
	if where == nil {
		return nil
	}
	fmt.Fprintf(w, "%s\n", bug.RangeText(where))
	return writePlaces(w, where)
}

// bugSource writes the bundle of a crash at CUDA C++.
func bugSource(ctx context.Context, env *environment, f *bugFlags, a reduce.Address) error {
	find, all, err := f.sourceFinding(ctx, env, a)
	if err != nil {
		return err
	}
	in := &bug.SourceInput{Tool: version(), Host: host(), Stamp: f.stamp}
	if in.Result, in.Where, err = f.smallestSource(ctx, env, find, f.noReduce, false, all); err != nil {
		return err
	}
	b, err := bug.BuildSource(in)
	if err != nil {
		return err
	}
	return f.write(env, b)
}
