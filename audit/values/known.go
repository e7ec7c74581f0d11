package values

import (
	"context"
	"fmt"
	"slices"

	"optcheck/ptxgen"
	"optcheck/ptxgen/values"
	"optcheck/refine"
)

// perKernel bounds the causes that are looked for in one kernel.
const perKernel = 3

// common are instructions that nearly every kernel has: what a cause is without is found by others, if it has them.
var common = []string{"add.s32", "add.u32", "sub.s32", "sub.u32", "and.b32", "or.b32", "xor.b32", "mov.b32", "mov.u32", "mov.b64", "selp.b32", "bra", "setp.ne.u32", "setp.lt.u32"}

// marks are the instructions of a reduced kernel of which one is missing in kernels without its cause.
func (e *Example) marks() []string {
	all := e.reduced.Ops()
	if rare := slices.DeleteFunc(slices.Clone(all), func(op string) bool { return slices.Contains(common, op) }); len(rare) > 0 {
		return rare
	}
	return all
}

// explain finds the causes of a wrong kernel. Without what a known cause consists of it may be right, and has that cause.
// If it is not, it is reduced, and looked at again without what it was reduced to. Every eighth one is reduced as it is: two
// causes may consist of the same.
func (b *batch) explain(ctx context.Context, c Cell, s *subject, v verdict, reduced *[]*Example) error {
	add := func(e *Example) {
		b.results = append(b.results, result{kernel: s.kernel.Number, cell: c, outcome: Wrong, example: e})
	}
	if e, err := also(ctx, c, *reduced); err != nil || e != nil {
		if e != nil {
			add(e)
		}
		return err
	}
	if b.chip != nil {
		run, err := b.replay(ctx, c, s, v.finding)
		if err != nil || run.Said == Refuted || run.Said == Doubtful {
			if err == nil {
				b.results = append(b.results, result{kernel: s.kernel.Number, cell: c, outcome: Wrong, why: fmt.Sprintf("%s on %s: %s", run.Said, run.Device, v.reason())})
			}
			return err
		}
	}
	k := s.kernel
	if k.Number%8 != 0 {
		e, rest, found, err := known(ctx, c, k, s.inputs, b.known)
		if err != nil {
			return err
		}
		if e != nil {
			add(e)
			return nil
		}
		if rest != nil {
			k, v = rest, *found
		}
	}
	for range perKernel {
		e, plain, err := example(ctx, c, k, v, s.name)
		if err != nil {
			return err
		}
		if e == nil {
			b.results = append(b.results, result{kernel: s.kernel.Number, cell: c, outcome: plain.outcome, why: plain.reason()})
			return nil
		}
		if b.chip != nil {
			if e.Run, err = b.replay(ctx, c, newSubject(e.reduced, s.name, nil), e.Finding); err != nil {
				return err
			}
		}
		add(e)
		*reduced = append(*reduced, e)
		_, rest, found, err := known(ctx, c, k, s.inputs, []*Example{e})
		if err != nil || rest == nil {
			return err
		}
		k, v = rest, *found
	}
	return nil
}

// replay runs a wrong kernel on the device.
func (b *batch) replay(ctx context.Context, c Cell, s *subject, f *refine.Finding) (*Replayed, error) {
	run, err := b.chip.run(ctx, c, counterexample{s.text, s.name, s.program, f})
	if err == nil {
		b.said = append(b.said, run.Said)
	}
	return run, err
}

// also returns the example, of those that another cell's finding in the same kernel was reduced to, that is wrong here as well.
func also(ctx context.Context, c Cell, list []*Example) (*Example, error) {
	for _, e := range list {
		r := &reducer{cell: c, inputs: []*refine.Input{e.Finding.Input}, careful: true}
		found, err := r.wrong(ctx, []*values.Kernel{e.reduced})
		if err != nil || found[0] != nil {
			return e, err
		}
	}
	return nil, nil
}

// known returns the known cause without which a kernel is right. If there is none, and the kernel is still wrong
// without all of them, the rest is what is left of it, with what is found there.
func known(ctx context.Context, c Cell, k *values.Kernel, inputs []*refine.Input, list []*Example) (*Example, *values.Kernel, *verdict, error) {
	var may []*Example
	var subjects []*subject
	ops, gone := k.Ops(), []string(nil)
	for _, e := range list {
		if !subset(e.reduced.Ops(), ops) {
			continue
		}
		may = append(may, e)
		gone = append(gone, e.marks()...)
		subjects = append(subjects, newSubject(k.Without(e.marks()...), fmt.Sprintf("k%d", len(may)), inputs))
	}
	if len(may) == 0 {
		return nil, nil, nil, nil
	}
	rest := k.Without(gone...)
	subjects = append(subjects, newSubject(rest, "k0", inputs))
	found, err := judge(ctx, c, subjects)
	if err != nil {
		return nil, nil, nil, err
	}
	for i, e := range may {
		if found[i].outcome == Same {
			return e, nil, nil, nil
		}
	}
	if last := found[len(may)]; last.outcome == Wrong {
		return nil, rest, &last, nil
	}
	return nil, nil, nil, nil
}

// example reduces a kernel of which a cell is wrong. There is none if the same compiler does not keep it without optimising: then
// what that is.
func example(ctx context.Context, c Cell, k *values.Kernel, v verdict, name string) (*Example, *verdict, error) {
	small, found, err := reduce(ctx, c, k, v)
	if err != nil {
		return nil, nil, err
	}
	if small == nil {
		return nil, &found, nil
	}
	e := &Example{Kernel: small.Number, Statements: small.Count(), PTX: ptxgen.Header(version(c), c.Target) + small.Text(name), Cell: c.String(), Toolchain: c.Toolchain.ID,
		Target: c.Target, Level: c.Level, Finding: found.finding, reduced: small, pattern: patternOf(small, found.finding, found.machine)}
	for i := range found.machine.Insts {
		e.Machine = append(e.Machine, fmt.Sprintf("%04x %s", found.machine.Insts[i].Addr, found.machine.Insts[i].Text))
	}
	return e, nil, nil
}
