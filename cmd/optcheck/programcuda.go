package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/whole"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/target"
	"optcheck/toolchain"
)

func isCUDA(file string) bool { return filepath.Ext(file) == ".cu" }

// frontRun makes PTX of files of CUDA C++.
type frontRun struct {
	env   *environment
	flags []string
	// asWritten has them optimise nothing.
	asWritten bool
	keep      string                       // folder for the PTX, "" for none
	of        map[*ptx.Module]realcode.Own // which toolchains and targets a module is for
	kept      map[string]bool              // names of files in that folder
	// origin is what a module was made of.
	origin map[*ptx.Module]realcode.Origin

	lacks   map[string]bool        // what was said of targets that are left out
	pairs   []*toolchain.Toolchain // front ends, each with each ptxas; nil until they are needed
	targets []string               // those that are audited, ascending
}

// newFrontRun takes further flags for the front ends, and the folder that keeps the PTX ("": none does).
func newFrontRun(env *environment, flags []string, keep string) *frontRun {
	return &frontRun{env: env, flags: flags, keep: keep, of: map[*ptx.Module]realcode.Own{}, kept: map[string]bool{},
		origin: map[*ptx.Module]realcode.Origin{}, lacks: map[string]bool{}}
}

// errNoFront is that nothing compiles CUDA C++, or not what is asked for.
var errNoFront = errors.New("no compiler of CUDA C++ was found; optcheck toolchain install nvcc-12.4 gets one")

// severalArguments is what a value has that is more than one argument.
var severalArguments = regexp.MustCompile(`^-\S+ |\s-`)

// frontError is an error of the search, which is for no file to bear.
type frontError struct{ error }

func (e *frontError) Is(target error) bool { return target == errNoFront }
func (e *frontError) Unwrap() error        { return e.error }

func (r *frontRun) find(ctx context.Context) error {
	if r.pairs != nil {
		return nil
	}
	for _, f := range r.flags {
		if severalArguments.MatchString(f) {
			return &frontError{fmt.Errorf("--front-flags %q: arguments are separated by commas (-Iinclude,-DN=4)", f)}
		}
	}
	var err error
	if r.pairs, err = discover(ctx, r.env.forSource(pipeline.CUDA)); err != nil {
		return &frontError{err}
	}
	if len(r.pairs) == 0 {
		return errNoFront
	}
	if _, err := pipeline.Places(r.pairs, pipeline.CUDA, r.env.settings.targets, r.env.settings.levels); err != nil {
		return &frontError{foreignToPTX(err)}
	}
	if r.targets = slices.Clone(r.env.settings.targets); len(r.targets) == 0 {
		r.targets = slices.Clone(realcode.Targets)
	}
	slices.SortFunc(r.targets, target.Compare)
	r.targets = slices.Compact(r.targets)
	return nil
}

// read makes modules of a file with each front end. One that refuses the file costs no
// other: the error has all of them.
func (r *frontRun) read(ctx context.Context, file string) ([]*ptx.Module, error) {
	text, err := input.ReadFile(file, ptx.MaxInput)
	if err != nil {
		return nil, err
	}
	if err := r.find(ctx); err != nil {
		return nil, err
	}
	var modules []*ptx.Module
	var refused refusals
	var failed []*notMade
	for first := 0; first < len(r.pairs); {
		last := first
		for last < len(r.pairs) && r.pairs[last].Kind == r.pairs[first].Kind {
			last++
		}
		tcs := r.pairs[first:last]
		first = last
		made, not, err := r.make(ctx, tcs, file, string(text))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			refused.add(tcs[0].Compilers()[0], err)
		}
		failed = append(failed, not...)
		for i := range made {
			m, err := r.module(tcs[0], file, &made[i], len(made) > 1)
			if err != nil {
				refused.add(tcs[0].Compilers()[0], err)
				continue
			}
			modules, r.of[m] = append(modules, m), realcode.Own{Toolchains: tcs, Targets: made[i].targets}
			r.origin[m] = realcode.Origin{File: file, Text: string(text)}
		}
	}
	taken := len(modules) > 0
	for _, x := range failed {
		if refusal := errors.Is(x.err, toolchain.ErrCompile); refusal {
			refused.add(x.tcs[0].Compilers()[0], x.err)
			if !taken { // the file is at fault, or all who read it
				continue
			}
			x.err = fmt.Errorf("%w: %w", realcode.ErrUnsupported, x.err)
		}
		m := &ptx.Module{File: x.name(file)}
		modules, r.of[m] = append(modules, m), realcode.Own{Toolchains: x.tcs, Targets: x.targets, Failed: x.err}
		r.origin[m] = realcode.Origin{File: file, Text: string(text)}
	}
	return modules, refused.err()
}

