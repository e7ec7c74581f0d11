package program

import (
	"context"
	"fmt"

	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/runner"
	"optcheck/target"
	"optcheck/toolchain"
)

// Road makes kernels for a device out of one of a program's sources.
type Road interface {
	// Compiler names what compiles, and for what.
	Compiler() string
	// Sites are the places where fences can stand, and Fence is the full one.
	Sites() []Site
	Fence() string
	// Build makes the kernels with fences, with stress those that take Params, too.
	// ErrUnsupported: the program has something that cannot be rewritten.
	Build(ctx context.Context, fences Fences, stress bool) (*Build, error)
}

// Build is the kernels of a variant of a program.
type Build struct {
	Image runner.Image
	// Class and Reason are what the comparison of the machine code with its source
	// says; Class is "" where there is none.
	Class, Reason string
	// Sync is what synchronises in the machine code of the program's kernels, where it
	// was read.
	Sync []MachineOp
	// Extra is how many arguments the kernels take beside the program's.
	Extra int
	// Own tells that some of the program's own blocks stress before they begin, in the
	// place of further ones.
	Own bool
}

// kernels are those that a program's launches name; what checks is another matter.
func (p *Program) kernels() (names []string) {
	for i := range p.Launches {
		names = append(names, p.Launches[i].Kernel)
	}
	return names
}

// Sites lists where fences can stand in a program's PTX, or without that in its OpenCL C.
// There are none in CUDA C++: they are those of the PTX that is made of it.
func (p *Program) Sites() ([]Site, error) {
	switch {
	case len(p.PTX.Text) > 0:
		m, err := ptx.Parse(p.PTX.Name, p.PTX.Text)
		if err != nil {
			return nil, err
		}
		return Sites(m, p.kernels()), nil
	case len(p.OpenCL.Text) > 0:
		r, err := NewCLRoad(p, runner.Device{})
		if err != nil {
			return nil, err
		}
		return r.Sites(), nil
	}
	return nil, nil
}

// Demands are the orders of accesses that the memory model demands of a program's PTX and
// that nothing in it gives; open is of how many accesses it is not known where they go.
func (p *Program) Demands(ctx context.Context) (list []Demand, open int, err error) {
	if len(p.PTX.Text) == 0 {
		return nil, 0, fmt.Errorf("%w: %s has no PTX, which is what the memory model is asked of", ErrUnsupported, p.Name)
	}
	r, err := NewPTXRoad(p, p.PTX.Text, nil, "", "")
	if err != nil {
		return nil, 0, err
	}
	return r.Judge(ctx, nil)
}

// PTXRoad compiles PTX by a release of ptxas.
type PTXRoad struct {
	Tool          *toolchain.Toolchain
	Target, Level string

	module  *ptx.Module
	kernels []string
	plain   *Build // without fences and stress
}

// NewPTXRoad reads the PTX of a program: its own, or what a front end made of its
// CUDA C++.
func NewPTXRoad(p *Program, text []byte, tc *toolchain.Toolchain, gpu, level string) (*PTXRoad, error) {
	m, err := ptx.Parse(p.PTX.Name, text)
	if err != nil {
		return nil, err
	}
	r := &PTXRoad{Tool: tc, Target: gpu, Level: level, module: m, kernels: p.kernels()}
	for _, name := range r.kernels {
		if f := m.Func(name); f == nil || !f.Entry {
			return nil, fmt.Errorf("%s: there is no kernel %q", m.File, name)
		}
	}
	return r, nil
}

// Compiler names the release, the target and the level.
func (r *PTXRoad) Compiler() string { return r.Tool.ID + " " + r.Target + " " + r.Level }

// Sites lists the accesses to memory that blocks may share.
func (r *PTXRoad) Sites() []Site { return Sites(r.module, r.kernels) }

// Fence is FullFence.
func (r *PTXRoad) Fence() string { return FullFence }

// Rewritten is the PTX of a variant.
func (r *PTXRoad) Rewritten(fences Fences, stress bool) (*ptx.Module, error) {
	return Rewrite(r.module, r.kernels, fences, stress)
}

// Build compiles a variant, and compares its machine code with its PTX. That of the
// program as it is is made once.
func (r *PTXRoad) Build(ctx context.Context, fences Fences, stress bool) (*Build, error) {
	if len(fences) > 0 || stress {
		return r.build(ctx, fences, stress)
	}
	var err error
	if r.plain == nil {
		r.plain, err = r.build(ctx, nil, false)
	}
	return r.plain, err
}

func (r *PTXRoad) build(ctx context.Context, fences Fences, stress bool) (*Build, error) {
	m, err := r.Rewritten(fences, stress)
	if err != nil {
		return nil, err
	}
	code, cubin, err := realcode.Cubin(ctx, r.Tool, m, r.Target, r.Level)
	if err != nil {
		return nil, err
	}
	sm, _ := target.SM(r.Target)
	b := &Build{Image: runner.Image{Kind: runner.ImageCubin, Data: cubin}}
	b.Class, b.Reason = realcode.Check(m, code.Program, sm).Class()
	b.Sync = synchronising(code.Program, r.kernels)
	if stress {
		b.Extra = len(Params)
	}
	return b, nil
}
