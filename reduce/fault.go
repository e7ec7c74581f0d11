package reduce

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"optcheck/ptx"
	"optcheck/verify"
)

// Fault is something that a kernel itself does wrong, and the launch that shows it.
type Fault struct {
	Module  *ptx.Module
	Kernel  string
	Options verify.Options
	Found   *verify.Finding
	// All are the findings of the kernel: a smaller one has no others.
	All []*verify.Finding
}

// faultReducer is the subject of reductions of kernels with a fault: a smaller one has it if a finding breaks the same rule by the same operations
// for the same reason, and no finding is new.
type faultReducer struct {
	f     *Fault
	args  []verify.Arg // of the parameters p0, p1, …
	steps int64        // that the kernel took with the fault; one that takes many more does not end
	kernels
}

// RunFault takes the kernel of a fault out of its module and removes what the fault does not need; tried is the number of kernels that
// were verified. The limit ends it early, with what is reached then. The parameters of the result are called by their old
// numbers: p0, p1, …
func RunFault(ctx context.Context, f *Fault, limit time.Duration) (k *Kernel, tried int, err error) {
	fn := f.Module.Func(f.Kernel)
	if fn == nil {
		return nil, 0, fmt.Errorf("no kernel %s", f.Kernel)
	}
	r := &faultReducer{f: f, args: slices.Clone(f.Options.Launch.Args)}
	for i := range r.args {
		at := slices.IndexFunc(fn.Params, func(v ptx.Var) bool { return v.Name == r.args[i].Name })
		if at < 0 {
			at = slices.Index(f.Options.Params, r.args[i].Name)
		}
		if n, err := strconv.Atoi(r.args[i].Name); at < 0 && err == nil {
			at = n
		}
		r.args[i].Name = fmt.Sprint("p", at)
	}
	all := &reduction[*Kernel]{of: r, now: Extract(f.Module, fn)}
	if has, err := all.has(ctx, all.now); err != nil || !has {
		return nil, all.Candidates, cmp.Or(err, fmt.Errorf("%w in the kernel on its own", ErrNotThere))
	}
	err = all.within(ctx, limit, func(ctx context.Context) error { return statements(ctx, all) })
	return all.now, all.Candidates, err
}

func (r *faultReducer) ask(ctx context.Context, list []*Kernel) (holds []bool, err error) {
	for _, k := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		holds = append(holds, r.has(k))
	}
	return holds, nil
}

// launch is the launch of the fault, for a smaller kernel: arguments of parameters that it has no more are left out.
func (r *faultReducer) launch(m *ptx.Module) verify.Launch {
	l := r.f.Options.Launch
	l.Args = nil
	for _, a := range r.args {
		if slices.ContainsFunc(m.Funcs[0].Params, func(v ptx.Var) bool { return v.Name == a.Name }) {
			l.Args = append(l.Args, a)
		}
	}
	return l
}

// has reports whether a kernel has the fault.
func (r *faultReducer) has(k *Kernel) bool {
	m, err := ptx.Parse("min.ptx", []byte(k.String()))
	if err != nil {
		return false
	}
	o := r.f.Options
	o.Launch, o.Params, o.Unmended, o.Executions = r.launch(m), nil, true, false
	if r.steps > 0 {
		o.Steps = 4*r.steps + 1<<12
	}
	res, err := verify.Kernel(m, k.name, &o)
	if err == nil && r.steps == 0 {
		r.steps = res.Steps
	}
	if err != nil || !slices.ContainsFunc(res.Found, func(x *verify.Finding) bool { return alike(x, r.f.Found) }) {
		return false
	}
	return !slices.ContainsFunc(res.Found, func(x *verify.Finding) bool {
		return !slices.ContainsFunc(r.f.All, func(y *verify.Finding) bool { return alike(x, y) })
	})
}

// alike reports whether two findings break a rule by the same operations for the same reason.
func alike(x, y *verify.Finding) bool {
	return x.Rule == y.Rule && x.Why == y.Why && x.Possible() == y.Possible() && slices.Equal(opcodes(x), opcodes(y))
}

// opcodes are those of the operations of a finding, without their guards, in no order.
func opcodes(f *verify.Finding) (out []string) {
	for _, s := range []*verify.Side{&f.First, f.Second} {
		if s != nil {
			_, op, _ := taken(strings.TrimSpace(s.Text))
			out = append(out, op)
		}
	}
	slices.Sort(out)
	return out
}
