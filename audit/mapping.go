package audit

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
	"optcheck/ptxgen"
	"optcheck/target"
	"optcheck/toolchain"
)

// The statuses of a mapping's cells.
const (
	MapMapped  = "mapped"
	MapRefused = "refused" // by the compiler, or its PTX is too old
	MapUnknown = "unknown" // the tools failed, or their output was not understood
)

// MapCell is one entry of a mapping: what an operation becomes.
type MapCell struct {
	Op        string `json:"op"`
	Group     string `json:"group"`
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Level     string `json:"level"`
	Status    string `json:"status"`
	// Machine is the sequence as MapSequence renders it, Sequence the same as
	// data; both are empty unless the status is mapped.
	Machine  string    `json:"machine,omitempty"`
	Sequence []MapInst `json:"sequence,omitempty"`
	// Reason says why there is no sequence: of a refusal, the compiler's words.
	Reason string `json:"reason,omitempty"`
}

// MapOptions selects a mapping.
type MapOptions struct {
	Toolchains []*toolchain.Toolchain
	Targets    []string // empty means all that each toolchain has
	Levels     []string // empty means O0 and O3, of AMD O2
	// Ops are patterns (path.Match) of operations or groups; empty means all.
	Ops []string
}

// MapLevels are the levels that a mapping shows unless asked otherwise: O1 and
// O2 give the sequences of O3.
var MapLevels = []string{"O0", "O3"}

// MapLevelsAMD are the same for AMD; O0 is that of the back end alone.
var MapLevelsAMD = []string{"O2"}

// amd tells whether the mapping is of OpenCL C for AMD's targets.
func (o *MapOptions) amd() bool {
	return len(o.Toolchains) > 0 && o.Toolchains[0].Vendor() == target.AMD
}

// oneVendor demands toolchains of one vendor: others have other operations.
func (o *MapOptions) oneVendor() error {
	for _, tc := range o.Toolchains {
		if tc.Vendor() != o.Toolchains[0].Vendor() {
			return fmt.Errorf("%s and %s compile for different vendors, whose operations differ", o.Toolchains[0].ID, tc.ID)
		}
	}
	return nil
}

// ops returns the operations that the patterns mean.
func (o *MapOptions) ops() ([]MapOp, error) {
	all := MapOps()
	if o.amd() {
		all = MapCLOps()
	}
	if len(o.Ops) == 0 {
		return all, nil
	}
	used := make([]bool, len(o.Ops))
	var out []MapOp
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
			return nil, fmt.Errorf("no operation matches %q", p)
		}
	}
	return out, nil
}

// mapper is the state of one mapping run.
type mapper struct {
	o   MapOptions
	ops []MapOp
}

