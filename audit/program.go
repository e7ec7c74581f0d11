package audit

import (
	"context"
	"slices"
	"strings"

	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/realcode"
)

// program compares a kernel without markers with its machine code as programs are compared: its PTX says what must be there.
func (w *worker) program(ctx context.Context, u *ptxgen.Unit, kernel, thread int, code *pipeline.Code) (*checked, error) {
	k := w.em.kernels[kernel]
	m, err := ptx.Parse(k.name+".ptx", []byte(ptxgen.Header(u.Version, w.j.target)+k.text))
	if err != nil {
		return nil, err
	}
	r, err := realcode.Compare(ctx, m, code, w.j.target)
	if err != nil {
		return nil, err
	}
	made := &u.Kernels[thread]
	r.Findings = slices.DeleteFunc(r.Findings, func(f realcode.Finding) bool { return ofResults(made, &f) })
	out := &checked{Result: &optcheck.Result{Func: k.name, Thread: thread}}
	for _, f := range r.Findings {
		detail := f.Detail
		if f.First != nil {
			detail = f.First.Text + ": " + detail
		}
		out.Findings = append(out.Findings, optcheck.Finding{Rule: string(f.Rule), Thread: thread, Access: -1, Detail: detail, Addr: -1, Order: f.Order})
	}
	out.lifted, out.liftErr = changesOf(made, r.Findings)
	switch class, why := r.Class(); class {
	case realcode.Preserved:
		out.Class = optcheck.Preserved
	case realcode.Unknown:
		out.Class, out.Reason = optcheck.Unknown, why
	default:
		out.Class = optcheck.Changed
		out.Source, out.Machine = beside(m, r)
	}
	return out, nil
}

// beside shows the operations of a kernel, the one of its module, beside its machine code.
func beside(m *ptx.Module, r *realcode.Result) (source, machine []optcheck.Line) {
	p := realcode.NewProgram(m, realcode.Origin{})
	for i := range r.Kernels {
		t := p.Thread(&r.Kernels[i])
		for _, l := range t.Source {
			text, _, _ := strings.Cut(l.Text, " //")
			source = append(source, optcheck.Line{Pos: l.Pos, Text: text})
		}
		for _, l := range t.Machine {
			machine = append(machine, optcheck.Line{Pos: l.Pos, Text: l.Text, Part: l.Part, Addr: uint64(l.At)})
		}
	}
	return source, machine
}
