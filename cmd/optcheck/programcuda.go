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
	keep  string                                 // folder for the PTX, "" for none
	of    map[*ptx.Module][]*toolchain.Toolchain // which toolchains a module is for
	// origin is what a module was made of.
	origin map[*ptx.Module]realcode.Origin

	pairs   []*toolchain.Toolchain // front ends, each with each ptxas; nil until they are needed
	targets []string               // those that are audited, ascending
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
		return &frontError{err}
	}
	if r.targets = slices.Clone(r.env.settings.targets); len(r.targets) == 0 {
		r.targets = slices.Clone(realcode.Targets)
	}
	slices.SortFunc(r.targets, target.Compare)
	return nil
}

// read makes a module of a file with each front end. One that refuses the file costs no
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
	for first := 0; first < len(r.pairs); {
		last := first
		for last < len(r.pairs) && r.pairs[last].Kind == r.pairs[first].Kind {
			last++
		}
		tcs := r.pairs[first:last]
		first = last
		m, err := r.module(ctx, tcs[0], file, string(text))
		if err != nil {
			refused.add(tcs[0].Compilers()[0], err)
			continue
		}
		modules, r.of[m], r.origin[m] = append(modules, m), tcs, realcode.Origin{File: file, Text: string(text)}
	}
	return modules, refused.err()
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

// module makes PTX of a file for the first of the targets that the compiler and the file
// allow.
func (r *frontRun) module(ctx context.Context, tc *toolchain.Toolchain, file, text string) (*ptx.Module, error) {
	front := tc.Compilers()[0]
	var first error
	for _, t := range r.targets {
		if !slices.Contains(tc.Targets, t) {
			continue
		}
		res, err := tc.CompileCUDA(ctx, toolchain.CUDAJob{Folder: filepath.Dir(file), Confined: true, Job: toolchain.Job{Target: t,
			Flags: r.flags,
			Units: []toolchain.Unit{{Name: file, Text: text}}}})
		if err == nil {
			err = res.Failed[0]
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if first != nil {
			r.env.tell("%s: %s %s makes PTX of it for %s, not for an older target", file, front.Tool, front.Version, t)
		}
		name := fmt.Sprintf("%s@%s-%s.ptx", file, front.Tool, front.Version)
		ptxText := res.Batches[0].Text
		if r.keep != "" {
			if err := errors.Join(os.MkdirAll(r.keep, 0o777), whole.Write(filepath.Join(r.keep, filepath.Base(name)), ptxText, 0o666)); err != nil {
				return nil, err
			}
		}
		return ptx.Parse(name, ptxText)
	}
	if first == nil {
		return nil, fmt.Errorf("%s: the compiler knows none of %s", file, strings.Join(r.targets, ", "))
	}
	return nil, first
}