// Mapping compiles a kernel for each operation and returns what became of it,
// ordered by operation, toolchain, target and level. The order of the cells
// and their content do not depend on the number of cores. The error is
// non-nil if nothing could be done or ctx ended.
func Mapping(ctx context.Context, o MapOptions) ([]MapCell, error) {
	plan := Options{Toolchains: o.Toolchains, Targets: o.Targets, Levels: o.Levels}
	if err := o.oneVendor(); err != nil {
		return nil, err
	}
	if len(o.Levels) == 0 {
		plan.Levels = MapLevels
	}
	if o.amd() && len(o.Levels) == 0 {
		plan.Levels = MapLevelsAMD
	}
	jobs, err := plan.jobs()
	if err != nil {
		return nil, err
	}
	m := &mapper{o: o}
	if m.ops, err = o.ops(); err != nil {
		return nil, err
	}
	// Levels of one target follow each other: what the first refuses is not
	// offered to the others.
	n := len(plan.Levels)
	results := make([][]MapCell, len(jobs))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0) + 1)
	for i := 0; i < len(jobs); i += n {
		g.Go(func() error {
			var refused map[int]string
			for k := i; k < i+n; k++ {
				var err error
				if results[k], refused, err = m.job(gctx, jobs[k], refused); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]MapCell, 0, len(m.ops)*len(jobs))
	for i := range m.ops {
		for _, r := range results {
			out = append(out, r[i])
		}
	}
	return out, nil
}

// job maps all operations for one toolchain, target and level. refused says
// which operations are known to be refused, and why; it is returned with what
// was found.
func (m *mapper) job(ctx context.Context, j job, refused map[int]string) ([]MapCell, map[int]string, error) {
	if j.tc.Vendor() == target.AMD {
		cells, err := m.amdJob(ctx, j)
		return cells, nil, err
	}
	cells := make([]MapCell, len(m.ops))
	maxV, err := ptxgen.ParseVersion(j.tc.MaxPTX)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", j.tc.ID, err)
	}
	now := map[int]string{}
	var units []toolchain.Unit
	var of []int
	for i := range m.ops {
		op := &m.ops[i]
		cells[i] = MapCell{Op: op.Name, Group: op.Group, Toolchain: j.tc.ID, Target: j.target, Level: j.level, Status: MapUnknown, Reason: "not reached"}
		why, known := refused[i]
		if op.Version > maxV {
			why, known = fmt.Sprintf("needs PTX %v, %s has %v", op.Version, j.tc.ID, maxV), true
		}
		if known {
			cells[i].Status, cells[i].Reason, now[i] = MapRefused, why, why
			continue
		}
		name := fmt.Sprintf("m%d", i)
		units = append(units, toolchain.Unit{Name: name, Text: op.kernel(name)})
		of = append(of, i)
	}
	res, err := j.tc.Compile(ctx, toolchain.Job{Target: j.target, Level: j.level, Version: j.tc.MaxPTX, Units: units, TrustMessages: true})
	if err != nil {
		return nil, nil, err
	}
	for u, e := range res.Failed {
		c := &cells[of[u]]
		c.Reason = kindOf(e) + ": " + firstLine(e.Error())
		if errors.Is(e, toolchain.ErrCompile) {
			c.Status, c.Reason = MapRefused, refusalWords(e)
			now[of[u]] = c.Reason
		}
	}
	for _, b := range res.Batches {
		funcs, err := mapFuncs(ctx, j, b.Cubin)
		if errors.Is(err, toolchain.ErrCancelled) {
			return nil, nil, err
		}
		for _, u := range b.Units {
			m.cell(&cells[of[u]], &m.ops[of[u]], funcs[units[u].Name], err)
		}
	}
	return cells, now, nil
}

// refusalWords are the messages of a refusal, each once.
func refusalWords(err error) string {
	var e *toolchain.Error
	var words []string
	if errors.As(err, &e) {
		for _, d := range e.Diagnostics {
			if (d.Severity == "error" || d.Severity == "fatal") && !slices.Contains(words, d.Message) {
				words = append(words, d.Message)
			}
		}
	}
	if len(words) == 0 {
		return firstLine(err.Error())
	}
	return strings.Join(words, "; ")
}

func (m *mapper) cell(c *MapCell, op *MapOp, fn *isa.Func, err error) {
	if err == nil && fn == nil {
		err = errors.New("the kernel is not in the machine code")
	}
	if err == nil {
		c.Sequence, err = mapSequence(fn, op)
	}
	if err != nil {
		c.Reason = firstLine(err.Error())
		return
	}
	c.Status, c.Reason, c.Machine = MapMapped, "", MapSequence(c.Sequence)
}

// mapFuncs returns the functions of a cubin by name.
func mapFuncs(ctx context.Context, j job, data []byte) (map[string]*isa.Func, error) {
	code, err := Decode(ctx, j.tc, fmt.Sprintf("%s %s %s", j.tc.ID, j.target, j.level), j.target, data)
	if err != nil {
		return nil, err
	}
	if p := code.Program.Problems; len(p) > 0 {
		return nil, fmt.Errorf("line %d of the disassembly not understood: %s (%s)", p[0].Line, p[0].Text, p[0].Why)
	}
	return code.Funcs(), nil
}
