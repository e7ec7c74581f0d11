package reduce

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"optcheck/event"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/toolchain"
)

// batchBytes bounds the text that is compiled at once.
const batchBytes = 1 << 20

// ask judges candidates, many in one process of each tool.
func (r *kernelReducer) ask(ctx context.Context, list []*Kernel) (holds []bool, err error) {
	for len(list) > 0 {
		n, size := 0, 0
		for ; n < len(list) && size <= batchBytes; n++ {
			size += len(list[n].String())
		}
		some, err := r.judge(ctx, list[:n])
		if err != nil {
			return nil, err
		}
		holds, list = append(holds, some...), list[n:]
	}
	return holds, nil
}

// judge compares each of some kernels with its machine code, and those that have the finding with
// that of the release that has not.
func (r *kernelReducer) judge(ctx context.Context, list []*Kernel) ([]bool, error) {
	bad, err := r.say(ctx, r.f.Toolchain, list)
	if err != nil {
		return nil, err
	}
	holds := make([]bool, len(list))
	var found []*Kernel
	for i, k := range list {
		if holds[i] = bad[i].has(r.f.Signature); holds[i] {
			found = append(found, k)
		}
	}
	if r.res.Good == nil || len(found) == 0 {
		return holds, nil
	}
	good, err := r.say(ctx, r.res.Good, found)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if holds[i] {
			holds[i], good = kept(good[0]), good[1:]
		}
	}
	return holds, nil
}

// said is what a comparison says of a module; its result is nil if a release refuses the module.
type said struct {
	module *ptx.Module
	*realcode.Result
	crash *event.Finding // what the release does instead
}

// has reports whether it is of the finding with a signature.
func (s said) has(sig KernelSignature) bool {
	if s.crash != nil {
		return crashOf(s.crash) == sig
	}
	return sig.In(s.module, s.Result) != nil
}

// lineFile is the file of the lines of candidates.
const lineFile = "k.ptx"

// say compiles kernels together and compares each with its machine code.
func (r *kernelReducer) say(ctx context.Context, tc *toolchain.Toolchain, list []*Kernel) ([]said, error) {
	out := make([]said, len(list))
	gpu := r.f.Target
	if own := r.f.Module.Target; strings.TrimRight(own, "af") == gpu {
		gpu = own // sm_90a
	}
	job := toolchain.Job{Target: gpu, Level: r.f.Level, LineInfo: true, BatchUnits: 64}
	if r.f.Signature.Class == event.Crashed {
		job.BatchUnits, job.OneTry = 1, true // most of them crash, and together they hide each other
	}
	for i, k := range list {
		m, err := ptx.Parse(lineFile, []byte(k.print(fmt.Sprint("_", i))))
		if err != nil {
			return nil, fmt.Errorf("a kernel made smaller: %w", err)
		}
		mark := fmt.Sprintf("\n.file 1 %q\n", lineFile)
		head, body, _ := strings.Cut(m.Lined(lineFile, ""), mark)
		job.Header, job.Units = head+mark, append(job.Units, toolchain.Unit{Name: fmt.Sprint("candidate ", i), Text: body})
		out[i].module = m
	}
	res, err := tc.Compile(ctx, job)
	if err != nil {
		return nil, err
	}
	for i, err := range res.Failed {
		out[i].crash = pipeline.Crash(err, 0, tc.Compilers())
	}
	for _, b := range res.Batches {
		code, err := pipeline.Decode(ctx, tc, lineFile, gpu, b.Cubin)
		if err != nil {
			return nil, err
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(cmp.Or(r.o.Jobs, runtime.GOMAXPROCS(0)))
		for _, i := range b.Units {
			group.Go(func() error { return r.compareOne(ctx, &out[i], code, gpu) })
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
	}
	return out, ctx.Err()
}

// compareOne compares a kernel with its machine code: what both do, if the finding is of that kind.
func (r *kernelReducer) compareOne(ctx context.Context, out *said, code *pipeline.Code, gpu string) (err error) {
	if !r.f.Signature.Executed() {
		out.Result, err = realcode.Compare(ctx, out.module, code, gpu)
		return err
	}
	o, err := r.f.execution(out.module)
	if err != nil {
		return nil // it cannot be executed: no finding
	}
	out.Result, err = realcode.Execute(ctx, out.module, code, o)
	return err
}
