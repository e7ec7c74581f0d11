package device

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"optcheck/internal/plain"
	"optcheck/isa"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/refine"
	"optcheck/refine/nvidia"
	"optcheck/runner"
	"optcheck/runner/drive"
)

// execute executes the PTX of a validated kernel and its machine code on launches as a device gets them, and compares what
// they do: which role of which instance each thread plays, where its locations and results lie, under which conditions.
// A difference, or a kernel that cannot be executed, is no validated binary. It does nothing for machine code that no
// emulator executes (before sm_70, AMD, x86-64).
func (b *Binary) execute(ctx context.Context, target string, code *pipeline.Code, fn *isa.Func) error {
	if !b.Validated || !nvidia.Executes(code.File) || b.Image.Kind != runner.ImageCubin {
		return nil
	}
	launches, err := drive.Samples(b.Harness)
	if err != nil {
		return err
	}
	var inputs []*refine.Input
	for _, l := range launches {
		inputs = append(inputs, input(l))
	}
	m, err := b.module(target)
	if err != nil {
		return err
	}
	r, err := nvidia.Compare(ctx, m, code.Program, code.File, b.Harness.Name, refine.Options{Inputs: inputs, Shared: true})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		b.conclude(optcheck.Unknown, "cannot be executed: "+err.Error())
	case len(r.Findings) > 0:
		f := &r.Findings[0]
		b.conclude(optcheck.Changed, fmt.Sprintf("%s: %s (executed: block %d, warp %d, lane %d): %s", f.Rule, f.Why, f.Block, f.Warp, f.Lane,
			f.MachineText))
	case len(r.Cannot) > 0:
		b.conclude(optcheck.Unknown, "cannot be executed: "+slices.Sorted(maps.Keys(r.Cannot))[0])
	case r.Runs == 0:
		b.conclude(optcheck.Unknown, "no launch could be executed to its end")
	default:
		if n := b.unperformed(m, fn, r); n > 0 {
			b.conclude(optcheck.Unknown, "no launch performs "+plain.Count(n, "instruction")+" of the harness that write memory")
		}
	}
	return nil
}

// unperformed counts what writes memory, belongs to the harness and was not performed. The test's own accesses have been
// compared one by one: whether a launch performs them depends on what it reads.
func (b *Binary) unperformed(m *ptx.Module, fn *isa.Func, r *refine.Result) (n int) {
	lines, line := map[int]int{}, func(in *isa.Inst) int { return in.Line }
	for _, f := range m.Funcs {
		for _, st := range f.Body {
			if st.Inst != nil {
				lines[st.Inst.N] = st.Inst.Loc.Line
			}
		}
	}
	if b.Harness.Lines != nil {
		lines, line = b.Harness.Lines, func(in *isa.Inst) int { return b.Harness.Lines[in.Line] }
	}
	for _, in := range r.Unseen {
		if lines[in] >= ptxgen.LineOther {
			n++
		}
	}
	for i := range fn.Insts {
		in := &fn.Insts[i]
		if line(in) >= ptxgen.LineOther && slices.ContainsFunc(r.Unwritten, func(c refine.Code) bool { return c.Addr == uint64(in.Addr) }) {
			n++
		}
	}
	return n
}

// input is a launch as the comparison takes it.
func input(s *drive.Sample) *refine.Input {
	d := s.Dims.Filled()
	in := &refine.Input{Params: s.Params, Dynamic: int64(d.Shared), Shared: true}
	for i := range 3 {
		in.Grid[i], in.Block[i], in.Cluster[i] = int(d.Grid[i]), int(d.Block[i]), int(d.Cluster[i])
	}
	for _, m := range s.Memory {
		in.Memory = append(in.Memory, refine.Contents{Addr: m.Addr, Data: m.Data})
	}
	return in
}
