package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/ptxgen"
	"optcheck/ptxtext"
	"optcheck/toolchain"
)

// fromIR compiles units of LLVM IR to PTX with llc and that to cubins with
// ptxas, both at the job's level. The result speaks of the same units. What llc
// refuses is lacking; all else that llc fails at is added to failed.
func (w *worker) fromIR(ctx context.Context, job toolchain.Job, failed *[]error) (*toolchain.Result, error) {
	ir := job
	ir.Flags, ir.Header = nil, ptxgen.LinesHeader
	ir.Units = slices.Clone(job.Units)
	for u := range ir.Units {
		ir.Units[u].Text = strings.ReplaceAll(ir.Units[u].Text, ptxgen.KernelScope, ptxgen.KernelNumber(u))
	}
	res, err := w.j.tc.CompileIR(ctx, ir)
	if err != nil {
		return nil, err
	}
	for u := range job.Units {
		e := res.Failed[u]
		if e == nil {
			continue
		}
		if errors.Is(e, toolchain.ErrCancelled) {
			return nil, e
		}
		if reason := lacks(e); reason != "" {
			w.lack(u, "llc: "+reason)
			continue
		}
		w.fail(u, kindOf(e)+": "+firstLine(e.Error()))
		*failed = append(*failed, e)
	}
	w.ptx = make([]string, len(job.Units))
	for _, b := range res.Batches {
		header, err := w.takePTX(b, job.Units)
		if err != nil {
			w.problem("parse", "the PTX of llc: "+err.Error())
			for _, u := range b.Units {
				w.fail(u, "parse: the PTX of llc: "+err.Error())
			}
			continue
		}
		job.Header = header
	}
	return w.assemble(ctx, job)
}

// takePTX keeps the kernels of a module that llc made, by unit, and returns its
// header.
func (w *worker) takePTX(b toolchain.Batch, units []toolchain.Unit) (header string, err error) {
	m, err := ptxtext.Split(string(b.Text))
	if err != nil {
		return "", err
	}
	by := make(map[string]string, len(m.Kernels))
	for _, k := range m.Kernels {
		by[k.Name] = k.Text
	}
	for _, u := range b.Units {
		if by[units[u].Name] == "" {
			return "", fmt.Errorf("kernel %s is not in it", units[u].Name)
		}
	}
	for _, u := range b.Units {
		name := units[u].Name
		if w.ptx[u] = by[name]; w.a.between != nil {
			w.ptx[u] = w.a.between(w.j, name, by[name])
		}
	}
	return m.Header, nil
}

// assemble gives ptxas what llc made of the units.
func (w *worker) assemble(ctx context.Context, job toolchain.Job) (*toolchain.Result, error) {
	var units []toolchain.Unit
	var at []int
	for u, text := range w.ptx {
		if text != "" {
			units, at = append(units, toolchain.Unit{Name: job.Units[u].Name, Text: text}), append(at, u)
		}
	}
	job.Units = units
	res, err := w.j.tc.Compile(ctx, job)
	if err != nil {
		return nil, err
	}
	out := &toolchain.Result{Batches: res.Batches, Failed: make(map[int]error, len(res.Failed))}
	for u, e := range res.Failed {
		out.Failed[at[u]] = e
	}
	for i := range out.Batches {
		for j, u := range out.Batches[i].Units {
			out.Batches[i].Units[j] = at[u]
		}
	}
	return out, nil
}
