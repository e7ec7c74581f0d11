package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"optcheck/amdisa"
	"optcheck/litmus"
	"optcheck/llvmir"
	"optcheck/match"
	"optcheck/ptxgen"
	"optcheck/target"
	"optcheck/toolchain"
)

// clRoad is OpenCL C for AMD, compiled by clang.
var clRoad = &Road{Vendor: target.AMD, Source: OpenCL, Tool: "clang", Language: "opencl", FlagsOf: "clang", Find: toolchain.DiscoverLLVM,
	of: func(tc *toolchain.Toolchain) (Pipeline, error) {
		kind, ok := tc.Kind.(*toolchain.LLVM)
		if !ok {
			return nil, nil
		}
		return &opencl{tc, kind}, nil
	}}

type opencl struct {
	tc   *toolchain.Toolchain
	kind *toolchain.LLVM
}

func (p *opencl) Road() *Road { return clRoad }

func (p *opencl) Compilers() []toolchain.Compiler { return p.tc.Compilers() }

func (p *opencl) Build() (string, error) {
	linked, err := p.kind.Linked()
	return p.tc.Build + ", " + linked, err
}

func (p *opencl) Key(name string) string {
	if target.IsTeraScale(name) {
		return "OpenCL for r600"
	}
	return "OpenCL"
}

// Emit names a unit after the translation of its test, unless it has a name.
func (p *opencl) Emit(t *litmus.Test, _ string, o ptxgen.Options) (*ptxgen.Unit, error) {
	return ptxgen.EmitOpenCL(t, o)
}

func (p *opencl) Way(u *ptxgen.Unit, kernel int, _ string) (Way, error) {
	k := &u.Kernels[kernel]
	return Way{CL2: k.CL2, Library: k.Library}, nil
}

func (p *opencl) Header(Way, string) string { return "" }

func (p *opencl) Compile(ctx context.Context, job *Job) (*Result, error) {
	return compileLLVM(ctx, p.tc, p.job(job))
}

func (p *opencl) job(job *Job) toolchain.LLVMJob {
	return toolchain.LLVMJob{Job: toolchain.Job{Target: job.Target, Level: job.Level, LineInfo: !job.Plain, Units: job.Units,
		Flags: job.Flags, BatchUnits: job.BatchUnits},
		Source: toolchain.OpenCLC, CL2: job.Way.CL2, Library: job.Way.Library}
}

func (p *opencl) Tool() string { return "clang" }

func (p *opencl) Args(job *Job, in, out, library string) []string {
	return p.tc.ArgsLLVM(p.job(job), in, out, library)
}

func compileLLVM(ctx context.Context, tc *toolchain.Toolchain, job toolchain.LLVMJob) (*Result, error) {
	res, err := tc.CompileLLVM(ctx, job)
	if err != nil {
		return nil, err
	}
	for u, e := range res.Failed {
		if reason := Lacks(e); reason != "" && !errors.Is(e, toolchain.ErrCancelled) {
			res.Failed[u] = &Lack{reason}
		}
	}
	return &Result{Result: *res}, nil
}

func (p *opencl) Decode(_ context.Context, where, target string, b *toolchain.Batch) (func() (*Code, error), error) {
	return func() (*Code, error) {
		prog, err := amdisa.ParseFor(where, b.Text, target)
		if err != nil {
			return nil, &Unread{err.Error()}
		}
		return &Code{Program: prog, apart: true}, nil
	}, nil
}

func (p *opencl) Means(t *litmus.Test) *litmus.Test {
	if cl, err := litmus.ToOpenCL(t); err == nil {
		return cl
	}
	return t
}

func (p *opencl) Flags() []string { return []string{"--vendor", target.AMD} }

// stages are the stages of LLVM whose IR shows where a finding arose.
var stages = []toolchain.Stage{toolchain.FrontEnd, toolchain.Middle}

// Stages compiles the kernels to LLVM IR twice, once for each stage.
func (p *opencl) Stages(ctx context.Context, job *Job, list []*Suspect) (problems []Problem, err error) {
	ways := map[Way][]toolchain.Unit{}
	var order []Way
	for _, s := range list {
		if ways[s.Way] == nil {
			order = append(order, s.Way)
		}
		if !slices.Contains(ways[s.Way], s.Unit) {
			ways[s.Way] = append(ways[s.Way], s.Unit)
		}
	}
	ir := map[string]*[2][]llvmir.Access{} // by kernel, at each of the stages
	for _, w := range order {
		for i, stage := range stages {
			one := *job
			one.Way, one.Units = w, ways[w]
			j := p.job(&one)
			j.Emit = stage
			p, err := p.ir(ctx, j, func(kernel string, acc []llvmir.Access) {
				if ir[kernel] == nil {
					ir[kernel] = &[2][]llvmir.Access{}
				}
				ir[kernel][i] = acc
			})
			if problems = append(problems, p...); err != nil {
				return problems, err
			}
		}
	}
	for _, s := range list {
		if k := ir[s.Unit.Name]; k != nil && k[0] != nil && k[1] != nil {
			front, middle := match.IR(k[0], s.Spec, s.Test), match.IR(k[1], s.Spec, s.Test)
			for _, f := range s.Findings {
				f.Stage = match.StageIR(front, middle, f)
			}
		}
	}
	return problems, nil
}

