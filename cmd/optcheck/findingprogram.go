package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"optcheck/audit/values"
	"optcheck/bug"
	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// programAddress reads a FINDING in PTX or CUDA C++: FILE.ptx[@TOOLCHAIN/TARGET/LEVEL][:RULE], or the cell of
// a program in a saved run. ok is false if it is one in a test.
func (f *findingFlags) programAddress(cmd *cobra.Command, env *environment, arg string) (a reduce.Address, ok bool, err error) {
	if a, err = f.named(env, arg); err != nil {
		return a, false, err
	}
	if !isProgram(a.Test) || f.source != "" {
		return a, false, noFlags(cmd, "a finding in a test has no use for it", "finding", "for", "front-flags")
	}
	if a.Layout != "" {
		return a, false, fmt.Errorf("finding %q: a program has no layout", arg)
	}
	flags := findingInProgram
	if isCUDA(a.Test) {
		flags = append([]string{"front-flags"}, flags...)
	}
	if err := onlyFlags(cmd, "a finding in a program has no use for it", flags); err != nil {
		return a, false, err
	}
	if f.limit < 0 {
		return a, false, fmt.Errorf("--for %v: a reduction takes time", f.limit)
	}
	rule := cmp.Or(f.finding, a.Rule, f.rule)
	if _, err := strconv.Atoi(rule); err != nil {
		if err := checkSignature(reduce.Signature{Rule: rule, Class: f.class}); err != nil {
			return a, false, err
		}
	}
	return a, true, nil
}

// findingInProgram are the flags that mean something to a finding in a program.
var findingInProgram = []string{"toolchains", "targets", "levels", "rules", "finding", "classes", "for", "jobs", "timeout", "disassembler", "quiet",
	"check", "json", "no-where", "output", "txtar", "zip", "stamp", "no-reduce"}

// named reads the address that an argument is, or that a cell of a saved run has. One that is none is a test's name.
func (f *findingFlags) named(env *environment, arg string) (a reduce.Address, err error) {
	if kept, ok, err := keptAddress(arg); ok {
		if f.kept = kept; err != nil {
			return a, err
		}
		a = reduce.Address{Test: kept.File, Toolchain: kept.Toolchain, Target: kept.Target, Level: kept.Level, Rule: string(kept.Rule)}
		for p, given := range map[*string][]string{&a.Toolchain: env.settings.toolchains, &a.Target: env.settings.targets, &a.Level: env.settings.levels} {
			if len(given) > 0 {
				*p = "" // the flag says it
			}
		}
		return a, nil
	}
	file, line, rule, saved := savedCell(arg)
	if !saved {
		if a, err = reduce.ParseAddress(arg); err != nil {
			return reduce.Address{}, nil // whoever takes it for a test says what is wrong
		}
		return a, nil
	}
	c, err := f.readCell(env, file, line)
	if err != nil || f.saved == nil || !isProgram(f.saved.File) {
		return a, err
	}
	a = reduce.Address{Test: cmp.Or(f.saved.Origin, f.saved.File), Toolchain: c.Toolchain, Target: c.Target, Level: c.Level}
	at := slices.IndexFunc(c.Findings, func(x event.Finding) bool { return rule == "" || x.Rule == rule })
	if at < 0 {
		return a, fmt.Errorf("%s: %s in %s %s %s is %s: no such finding", arg, c.Test, c.Toolchain, c.Target, c.Level, c.Class)
	}
	a.Rule = c.Findings[at].Rule
	if line := f.saved.LineOf(&c.Findings[at]); line > 0 {
		a.Rule = fmt.Sprint(line)
	}
	return a, nil
}

// keptAddress reads the finding of a folder with a counterexample; ok is false if the argument is none.
func keptAddress(arg string) (f *values.Finding, ok bool, err error) {
	if _, err := os.Stat(filepath.Join(arg, "finding.json")); err != nil {
		return nil, false, nil
	}
	f, err = values.Kept(arg)
	return f, true, err
}

