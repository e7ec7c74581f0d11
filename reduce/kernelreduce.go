package reduce

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"optcheck/event"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/toolchain"
)

// KernelOptions controls a reduction of real PTX.
type KernelOptions struct {
	Jobs int // how many candidates are judged at a time; 0: one a core
	// Limit ends the reduction after some time; what was reached is the result. 0: none.
	Limit time.Duration
	Whole bool // take the kernel as it is, on its own
	// Others are other toolchains. If one makes of the kernel what it should, it does so of the
	// smallest, too.
	Others   []*toolchain.Toolchain
	Progress func(Round) // if not nil, called after every round
}

// KernelResult is a finding in real PTX and the smallest kernel found for it.
type KernelResult struct {
	Start, Min KernelFinding
	// Whole is the kernel of the finding before it was made smaller, on its own; Kernel the
	// smallest. Min.Module is that.
	Whole, Kernel *Kernel
	// Cell and Finding are those of Min.
	Cell    *realcode.Cell
	Finding *realcode.Finding
	Good    *toolchain.Toolchain // one of the others that keeps both kernels as written, nil if there is none
	Steps   []string             // the simplifications taken, in order
	// Stopped tells that the limit ended it: further steps might lead on.
	Stopped            bool
	Rounds, Candidates int
}

// RunKernel reduces a finding in real PTX, which must be there. The result has a finding with
// the same signature, by a judgement of its own. It is 1-minimal unless it was stopped: the
// finding disappears after any further single step.
func RunKernel(ctx context.Context, f *KernelFinding, o KernelOptions) (*KernelResult, error) {
	_, x, err := f.Confirm(ctx)
	if err != nil {
		return nil, err
	}
	r := &kernelReducer{o: o, f: f, seen: map[string]bool{}, res: &KernelResult{Start: *f, Min: *f}}
	if r.now, err = r.alone(ctx, x); err != nil {
		return nil, err
	}
	r.res.Whole = r.now
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.Limit > 0 {
		limited, cancel = context.WithTimeout(ctx, o.Limit)
	}
	defer cancel()
	if !o.Whole {
		err = r.all(limited)
	}
	if r.res.Stopped = err != nil && limited.Err() != nil && ctx.Err() == nil; err != nil && !r.res.Stopped {
		return nil, err
	}
	return r.res, r.finish(ctx)
}

// kernelReducer is the shrinker of kernels.
type kernelReducer struct {
	o    KernelOptions
	f    *KernelFinding
	now  *Kernel
	seen map[string]bool // whether a text has the finding
	res  *KernelResult
}

// alone finds the kernel, on its own, that has the finding: the function that it is in, the
// kernel that calls it, or those without calls of functions that are elsewhere.
func (r *kernelReducer) alone(ctx context.Context, x *realcode.Finding) (*Kernel, error) {
	m := r.f.Module
	names := []string{x.Kernel}
	if r.f.Signature.Class == event.Crashed { // which a compiler does not say of one of its kernels
		names = nil
		for _, f := range m.Funcs {
			if f.Entry {
				names = append(names, f.Name)
			}
		}
	}
	if x.First != nil && x.First.Func != x.Kernel && (x.Second == nil || x.Second.Func == x.First.Func) {
		names = []string{x.First.Func, x.Kernel}
	}
	for _, name := range names {
		f := m.Func(name)
		if f == nil {
			continue
		}
		k := Extract(m, f)
		if toolchain.CompareVersions(k.version, r.f.Toolchain.MaxPTX) > 0 {
			k.version = r.f.Toolchain.MaxPTX
		}
		for _, c := range []*Kernel{k, k.withoutCalls()} {
			list := []*candidateOf[*Kernel]{{test: c}}
			if err := r.try(ctx, list); err != nil {
				return nil, err
			}
			if list[0].holds {
				return c, nil
			}
		}
	}
	return nil, fmt.Errorf("%w in a kernel on its own (%s)", ErrNotThere, strings.Join(names, ", "))
}

