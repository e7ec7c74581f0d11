package reduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"optcheck/event"
	"optcheck/pipeline"
	"optcheck/realcode"
	"optcheck/target"
	"optcheck/toolchain"
)

// SourceFinding is a crash or hang of a compiler of CUDA C++ at a file. It is the only finding in
// CUDA C++: others are in the PTX that was made of it.
type SourceFinding struct {
	File, Text string
	Toolchain  *toolchain.Toolchain // one with the compiler
	Target     string
	Flags      []string // further arguments of the compiler
	Signature  KernelSignature
}

// frontLevel stands for the level of what is made with front ends, which optimise fully.
const frontLevel = "O3"

// Front is the compiler that the finding is of.
func (f *SourceFinding) Front() toolchain.Compiler { return f.Toolchain.Compilers()[0] }

// Address names the finding: FILE.cu@COMPILER/TARGET/LEVEL:RULE.
func (f *SourceFinding) Address() string {
	return fmt.Sprintf("%s@%s-%s/%s/%s:%s", filepath.Base(f.File), f.Front().Tool, f.Front().Version, f.Target, frontLevel, f.Signature.Rule)
}

// Confirm compiles the file and sets the signature if that is open. If the finding is not there,
// the error wraps ErrNotThere.
func (f *SourceFinding) Confirm(ctx context.Context) (*event.Finding, error) {
	found, err := f.crash(ctx, f.Text, false)
	switch sig := crashOf(found); {
	case errors.Is(err, toolchain.ErrInfrastructure), errors.Is(err, toolchain.ErrTimeout):
		return nil, err
	case err != nil && found == nil:
		return nil, fmt.Errorf("%w: %s %s refuses the file: %w", ErrNotThere, f.Front().Tool, f.Front().Version, err)
	case found == nil:
		return nil, fmt.Errorf("%w: %s %s compiles %s for %s", ErrNotThere, f.Front().Tool, f.Front().Version, f.File, f.Target)
	case f.Signature == KernelSignature{}:
		f.Signature = sig
	case f.Signature != sig:
		return nil, fmt.Errorf("%w: %s %s crashes otherwise at %s: %s", ErrNotThere, f.Front().Tool, f.Front().Version, f.File, found.Detail)
	}
	return found, nil
}

// crash compiles a text in the place of the file, and returns the crash, and what the compiler says that
// does not crash. once is enough for candidates: the smallest is confirmed.
func (f *SourceFinding) crash(ctx context.Context, text string, once bool) (*event.Finding, error) {
	res, err := f.Toolchain.CompileCUDA(ctx, toolchain.CUDAJob{Folder: filepath.Dir(f.File), Confined: true, Job: toolchain.Job{Target: f.Target,
		Flags: f.Flags, OneTry: once, Units: []toolchain.Unit{{Name: f.File, Text: text}}}})
	if err != nil || ctx.Err() != nil {
		return nil, cmp.Or(err, ctx.Err())
	}
	err = res.Failed[0]
	if x := pipeline.Crash(err, 0, nil); x != nil {
		return x, nil
	}
	return nil, err
}

// FindSource looks for a crash in the given places, front ends from the newest on, and returns the
// first. The error wraps ErrNotThere if there is none.
func FindSource(ctx context.Context, file, text string, flags []string, rule string, tcs []*toolchain.Toolchain,
	targets []string) (*SourceFinding, error) {
	var last error
	for _, tc := range slices.Backward(fronts(tcs)) {
		for _, t := range targets {
			f := &SourceFinding{File: file, Text: text, Toolchain: tc, Target: t, Flags: flags}
			found, err := f.Confirm(ctx)
			switch {
			case err == nil && (rule == "" || found.Rule == rule):
				return f, nil
			case err != nil && !errors.Is(err, ErrNotThere):
				return nil, err
			}
			last = cmp.Or(err, last)
		}
	}
	return nil, cmp.Or(last, ErrNotThere)
}

// fronts are toolchains with a front end, one of each.
func fronts(tcs []*toolchain.Toolchain) (out []*toolchain.Toolchain) {
	for _, tc := range tcs {
		if !slices.ContainsFunc(out, func(x *toolchain.Toolchain) bool { return x.Kind == tc.Kind }) {
			out = append(out, tc)
		}
	}
	return out
}

