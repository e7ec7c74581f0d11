package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/match"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/target"
	"optcheck/toolchain"
)

// llcRoad is LLVM IR for NVIDIA, which llc compiles to PTX and ptxas to machine code.
var llcRoad = &Road{Vendor: target.NVIDIA, Source: LLVMIR, Tool: "llc", Language: "ptx", FlagsOf: "ptxas", Find: toolchain.DiscoverLLC,
	of: func(tc *toolchain.Toolchain) (Pipeline, error) {
		kind, ok := tc.Kind.(*toolchain.LLC)
		if !ok {
			return nil, nil
		}
		p, err := newPTX(tc)
		if err != nil {
			return nil, err
		}
		return &llc{p, kind}, nil
	}}

type llc struct {
	*assembler
	kind *toolchain.LLC
}

func (p *llc) Road() *Road { return llcRoad }

func (p *llc) Key(target string) string {
	return fmt.Sprintf("LLVM IR for generation %d, typed %t", generation(target), typed(p.kind.Major()))
}

// typed reports whether a release of LLVM has typed pointers only.
func typed(major int) bool { return major <= 14 }

func (p *llc) Emit(t *litmus.Test, hash string, o ptxgen.Options) (*ptxgen.Unit, error) {
	o.TypedIR = typed(p.kind.Major())
	return ptxgen.EmitLLVMIR(t, named(t, hash, o))
}

// Way returns the same way for all kernels: llc takes care of the PTX version.
func (p *llc) Way(*ptxgen.Unit, int, string) (Way, error) { return Way{Version: p.newest}, nil }

func (p *llc) Header(Way, string) string { return "" }

// Triple returns the target triple, the same for all targets.
func (p *llc) Triple(string) string { return toolchain.NVPTXTriple }

func (p *llc) Flags() []string { return []string{"--source", LLVMIR} }

// Compile compiles LLVM IR to PTX with llc, and the PTX to cubins with ptxas, both at the job's
// level.
func (p *llc) Compile(ctx context.Context, job *Job) (*Result, error) {
	ir := toolchain.Job{Target: job.Target, Level: job.Level, LineInfo: true, Header: ptxgen.LinesHeader,
		Units: slices.Clone(job.Units), BatchUnits: job.BatchUnits}
	for u := range ir.Units {
		ir.Units[u].Text = strings.ReplaceAll(ir.Units[u].Text, ptxgen.KernelScope, ptxgen.KernelNumber(u))
	}
	res, err := p.tc.CompileIR(ctx, ir)
	if err != nil {
		return nil, err
	}
	for u, e := range res.Failed {
		if errors.Is(e, toolchain.ErrCancelled) {
			return nil, e
		}
		if reason := Lacks(e); reason != "" {
			res.Failed[u] = &Lack{"llc: " + reason}
		}
	}
	between, header := make([]string, len(job.Units)), ptxgen.Header(job.Way.Version, job.Target)
	for _, b := range res.Batches {
		h, err := takePTX(&b, job, between)
		if err != nil {
			for _, u := range b.Units {
				res.Failed[u] = &Unread{"the PTX of llc: " + err.Error()}
			}
			continue
		}
		header = h
	}
	return p.assemble(ctx, job, header, between, res.Failed)
}

// takePTX stores the kernels of a module that llc made in between, by unit, and returns the
// module's header.
func takePTX(b *toolchain.Batch, job *Job, between []string) (header string, err error) {
	m, err := ptx.Outline("llc.ptx", b.Text)
	if err != nil {
		return "", err
	}
	by, err := m.Alone()
	if err != nil {
		return "", err
	}
	for _, u := range b.Units {
		if by[job.Units[u].Name] == "" {
			return "", fmt.Errorf("kernel %s is not in it", job.Units[u].Name)
		}
	}
	for _, u := range b.Units {
		name := job.Units[u].Name
		if between[u] = by[name]; job.Between != nil {
			between[u] = job.Between(name, by[name])
		}
	}
	return m.Header(), nil
}

// assemble compiles the PTX that llc made of the units with ptxas.
func (p *llc) assemble(ctx context.Context, job *Job, header string, between []string, failed map[int]error) (*Result, error) {
	var units []toolchain.Unit
	var at []int
	for u, text := range between {
		if text != "" {
			units, at = append(units, toolchain.Unit{Name: job.Units[u].Name, Text: text}), append(at, u)
		}
	}
	out, err := compileKept(ctx, p.tc, "", toolchain.Job{Target: job.Target, Level: job.Level, LineInfo: true, Header: header, Units: units,
		Flags: job.Flags, BatchUnits: job.BatchUnits})
	if err != nil {
		return nil, err
	}
	for u, e := range out.Failed {
		failed[at[u]] = e
	}
	out.Failed, out.Between = failed, between
	out.PTX = func(unit int) string { return header + between[unit] }
	for i := range out.Batches {
		for j, u := range out.Batches[i].Units {
			out.Batches[i].Units[j] = at[u]
		}
	}
	return out, nil
}

// Stages finds out from the PTX which of the two compilers caused a finding.
func (p *llc) Stages(_ context.Context, _ *Job, list []*Suspect) (problems []Problem, err error) {
	for _, s := range list {
		k, err := match.PTX(s.Unit.Name, s.Between, s.Spec, s.Test)
		if err != nil {
			problems = append(problems, Problem{"parse", "the PTX of llc: " + err.Error()})
			continue
		}
		for _, f := range s.Findings {
			f.Stage = k.Stage(f)
		}
	}
	return problems, nil
}