// ir passes the output of a stage for the kernels of a job to take.
func (p *opencl) ir(ctx context.Context, job toolchain.LLVMJob,
	take func(kernel string, acc []llvmir.Access)) (problems []Problem, err error) {
	res, err := p.tc.CompileLLVM(ctx, job)
	if err != nil {
		return nil, err
	}
	for u := range job.Units {
		if e := res.Failed[u]; errors.Is(e, toolchain.ErrCancelled) {
			return nil, e
		} else if e != nil {
			problems = append(problems, Problem{"llvm-ir", firstLine(e.Error())})
		}
	}
	for _, batch := range res.Batches {
		funcs, err := p.readIR(ctx, batch.Text)
		if errors.Is(err, toolchain.ErrCancelled) {
			return nil, err
		}
		if err != nil {
			problems = append(problems, Problem{"llvm-ir", firstLine(err.Error())})
			continue
		}
		by := map[string][]llvmir.Access{}
		for _, f := range funcs {
			name, body := strings.CutPrefix(f.Name, toolchain.KernelBody)
			if _, ok := by[name]; body || !ok {
				by[name] = f.Accesses
			}
		}
		for _, u := range batch.Units {
			take(job.Units[u].Name, by[job.Units[u].Name])
		}
	}
	return problems, nil
}

// readIR reads IR with the reader that fits the release: typed pointers in this process, others
// with the release's own library in a child process.
func (p *opencl) readIR(ctx context.Context, text []byte) ([]llvmir.Func, error) {
	if llvmir.Typed(p.tc.Major()) {
		return llvmir.ReadTyped(p.tc.ID, text)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out, err := p.tc.ReadIR(ctx, program, llvmir.ChildCommand, text)
	if err != nil {
		return nil, err
	}
	return llvmir.Decode(out)
}

// irRoad is LLVM IR for AMD, compiled by llc: only the back end is involved. The IR is not
// OpenCL, so no model says what it means.
var irRoad = &Road{Vendor: target.AMD, Source: LLVMIR, FlagsOf: "llc", Find: toolchain.DiscoverLLVM,
	of: func(tc *toolchain.Toolchain) (Pipeline, error) {
		kind, ok := tc.Kind.(*toolchain.LLVM)
		switch {
		case !ok:
			return nil, nil
		case kind.LLC == "":
			return nil, lackLLC(tc)
		}
		return &amdir{&opencl{tc, kind}}, nil
	}}

type amdir struct{ *opencl }

func (p *amdir) Road() *Road { return irRoad }

func (p *amdir) Compilers() []toolchain.Compiler {
	return []toolchain.Compiler{{Tool: "llc", Version: p.tc.Version, Path: p.kind.LLC}}
}

func (p *amdir) Build() (string, error) { return p.tc.Build, nil }

func (p *amdir) Key(name string) string {
	return fmt.Sprintf("LLVM IR, typed %t, TeraScale %t", typed(p.tc.Major()), target.IsTeraScale(name))
}

func (p *amdir) Emit(t *litmus.Test, _ string, o ptxgen.Options) (*ptxgen.Unit, error) {
	o.TypedIR = typed(p.tc.Major())
	return ptxgen.EmitLLVMIR(t, o)
}

func (p *amdir) Compile(ctx context.Context, job *Job) (*Result, error) {
	return compileLLVM(ctx, p.tc, p.job(job))
}

func (p *amdir) job(job *Job) toolchain.LLVMJob {
	j := p.opencl.job(job)
	j.Source, j.LineInfo = toolchain.LLVMIR, false
	if !job.Plain {
		j.Header = ptxgen.HeaderAMD
	}
	return j
}

func (p *amdir) Tool() string { return "llc" }

func (p *amdir) Args(job *Job, in, out, library string) []string {
	return p.tc.ArgsLLVM(p.job(job), in, out, library)
}

// Triple returns the target triple of a target.
func (p *amdir) Triple(target string) string { return toolchain.Triple(target) }

// Stages attributes all findings to the only stage.
func (p *amdir) Stages(_ context.Context, _ *Job, list []*Suspect) ([]Problem, error) {
	for _, s := range list {
		for _, f := range s.Findings {
			f.Stage = match.StageBackEnd
		}
	}
	return nil, nil
}

func (p *amdir) Flags() []string { return append(p.opencl.Flags(), "--source", LLVMIR) }