// SourceResult is a crash at a file and the smallest text found for it.
type SourceResult struct {
	Start, Min  SourceFinding
	Crash       *event.Finding // of Min
	Whole, Left int            // tokens of Start and of Min
	Effort
}

// RunSource reduces the text of a crash, which must be there, by the compiler alone: lines go, then
// statements and what stands in brackets, then words. Of o it takes Jobs, Limit, Whole and Progress.
func RunSource(ctx context.Context, f *SourceFinding, o KernelOptions) (*SourceResult, error) {
	if _, err := f.Confirm(ctx); err != nil {
		return nil, err
	}
	r := &reduction[text]{of: &sourceReducer{o.Jobs, f}, now: readText(f.Text), progress: o.Progress}
	res := &SourceResult{Start: *f, Min: *f, Whole: len(r.now)}
	if !o.Whole {
		if err := r.within(ctx, o.Limit, func(ctx context.Context) error { return parts(ctx, r) }); err != nil {
			return nil, err
		}
	}
	res.Effort, res.Min.Text, res.Left = r.Effort, r.now.String(), len(r.now)
	var err error
	res.Crash, err = res.Min.Confirm(ctx)
	return res, err
}

// parts removes ever smaller parts of a text until nothing is left to do.
func parts(ctx context.Context, r *reduction[text]) error {
	for _, part := range []func(text, int) []textStep{text.lines, text.words} {
		for n := max(1, len(part(r.now, 1))/2); n >= 1; n /= 2 {
			if err := r.rounds(ctx, func(t text) []textStep { return append(part(t, n), t.brackets()...) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// sourceReducer is the subject of a reduction of a text.
type sourceReducer struct {
	jobs int
	f    *SourceFinding
}

func (*sourceReducer) key(t text) string { return t.String() }

func (*sourceReducer) size(t text) (threads, instrs int) { return 1, len(t) }

func (*sourceReducer) after(t text, s textStep) (text, string) {
	left := t.without(s)
	if len(left) == len(t) {
		return nil, ""
	}
	return left, left.String()
}

func (r *sourceReducer) ask(ctx context.Context, list []text) ([]bool, error) {
	holds := make([]bool, len(list))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(r.jobs, runtime.GOMAXPROCS(0)))
	for i, t := range list {
		group.Go(func() error {
			found, _ := r.f.crash(ctx, t.String(), true) // whatever else becomes of it, it is not the crash
			holds[i] = found != nil && crashOf(found) == r.f.Signature
			return ctx.Err()
		})
	}
	return holds, group.Wait()
}

// LocateSource determines which releases of the same compiler have a crash, and on which targets.
func LocateSource(ctx context.Context, f *SourceFinding, all []*toolchain.Toolchain) (*Where, error) {
	w := &Where{}
	own := f.Toolchain.ID
	for _, tc := range fronts(all) {
		c := tc.Compilers()[0]
		if c.Tool != f.Front().Tool {
			continue
		}
		id := c.Tool + " " + c.Version
		if tc.Kind == f.Toolchain.Kind {
			own = id
		}
		w.Releases = append(w.Releases, id)
		targets := append(slices.Clone(realcode.Targets), f.Target)
		slices.SortFunc(targets, target.Compare)
		for _, t := range slices.Compact(targets) {
			if !tc.HasTarget(t) {
				continue
			}
			other := *f
			other.Toolchain, other.Target = tc, t
			found, err := other.crash(ctx, f.Text, false)
			p := Place{Toolchain: id, Target: t, Level: frontLevel, Class: "compiled", There: found != nil && crashOf(found) == f.Signature}
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case found != nil:
				p.Class, p.Rules = event.Crashed, []string{found.Rule}
			case errors.Is(err, toolchain.ErrCompile):
				p.Class, p.Reason = "refused", firstWords(err)
			case err != nil:
				p.Class, p.Reason = event.Unknown, firstWords(err)
			}
			w.Places = append(w.Places, p)
		}
	}
	w.Range = w.rangeOf(own, f.Target, frontLevel)
	return w, nil
}

func firstWords(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}
