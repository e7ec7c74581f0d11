package realcode

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/sass/cubin"
	"optcheck/target"
	"optcheck/toolchain"
)

// Classes of cells.
const (
	Preserved   = "preserved"   // everything that was compared is there, in an order that the PTX has
	Changed     = "changed"     // there are findings, and no test of the model shows what they make possible
	Miscompiled = "miscompiled" // the machine code allows what the PTX forbids, by a litmus test
	Unknown     = "unknown"     // something could not be decided: no good news
	Unsupported = "unsupported" // the release or the target cannot compile the module
)

// Cell is a module compiled in one way.
type Cell struct {
	File      string `json:"file"`
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Level     string `json:"level"`
	Class     string `json:"class"`
	Reason    string `json:"reason,omitempty"`
	// CompiledAs is the version of PTX as which the release compiled a module of a
	// newer one, "" if it knows the module's.
	CompiledAs string  `json:"compiled_as,omitempty"`
	Result     *Result `json:"result,omitempty"`
}

// Options say what is audited.
type Options struct {
	Toolchains []*toolchain.Toolchain
	// Of are the toolchains of modules that are not for all of them: PTX that one of their
	// front ends made.
	Of map[*ptx.Module][]*toolchain.Toolchain
	// Targets and Levels restrict the matrix. Without targets, those of Targets are
	// taken which the module allows.
	Targets, Levels []string
	// Jobs is how many cells are worked on at a time; 0: one a core.
	Jobs int
}

// Targets are those that are audited if none are named: one of each generation with
// a memory model.
var Targets = []string{"sm_70", "sm_80", "sm_90"}

// Levels are all optimisation levels.
var Levels = []string{"O0", "O1", "O2", "O3"}

// Audit compiles a module in every way and hands over the cells in a fixed order.
// The error is that of the context, or of emit.
func Audit(ctx context.Context, o Options, m *ptx.Module, emit func(*Cell) error) error {
	cells := o.cells(m)
	done := make([]chan struct{}, len(cells))
	for i := range done {
		done[i] = make(chan struct{})
	}
	group, ctx := errgroup.WithContext(ctx)
	slots := make(chan struct{}, max(1, o.Jobs, b2n(o.Jobs == 0)*runtime.GOMAXPROCS(0)))
	group.Go(func() error {
		for i := range cells {
			select {
			case <-done[i]:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := emit(&cells[i].Cell); err != nil {
				return err
			}
			cells[i].Result = nil
		}
		return nil
	})
	for i := range cells {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return group.Wait()
		}
		group.Go(func() error {
			defer func() { <-slots }()
			defer close(done[i])
			cells[i].run(ctx, m)
			return ctx.Err()
		})
	}
	return group.Wait()
}

func b2n(b bool) int { return int(b2i(b)) }

type cell struct {
	Cell
	tc *toolchain.Toolchain
}

// cells lays out the matrix.
func (o *Options) cells(m *ptx.Module) (out []cell) {
	targets, levels := o.Targets, o.Levels
	if len(targets) == 0 {
		for _, t := range Targets {
			if target.Compare(strings.TrimRight(m.Target, "af"), t) <= 0 {
				targets = append(targets, t)
			}
		}
		if len(targets) == 0 {
			targets = []string{m.Target}
		}
	}
	if len(levels) == 0 {
		levels = Levels
	}
	tcs := o.Toolchains
	if own := o.Of[m]; own != nil {
		tcs = own
	}
	for _, tc := range tcs {
		for _, t := range targets {
			for _, level := range levels {
				out = append(out, cell{Cell{File: m.File, Toolchain: tc.ID, Target: t, Level: level}, tc})
			}
		}
	}
	return out
}

// run fills in what became of a cell.
func (c *cell) run(ctx context.Context, m *ptx.Module) {
	c.CompiledAs = lowered(c.tc, m)
	code, err := Build(ctx, c.tc, m, c.Target, c.Level)
	if err != nil {
		c.Class, c.Reason = Unknown, oneLine(err)
		if errors.Is(err, ErrUnsupported) {
			c.Class = Unsupported
			c.Reason = strings.TrimPrefix(c.Reason, ErrUnsupported.Error()+": ")
		}
		return
	}
	if err := c.judge(ctx, m, code); err != nil {
		c.Class, c.Reason = Unknown, oneLine(err)
	}
}

func (c *Cell) judge(ctx context.Context, m *ptx.Module, code *pipeline.Code) error {
	var err error
	if c.Result, err = Compare(ctx, m, code, c.Target); err != nil {
		return err
	}
	c.Class, c.Reason = c.Result.Class()
	return nil
}

// Compare compares a module with the machine code that Build made of it for a target, and
// asks the model about what differs.
func Compare(ctx context.Context, m *ptx.Module, code *pipeline.Code, gpu string) (*Result, error) {
	kernels := Check(m, code.Program, number(gpu)).Kernels
	for i := range kernels {
		if err := kernels[i].judged(ctx); err != nil {
			return nil, err
		}
	}
	return gather(kernels), nil
}

func number(gpu string) int {
	n, _ := target.SM(gpu)
	return n
}

func oneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	if len(s) > 500 {
		s = s[:500] + "…"
	}
	return s
}

// CheckCubin compares a module with a cubin that somebody else made of it: its
// release compiles the module again, with lines, until the machine code is the
// same. The error is that it is not, at any level.
func CheckCubin(ctx context.Context, tcs []*toolchain.Toolchain, m *ptx.Module, file string, data []byte) (*Cell, error) {
	f, err := cubin.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	tried := 0
	for _, tc := range tcs {
		if f.Release != "" && tc.Release() != f.Release {
			continue
		}
		gpu, err := targetFor(tc, m, f.Arch())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, level := range slices.Backward(Levels) {
			tried++
			lined, err := compileModule(ctx, tc, m, gpu, level, true)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.File, err)
			}
			if equal(lined, data) != nil {
				continue
			}
			code, err := pipeline.Decode(ctx, tc, m.File, gpu, lined)
			if err != nil {
				return nil, err
			}
			c := &Cell{File: m.File, Toolchain: tc.ID, Target: gpu, Level: level, CompiledAs: lowered(tc, m)}
			return c, c.judge(ctx, m, code)
		}
	}
	if tried == 0 {
		return nil, fmt.Errorf("%s: it was made by release %s of CUDA, and that is not installed", file, f.Release)
	}
	return nil, fmt.Errorf("%s: release %s makes other machine code of %s at every level: is it made from this text, with these flags?",
		file, f.Release, m.File)
}