// program finds the finding at an address in PTX, or in that which a front end makes of CUDA C++, and lists all toolchains.
func (f *findingFlags) program(ctx context.Context, env *environment, a reduce.Address) (*reduce.KernelFinding,
	[]*toolchain.Toolchain, error) {
	if _, err := os.Stat(a.Test); err != nil {
		return nil, nil, err
	}
	all, err := discoverAll(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	all = thatCompile(env, all, env.settings.kernels())
	if len(all) == 0 {
		return nil, nil, errors.New("no toolchain found; try: optcheck toolchain install")
	}
	look := f.inPTX
	if isCUDA(a.Test) {
		look = f.madePTX
	}
	places, err := look(ctx, env, a, all, cmp.Or(f.finding, a.Rule, f.rule))
	if err != nil {
		return nil, nil, err
	}
	levels := or(a.Level, env.settings.levels)
	if len(levels) == 0 {
		levels = []string{"O3"}
	}
	var find *reduce.KernelFinding
	if p := places[0]; f.kept != nil && len(p.toolchains) > 0 {
		find = &reduce.KernelFinding{Module: p.module, Toolchain: p.toolchains[len(p.toolchains)-1], Target: p.targets[0], Level: levels[0], Want: a.Rule}
		if err = find.Show(f.kept.Kernel, f.kept.Input); err == nil {
			_, _, err = find.Confirm(ctx)
		}
	} else {
		find, err = findIn(ctx, places, levels)
	}
	if err == nil && f.class == event.Miscompiled && find.Signature.Class != f.class {
		err = fmt.Errorf("%w: %s is %s", reduce.ErrNotThere, find.Address(), find.Signature.Class)
	}
	return find, all, err
}

// or is what an address says, else what the settings do.
func or(said string, set []string) []string {
	if said != "" {
		return []string{said}
	}
	return set
}

// programFinding is a finding in PTX.
type programFinding struct {
	f    *findingFlags
	at   reduce.Address
	find *reduce.KernelFinding
	all  []*toolchain.Toolchain
	res  *reduce.KernelResult
}

func (p *programFinding) look(ctx context.Context, env *environment) (err error) {
	p.find, p.all, err = p.f.program(ctx, env, p.at)
	return err
}

func (p *programFinding) address() string { return p.find.Address() }

func (p *programFinding) class(context.Context, *environment) (string, error) {
	return p.find.Signature.Class, nil
}

func (p *programFinding) smallest(ctx context.Context, env *environment, whole bool) (err error) {
	o := reduce.KernelOptions{Jobs: env.settings.jobs, Limit: p.f.limit, Whole: whole, Others: p.all}
	o.Progress = p.f.progress(env, func(r reduce.Round) string { return plain.Count(r.Instrs, "instruction") })
	if p.res, err = reduce.RunKernel(ctx, p.find, o); err == nil && p.res.Stopped {
		env.tell("stopped after %v: there may be a smaller kernel", p.f.limit)
	}
	return err
}

func (p *programFinding) locate(ctx context.Context, env *environment) (*reduce.Where, error) {
	return reduce.LocateKernel(ctx, &p.res.Min, p.all, env.settings.jobs)
}

func (p *programFinding) reduced(*environment) (*reducedFinding, []byte, error) {
	r := p.res
	text := r.Kernel.String()
	return &reducedFinding{Finding: r.Start.Address(), Address: r.Min.Address(), Signature: r.Min.Signature, Program: text, Cell: r.Cell,
		Effort: r.Effort}, []byte(text), nil
}

func (p *programFinding) print(w io.Writer, out *reducedFinding) {
	r := p.res
	x := r.Finding
	fmt.Fprintf(w, "%s, %s\n%s: ", plain.Line(out.Address), r.Min.Signature.Class, x.Rule)
	if x.First != nil {
		fmt.Fprintf(w, "line %d %s: ", x.First.Pos.Line, plain.Line(x.First.Text))
	}
	if x.Second != nil {
		fmt.Fprintf(w, "and line %d %s: ", x.Second.Pos.Line, plain.Line(x.Second.Text))
	}
	fmt.Fprintf(w, "%s\n", plain.Line(x.Detail))
	if r.Good != nil {
		fmt.Fprintf(w, "%s keeps everything as written, of the kernel as it was found and of this one\n", plain.Line(r.Good.ID))
	}
	fmt.Fprintf(w, "%s: of %d instructions %d are left\n\n%s\n", effort(&out.Effort), r.Whole.Len(), r.Kernel.Len(), r.Kernel)
	if v := x.Verdict; v != nil {
		fmt.Fprintf(w, "With a partner (%s), as the PTX and as the machine code has it:\n\n%s\n%s\n", v.Pattern, v.Source, v.Machine)
	}
}

func (p *programFinding) bundle(
	ctx context.Context, _ *environment, f *bugFlags, where *reduce.Where,
) (b *bug.Bundle, note string, err error) {
	in := &bug.KernelInput{Result: p.res, Where: where, Toolchains: p.all, Tool: version(), Host: host(), Stamp: f.stamp}
	if p.find.Signature.Class == event.Crashed {
		b, err = bug.BuildCrash(in)
		return b, "", err
	}
	if b, err = bug.BuildKernel(ctx, in); p.find.Signature.Class != event.Miscompiled {
		note = "no litmus test shows what the finding makes possible: the report says so"
	}
	return b, note, err
}
