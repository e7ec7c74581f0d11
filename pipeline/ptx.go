package pipeline

import (
	"context"
	"fmt"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// ptxRoad is PTX, compiled by ptxas.
var ptxRoad = &Road{Vendor: target.NVIDIA, Source: PTX, Tool: "ptxas", Language: "ptx", FlagsOf: "ptxas", Find: toolchain.Discover,
	of: func(tc *toolchain.Toolchain) (Pipeline, error) {
		if _, ok := tc.Kind.(toolchain.CUDA); !ok {
			return nil, nil
		}
		return newPTX(tc)
	}}

type assembler struct {
	tc     *toolchain.Toolchain
	newest ptxgen.Version
}

func newPTX(tc *toolchain.Toolchain) (*assembler, error) {
	v, err := ptxgen.ParseVersion(tc.MaxPTX)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tc.ID, err)
	}
	return &assembler{tc, v}, nil
}

func (p *assembler) Road() *Road { return ptxRoad }

func (p *assembler) Compilers() []toolchain.Compiler { return p.tc.Compilers() }

func (p *assembler) Build() (string, error) { return p.tc.Build, nil }

func (p *assembler) Key(target string) string {
	return fmt.Sprintf("PTX for generation %d", generation(target))
}

func (p *assembler) Emit(t *litmus.Test, hash string, o ptxgen.Options) (*ptxgen.Unit, error) {
	return ptxgen.Emit(t, named(t, hash, o))
}

// named names a unit after the hash of its test, which is known.
func named(t *litmus.Test, hash string, o ptxgen.Options) ptxgen.Options {
	if o.Unit == "" {
		o.Unit = ptxgen.UnitNameOf(t.Name, hash, o.Layout)
	}
	return o
}

func (p *assembler) Way(u *ptxgen.Unit, _ int, target string) (Way, error) {
	v, err := u.VersionFor(target)
	if err == nil && v > p.newest {
		err = &spec.Unsupported{Reason: fmt.Sprintf("needs PTX %v, %s has %v", v, p.tc.ID, p.newest)}
	}
	return Way{Version: v}, err
}

func (p *assembler) Header(w Way, target string) string { return ptxgen.Header(w.Version, target) }

func (p *assembler) Compile(ctx context.Context, job *Job) (*Result, error) {
	return compileKept(ctx, p.tc, job.Kept, toolchain.Job{Target: job.Target, Level: job.Level, LineInfo: true,
		Header: ptxgen.Header(job.Way.Version, job.Target), Units: job.Units, Flags: job.Flags, BatchUnits: job.BatchUnits})
}

func (p *assembler) Decode(ctx context.Context, where, target string, b *toolchain.Batch) (func() (*Code, error), error) {
	return Disassemble(ctx, p.tc, where, target, b.Cubin)
}

// Stages does nothing: there is one compiler, and nobody sees its intermediate results.
func (p *assembler) Stages(context.Context, *Job, []*Suspect) ([]Problem, error) { return nil, nil }

func (p *assembler) Means(t *litmus.Test) *litmus.Test { return t }

func (p *assembler) Flags() []string { return nil }