// notMade is why a front end made nothing of a file for some targets.
type notMade struct {
	tcs     []*toolchain.Toolchain
	targets []string
	err     error
	some    bool // for others it did, or failed otherwise
}

// name is what the program is called in the place of a module.
func (x *notMade) name(file string) string {
	front := x.tcs[0].Compilers()[0]
	name := fmt.Sprintf("%s@%s-%s", file, front.Tool, front.Version)
	if x.some {
		name += "-" + x.targets[0]
	}
	return name
}

// refusals are what front ends say of a file, each sentence once, with who says it.
type refusals struct {
	why []string
	who map[string][]string
}

func (r *refusals) add(front toolchain.Compiler, err error) {
	var e *toolchain.Error
	why := err.Error()
	if errors.As(err, &e) {
		why = cmp.Or(e.Refusal(), why)
	}
	if r.who == nil {
		r.who = map[string][]string{}
	}
	if r.who[why] == nil {
		r.why = append(r.why, why)
	}
	r.who[why] = append(r.who[why], front.Tool+" "+front.Version)
}

func (r *refusals) err() error {
	var errs []error
	for _, why := range r.why {
		errs = append(errs, fmt.Errorf("%s (%s)", why, strings.Join(r.who[why], ", ")))
	}
	return errors.Join(errs...)
}

// madePTX is what a front end made of a file for some targets.
type madePTX struct {
	text    []byte
	targets []string
}

// targetLine names the target that PTX was made for.
var targetLine = regexp.MustCompile(`(?m)^\.target .*$`)

// make makes PTX of a file for each of the targets that the compiler and the file allow: macros may choose other code
// for each. Targets of which it is the same have one, and so have those for which it fails alike. The error is that it
// knows none of them, or that of the context.
func (r *frontRun) make(ctx context.Context, tcs []*toolchain.Toolchain, file, text string) (made []madePTX, not []*notMade, err error) {
	same, alike := map[string]int{}, map[string]*notMade{}
	targets := r.env.leftOut(tcs, r.targets, r.lacks) // the cells of those that lack it are unsupported
	if len(targets) == 0 {
		front := tcs[0].Compilers()[0]
		return nil, nil, fmt.Errorf("%s: %s %s knows none of %s", file, front.Tool, front.Version, strings.Join(r.targets, ", "))
	}
	for _, t := range targets {
		code, failed := r.compile(ctx, tcs[0], file, text, t)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if failed != nil {
			why := failed.Error()
			if alike[why] == nil {
				alike[why] = &notMade{tcs: tcs, err: failed}
				not = append(not, alike[why])
			}
			alike[why].targets = append(alike[why].targets, t)
			continue
		}
		key := string(targetLine.ReplaceAll(code, nil))
		if i, ok := same[key]; ok {
			made[i].targets = append(made[i].targets, t)
			continue
		}
		same[key] = len(made)
		made = append(made, madePTX{code, []string{t}})
	}
	for _, x := range not {
		x.some = len(x.targets) < len(targets)
	}
	return made, not, nil
}

// compile makes PTX of a file for one target.
func (r *frontRun) compile(ctx context.Context, tc *toolchain.Toolchain, file, text, t string) ([]byte, error) {
	res, err := tc.CompileCUDA(ctx, toolchain.CUDAJob{Folder: filepath.Dir(file), Confined: true, AsWritten: r.asWritten, Job: toolchain.Job{Target: t,
		Flags: r.flags, Units: []toolchain.Unit{{Name: file, Text: text}}}})
	if err == nil {
		err = res.Failed[0]
	}
	if err != nil {
		return nil, err
	}
	return res.Batches[0].Text, nil
}

// module reads PTX that was made of a file, and keeps it if that is wanted. several tells that
// there is other PTX of it for other targets.
func (r *frontRun) module(tc *toolchain.Toolchain, file string, made *madePTX, several bool) (*ptx.Module, error) {
	front := tc.Compilers()[0]
	name := fmt.Sprintf("%s@%s-%s", file, front.Tool, front.Version)
	if several {
		name += "-" + made.targets[0]
	}
	if r.keep != "" {
		path := filepath.Join(r.keep, r.unique(filepath.Base(name)))
		if err := errors.Join(os.MkdirAll(r.keep, 0o777), whole.Write(path, made.text, 0o666)); err != nil {
			return nil, err
		}
	}
	return ptx.Parse(name+".ptx", made.text)
}

// unique is the name of a file of PTX that is kept: that of the second one of a name ends with "-2".
func (r *frontRun) unique(name string) string {
	for n := 1; ; n++ {
		file := name + ".ptx"
		if n > 1 {
			file = fmt.Sprintf("%s-%d.ptx", name, n)
		}
		if !r.kept[file] {
			r.kept[file] = true
			return file
		}
	}
}
