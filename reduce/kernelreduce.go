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
	Effort
}

// RunKernel reduces a finding in real PTX, which must be there. The result has a finding with
// the same signature, by a judgement of its own. It is 1-minimal unless it was stopped: the
// finding disappears after any further single step.
func RunKernel(ctx context.Context, f *KernelFinding, o KernelOptions) (*KernelResult, error) {
	_, x, err := f.Confirm(ctx)
	if err != nil {
		return nil, err
	}
	r := &kernelReducer{o: o, f: f, res: &KernelResult{Start: *f, Min: *f}}
	r.reduction = &reduction[*Kernel]{of: r, progress: o.Progress}
	if r.now, err = r.alone(ctx, x); err != nil {
		return nil, err
	}
	r.res.Whole = r.now
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	if !o.Whole {
		if err := r.within(ctx, o.Limit, func(ctx context.Context) error { return statements(ctx, r.reduction) }); err != nil {
			return nil, err
		}
	}
	return r.res, r.finish(ctx)
}

// kernelReducer is the subject of a reduction of a kernel, and that reduction.
type kernelReducer struct {
	o   KernelOptions
	f   *KernelFinding
	res *KernelResult
	kernels
	*reduction[*Kernel]
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
			if holds, err := r.has(ctx, c); err != nil || holds {
				return c, err
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

// statements removes ever smaller stretches of statements, then simplifies single ones, until nothing
// is left to do.
func statements(ctx context.Context, r *reduction[*Kernel]) error {
	for n := max(1, len(r.now.body)/2); n > 1; n = min(n/2, max(1, len(r.now.body)/2)) {
		if err := r.rounds(ctx, func(k *Kernel) []kernelStep { return k.chunks(n) }); err != nil {
			return err
		}
	}
	return r.rounds(ctx, func(k *Kernel) []kernelStep { return append(k.chunks(1), k.fine()...) })
}

// kernels are what all subjects that are kernels have in common.
type kernels struct{}

func (kernels) key(k *Kernel) string { return k.String() }

func (kernels) size(k *Kernel) (threads, instrs int) { return 1, k.Len() }

func (kernels) after(k *Kernel, s kernelStep) (*Kernel, string) { return k.after(s) }

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
	if holds, err := r.has(ctx, named); err == nil && holds {
		r.res.Kernel = named
	}
	r.res.Effort = r.Effort
	m, err := ptx.Parse("min.ptx", []byte(r.res.Kernel.String()))
	if err != nil {
		return fmt.Errorf("the reduced kernel: %w", err)
	}
	r.res.Min.Module, r.res.Min.Want = m, ""
	r.res.Cell, r.res.Finding, err = r.res.Min.Confirm(ctx)
	return err
}
