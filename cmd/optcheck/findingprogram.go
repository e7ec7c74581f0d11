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
	"optcheck/internal/whole"
	"optcheck/realcode"
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

// smallest reduces a finding in PTX, with progress, and looks for it elsewhere.
func (f *findingFlags) smallest(ctx context.Context, env *environment, find *reduce.KernelFinding, none, noWhere bool,
	all []*toolchain.Toolchain) (*reduce.KernelResult, *reduce.Where, error) {
	o := reduce.KernelOptions{Jobs: env.settings.jobs, Limit: f.limit, Whole: none, Others: all}
	if !f.quiet {
		o.Progress = func(r reduce.Round) {
			env.tell("round %d: %s, %d %s the finding; now %s", r.Number, plain.Count(r.Candidates, "candidate"), r.Kept,
				plain.Form(r.Kept, "keeps", "keep"), plain.Count(r.Instrs, "instruction"))
		}
	}
	res, err := reduce.RunKernel(ctx, find, o)
	if err != nil {
		return nil, nil, err
	}
	if res.Stopped {
		env.tell("stopped after %v: there may be a smaller kernel", f.limit)
	}
	if noWhere {
		return res, nil, nil
	}
	where, err := reduce.LocateKernel(ctx, &res.Min, all, env.settings.jobs)
	return res, where, err
}

// reducedProgram is the JSON form of a reduction of PTX.
type reducedProgram struct {
	Finding    string                 `json:"finding"`
	Address    string                 `json:"address"` // of the smallest
	Signature  reduce.KernelSignature `json:"signature"`
	Program    string                 `json:"program"` // PTX
	Cell       *realcode.Cell         `json:"cell"`
	Steps      []string               `json:"steps"`
	Stopped    bool                   `json:"stopped,omitempty"` // by --for
	Rounds     int                    `json:"rounds"`
	Candidates int                    `json:"candidates"`
	Where      *reduce.Where          `json:"where,omitempty"`
}

// reduceProgram reduces a finding in PTX.
func reduceProgram(ctx context.Context, env *environment, f *reduceFlags, a reduce.Address) error {
	find, all, err := f.program(ctx, env, a)
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
	res, where, err := f.smallest(ctx, env, find, false, f.noWhere, all)
	if err != nil {
		return err
	}
	text := res.Kernel.String()
	if f.out != "" {
		if err := whole.Write(f.out, []byte(text), 0o666); err != nil {
			return err
		}
	}
	if f.asJSON {
		return env.printJSON(reducedProgram{Finding: res.Start.Address(), Address: res.Min.Address(), Signature: res.Min.Signature,
			Program: text, Cell: res.Cell, Steps: res.Steps, Stopped: res.Stopped, Rounds: res.Rounds, Candidates: res.Candidates, Where: where})
	}
	return writeReducedProgram(env.text, res, where)
}

func writeReducedProgram(w io.Writer, r *reduce.KernelResult, where *reduce.Where) error {
	x := r.Finding
	fmt.Fprintf(w, "%s, %s\n%s: ", plain.Line(r.Min.Address()), r.Min.Signature.Class, x.Rule)
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
	fmt.Fprintf(w, "%s in %s, %s compiled: of %d instructions %d are left\n\n%s\n", plain.Count(len(r.Steps), "step"),
		plain.Count(r.Rounds, "round"), plain.Count(r.Candidates, "candidate"), r.Whole.Len(), r.Kernel.Len(), r.Kernel)
	if v := x.Verdict; v != nil {
		fmt.Fprintf(w, "With a partner (%s), as the PTX and as the machine code has it:\n\n%s\n%s\n", v.Pattern, v.Source, v.Machine)
	}
	if where == nil {
		return nil
	}
	fmt.Fprintf(w, "%s\n", bug.RangeText(where))
	return writePlaces(w, where)
}

// bugProgram writes the bundle of a finding in PTX.
func bugProgram(ctx context.Context, env *environment, f *bugFlags, a reduce.Address) error {
	find, all, err := f.program(ctx, env, a)
	if err != nil {
		return err
	}
	in := &bug.KernelInput{Toolchains: all, Tool: version(), Host: host(), Stamp: f.stamp}
	if in.Result, in.Where, err = f.smallest(ctx, env, find, f.noReduce, false, all); err != nil {
		return err
	}
	if find.Signature.Class == event.Crashed {
		b, err := bug.BuildCrash(in)
		if err != nil {
			return err
		}
		return f.write(env, b)
	}
	b, err := bug.BuildKernel(ctx, in)
	if err != nil {
		return err
	}
	if find.Signature.Class != event.Miscompiled {
		env.tell("no litmus test shows what the finding makes possible: the report says so")
	}
	return f.write(env, b)
}
