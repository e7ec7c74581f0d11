package audit

import (
	"context"
	"fmt"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// Thread is the machine code of one thread of a test. It carries its specification.
type Thread struct {
	Func     *isa.Func
	Consts   map[int64]string // symbols of constant bank 4, nil if not known
	Literals map[int64]uint32 // words of constant bank 2, nil if not known
	Spec     *spec.Spec       // decoded from the code
}

// Decide judges the machine code of all threads of a test, wherever it comes from, as an audit
// judges a cell: class, findings, and the verdict of the target's model. It is an error if the
// code carries the specification of another test. With controls, the listing has control codes.
func Decide(ctx context.Context, t *litmus.Test, threads []Thread, controls bool) (*event.Cell, *event.Listing, error) {
	t = t.Canonical()
	if len(threads) != len(t.Threads) {
		return nil, nil, fmt.Errorf("%d kernels for the %d threads of test %s", len(threads), len(t.Threads), t.Name)
	}
	target, layout := threads[0].Func.Arch, threads[0].Spec.Layout
	u, err := emitted(t, target, layout, threads)
	if err != nil {
		return nil, nil, err
	}
	a := newAuditor(Options{Layouts: []spec.Layout{layout}, KeepVerdicts: true}, event.NewRun())
	var parts []part
	for i, th := range threads {
		c := optcheck.NewChecker()
		c.Consts, c.Literals, c.Locations = th.Consts, th.Literals, locationNames(t)
		code := optcheck.CodeHash(th.Func, th.Consts)
		parts = append(parts, part{code: code, machine: machineCodeOf(th.Func, controls),
			result: a.cache.check(c, th.Func, code, u.Kernels[i].Spec, c.Locations, liftTest)})
	}
	return a.decide(ctx, t, u, target, parts)
}

// emitted finds the unit from which machine code was made.
func emitted(t *litmus.Test, target string, layout spec.Layout, threads []Thread) (*ptxgen.Unit, error) {
	var last error
	for _, emit := range []func(*litmus.Test, ptxgen.Options) (*ptxgen.Unit, error){ptxgen.Emit, ptxgen.EmitOpenCL, ptxgen.EmitLLVMIR} {
		u, err := emit(t, ptxgen.Options{Target: target, Layout: layout})
		if err != nil {
			last = err
			continue
		}
		same := true
		for i, th := range threads {
			want := u.Kernels[i].Spec
			same = same && th.Spec.Digest == want.Digest && th.Spec.Equal(want)
		}
		if same {
			return u, nil
		}
	}
	if last != nil && threads[0].Spec.Digest == 0 {
		return nil, last
	}
	return nil, fmt.Errorf("the kernels carry the specification of another test than %s, or of another version of optcheck", t.Name)
}

func locationNames(t *litmus.Test) []string {
	names := make([]string, len(t.Locations))
	for i := range t.Locations {
		names[i] = t.Locations[i].Name
	}
	return names
}

// decide combines the results of a test's threads and asks the model.
func (a *auditor) decide(ctx context.Context, t *litmus.Test, u *ptxgen.Unit, name string,
	parts []part) (*event.Cell, *event.Listing, error) {
	w := &worker{a: a, j: job{tc: &toolchain.Toolchain{}, target: name, chunk: &chunk{tests: []*litmus.Test{t}}},
		em: &emission{units: []*ptxgen.Unit{u}}, parts: map[int][]part{0: parts},
		res: &jobResult{cells: make([]event.Cell, 1), listings: map[int]listed{}, looks: map[string]*event.Listing{}}}
	c := &w.res.cells[0]
	c.Test, c.Hash, c.Target, c.Layout = t.Name, t.Hash(), name, a.o.Layouts[0].String()
	w.cell(0)
	road := pipeline.Usual(target.Vendor(name))
	if road == nil {
		return nil, nil, fmt.Errorf("unknown target %q", name)
	}
	if err := w.verdict(ctx, road.Language, 0); err != nil {
		return nil, nil, err
	}
	return c, w.res.listings[0].listing, nil
}