// compare chooses the release to compare with: the next newer one that is good, else the next
// older.
func (r *kernelReducer) compare(ctx context.Context) error {
	own := r.f.Toolchain
	newer := func(tc *toolchain.Toolchain) bool { return toolchain.CompareVersions(tc.Version, own.Version) > 0 }
	var list []*toolchain.Toolchain
	for _, tc := range r.o.Others {
		if newer(tc) {
			list = append(list, tc)
		}
	}
	for _, tc := range slices.Backward(r.o.Others) {
		if tc.Version != own.Version && !newer(tc) {
			list = append(list, tc)
		}
	}
	for _, tc := range list {
		if !tc.HasTarget(r.f.Target) {
			continue
		}
		said, err := r.say(ctx, tc, []*Kernel{r.now})
		if err != nil {
			return err
		}
		if kept(said[0]) {
			r.res.Good = tc
			return nil
		}
	}
	return nil
}

// kept reports whether everything is as it was written.
func kept(s said) bool {
	if s.Result == nil {
		return false
	}
	class, _ := s.Class()
	return class == realcode.Preserved
}

// withoutCalls leaves the calls of functions that are elsewhere out.
func (k *Kernel) withoutCalls() *Kernel {
	out, gone := k.clone(), map[int]bool{}
	elsewhere := map[string]bool{}
	for _, d := range k.globals {
		if strings.HasPrefix(d.text, ".extern .func") {
			elsewhere[d.names[0]] = true
		}
	}
	for _, s := range k.body {
		for _, w := range nameWord.FindAllString(s.text, -1) {
			gone[s.id] = gone[s.id] || elsewhere[w]
		}
	}
	if !out.remove(gone) || !out.tidy() || !out.mend() {
		return k
	}
	return out
}

// all removes ever smaller stretches of statements, then simplifies single ones, until nothing
// is left to do.
func (r *kernelReducer) all(ctx context.Context) error {
	for n := max(1, len(r.now.body)/2); n > 1; n = min(n/2, max(1, len(r.now.body)/2)) {
		for again := true; again; {
			var err error
			if again, err = r.round(ctx, r.now.chunks(n)); err != nil {
				return err
			}
		}
	}
	for again := true; again; {
		var err error
		if again, err = r.round(ctx, append(r.now.chunks(1), r.now.fine()...)); err != nil {
			return err
		}
	}
	return nil
}

func (r *kernelReducer) round(ctx context.Context, list []kernelStep) (bool, error) {
	if r.res.Rounds++; r.res.Rounds > maxRounds {
		return false, fmt.Errorf("no end after %d rounds", maxRounds)
	}
	best, info, err := round(ctx, r, r.now, r.now.String(), list)
	if err != nil {
		return false, err
	}
	if best != nil {
		r.now = best.test
		for _, s := range best.steps {
			r.res.Steps = append(r.res.Steps, s.name)
		}
	}
	if info.Number, info.Threads, info.Instrs = r.res.Rounds, 1, r.now.Len(); r.o.Progress != nil {
		r.o.Progress(info)
	}
	return best != nil, nil
}

func (*kernelReducer) after(k *Kernel, s kernelStep) (*Kernel, string) { return k.after(s) }

// after returns a copy after a step, and its text; "" if the step does not apply or the result is not valid.
func (k *Kernel) after(s kernelStep) (*Kernel, string) {
	n := k.clone()
	if !s.apply(n) || !n.tidy() || !n.mend() {
		return nil, ""
	}
	return n, n.String()
}

// finish gives the smallest kernel its names, and audits it alone, as anybody else will.
func (r *kernelReducer) finish(ctx context.Context) error {
	r.res.Kernel = r.now
	named := r.now.named()
	if r.f.Input != nil {
		named = r.now // the names of parameters say what their values are
	}
	if list := []*candidateOf[*Kernel]{{test: named}}; r.try(ctx, list) == nil && list[0].holds {
		r.res.Kernel = named
	}
	m, err := ptx.Parse("min.ptx", []byte(r.res.Kernel.String()))
	if err != nil {
		return fmt.Errorf("the reduced kernel: %w", err)
	}
	r.res.Min.Module, r.res.Min.Want = m, ""
	r.res.Cell, r.res.Finding, err = r.res.Min.Confirm(ctx)
	return err
}
