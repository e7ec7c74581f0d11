// Package mapping shows what each operation of a language becomes in machine code: it compiles
// a kernel around each operation for every release, target and level, and extracts from its
// code what the operation became.
//
// Of a language in front of PTX it also judges what each operation became; machine code of
// tests is for audit to judge.
package mapping

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/toolchain"
)

// The statuses of a mapping's cells.
const (
	Mapped  = "mapped"
	Refused = "refused" // by the compiler, or its PTX is too old
	Crashed = "crashed" // a compiler crashes or hangs at the operation, alone and each time
	Unknown = "unknown" // the tools failed, or their output was not understood
)

// Cell is one entry of a mapping: what an operation becomes.
type Cell struct {
	Op        string `json:"op"`
	Group     string `json:"group"`
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Level     string `json:"level"`
	Status    string `json:"status"`
	// Machine is the sequence as Sequence formats it, Sequence the same as data; both are empty
	// unless the status is mapped.
	Machine  string `json:"machine,omitempty"`
	Sequence []Inst `json:"sequence,omitempty"`
	// Reason says why there is no sequence; for a refusal or a crash, in the compiler's words.
	Reason string `json:"reason,omitempty"`
	// PTX is what the first of two compilers made of the operation. Judgement says
	// whether that keeps what the operation promises, and Code whether the machine
	// code is its PTX: preserved, changed, miscompiled or unknown (package realcode).
	PTX       string     `json:"ptx,omitempty"`
	Judgement *Judgement `json:"judgement,omitempty"`
	Code      string     `json:"code,omitempty"`
}

// Options selects a mapping.
type Options struct {
	Toolchains []*toolchain.Toolchain
	Targets    []string // empty means all targets of each toolchain
	Levels     []string // empty means O0 and O3; for AMD, O2
	// Ops are patterns (path.Match) of operations or groups; empty means all.
	Ops []string
}

// prober maps operations in one language.
type prober interface {
	ops() []Op
	// levels returns the levels that a mapping shows by default.
	levels() []string
	// job maps all operations for one toolchain, target and level. refused says which
	// operations are known to be refused, and why; it is returned with additions.
	job(ctx context.Context, ops []Op, p pipeline.Place, refused map[int]string) ([]Cell, map[int]string, error)
}

// probers maps the languages that have a prober to what makes one.
var probers = map[string]func() prober{
	pipeline.PTX: func() prober { return ptxProber{} }, pipeline.OpenCL: func() prober { return clProber{} },
	pipeline.CUDA:   func() prober { return &frontProber{list: CUDAOps, compile: compileCUDA} },
	pipeline.LLVMIR: func() prober { return &frontProber{list: IROps, compile: compileIR, forEach: true} },
}

// prober returns the prober of all toolchains, which must share one road, since different roads
// have different operations.
func (o *Options) prober() (prober, error) {
	var first pipeline.Pipeline
	for _, tc := range o.Toolchains {
		p, err := pipeline.Of(tc, "")
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = p
		}
		if p.Road() != first.Road() {
			return nil, fmt.Errorf("%s and %s compile for different vendors, whose operations differ", o.Toolchains[0].ID, tc.ID)
		}
	}
	if first == nil {
		return ptxProber{}, nil
	}
	if p := probers[first.Road().Source]; p != nil {
		return p(), nil
	}
	return nil, fmt.Errorf("no mapping is made of %s", first.Road().Source)
}

// ops returns the operations that the patterns match.
func (o *Options) ops(all []Op) ([]Op, error) {
	if len(o.Ops) == 0 {
		return all, nil
	}
	used := make([]bool, len(o.Ops))
	var out []Op
	for _, op := range all {
		hit := false
		for i, p := range o.Ops {
			a, err := path.Match(p, op.Name)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", p, err)
			}
			if b, _ := path.Match(p, op.Group); a || b {
				used[i], hit = true, true
			}
		}
		if hit {
			out = append(out, op)
		}
	}
	for i, p := range o.Ops {
		if !used[i] {
			return nil, fmt.Errorf("no operation matches %q; groups are %s, and without a pattern all are listed", p, strings.Join(groups(all), ", "))
		}
	}
	return out, nil
}

// groups lists the groups of operations.
func groups(all []Op) (out []string) {
	for _, op := range all {
		if !slices.Contains(out, op.Group) {
			out = append(out, op.Group)
		}
	}
	return out
}

// Run compiles a kernel for each operation and returns the results, ordered by operation,
// toolchain, target and level. The order of the cells and their content do not depend on the
// number of cores. The error is non-nil if nothing could be done or ctx ended.
func Run(ctx context.Context, o Options) ([]Cell, error) {
	prober, err := o.prober()
	if err != nil {
		return nil, err
	}
	levels := pipeline.Once(o.Levels)
	if len(levels) == 0 {
		levels = prober.levels()
	}
	places, err := pipeline.Places(o.Toolchains, "", o.Targets, levels)
	if err != nil {
		return nil, err
	}
	ops, err := o.ops(prober.ops())
	if err != nil {
		return nil, err
	}
	// Levels of one target are processed in order: what the first refuses is not tried with the
	// others.
	n := len(levels)
	results := make([][]Cell, len(places))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0) + 1)
	for i := 0; i < len(places); i += n {
		g.Go(func() error {
			var refused map[int]string
			for k := i; k < i+n; k++ {
				var err error
				if results[k], refused, err = prober.job(gctx, ops, places[k], refused); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]Cell, 0, len(ops)*len(places))
	for i := range ops {
		for _, r := range results {
			out = append(out, r[i])
		}
	}
	return out, nil
}

// newCell returns the cell of an operation before it is compiled.
func newCell(op *Op, p pipeline.Place) Cell {
	return Cell{Op: op.Name, Group: op.Group, Toolchain: p.Toolchain.ID, Target: p.Target, Level: p.Level,
		Status: Unknown, Reason: "not reached"}
}

// fail notes why a cell has no code.
func (c *Cell) fail(why failure) { c.Status, c.Reason = why.status, why.reason }

// decode reads the output of a compiler.
func decode(ctx context.Context, p pipeline.Place, b *toolchain.Batch) (*pipeline.Code, error) {
	parse, err := p.Pipeline.Decode(ctx, fmt.Sprintf("%s %s %s", p.Toolchain.ID, p.Target, p.Level), p.Target, b)
	if err != nil {
		return nil, err
	}
	return parse()
}

// read stores the sequence of an operation, which sequence finds in the kernel's code.
func (c *Cell) read(code *pipeline.Code, err error, name string, op *Op, sequence func(*isa.Func, *Op) ([]Inst, error)) {
	var fn *isa.Func
	if err == nil {
		fn, err = code.Func(name)
	}
	if err == nil {
		c.Sequence, err = sequence(fn, op)
	}
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		c.Status, c.Reason = Refused, refused.why
	case err != nil:
		c.Reason = firstLine(err.Error())
	default:
		c.Status, c.Reason, c.Machine = Mapped, "", Sequence(c.Sequence)
	}
}

// refusal is the error for code that shows that the compiler lacks an operation.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }
