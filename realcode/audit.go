package realcode

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"optcheck/event"
	"optcheck/internal/promptly"
	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
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
	Unsupported = "unsupported" // the release or the target cannot compile the module, and another one can
	Invalid     = "invalid"     // no release and no target compiles the module, for a reason in it
	Crashed     = "crashed"     // the compiler crashes or hangs at the module
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
	CompiledAs string `json:"compiled_as,omitempty"`
	// Crash is what the compiler does at the module in the place of machine code, nil if it ends well.
	Crash  *event.Finding `json:"crash,omitempty"`
	Result *Result        `json:"result,omitempty"`
}

// Options say what is audited.
type Options struct {
	Toolchains []*toolchain.Toolchain
	// Of are the toolchains and targets of modules that are not for all of them: PTX that one of
	// their front ends made.
	Of map[*ptx.Module]Own
	// Targets and Levels restrict the matrix. Without targets, those of Targets are
	// taken which the module allows.
	Targets, Levels []string
	// Have, if not nil, reports whether a cell of a module is known already and needs no work.
	Have func(*ptx.Module, *Cell) bool
	// Execute is on how many inputs kernels and their machine code are executed and compared; 0: not at all.
	Execute int
	// Inputs, if there are any, are those inputs.
	Inputs []*refine.Input
	// Code, if not nil, is given the machine code of each cell before it is compared, by several at a time.
	Code func(*Cell, *isa.Program)
	// Jobs is how many cells are worked on at a time; 0: one a core.
	Jobs int
}

// Own is what a module is compiled by and for. Without targets, it is for those of the audit.
type Own struct {
	Toolchains []*toolchain.Toolchain
	Targets    []string
	// Failed is why there is no module, but its name only (NewFailed): what the front end did instead. nil: there is one.
	Failed error
}

// Targets are those that are audited if none are named: one of each generation with
// a memory model.
var Targets = []string{"sm_70", "sm_80", "sm_90"}

// Levels are all optimisation levels.
var Levels = []string{"O0", "O1", "O2", "O3"}

// Audit audits one module.
func Audit(ctx context.Context, o Options, m *ptx.Module, emit func(*Cell) error) error {
	return AuditAll(ctx, o, []*ptx.Module{m}, func(_ int, c *Cell) error { return emit(c) })
}

// AuditAll compiles modules in every way that is not known yet and hands over the cells, with
// the number of the module, in a fixed order: one module after the other. The error is that
// of the context, or of emit.
func AuditAll(ctx context.Context, o Options, modules []*ptx.Module, emit func(int, *Cell) error) error {
	jobs := o.Jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	type task struct {
		cell
		of   *held
		size int64
		done chan struct{}
	}
	var tasks []*task
	for i, m := range modules {
		of := &held{number: i, m: m, failed: o.Of[m].Failed}
		for _, c := range o.cells(m) {
			if o.Have != nil && o.Have(m, &c.Cell) {
				continue
			}
			of.left++
			tasks = append(tasks, &task{c, of, min(int64(m.Size()), maxAhead), make(chan struct{})})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs + 2)
	ahead := semaphore.NewWeighted(maxAhead)
	reading := semaphore.NewWeighted(maxRead)
	group.Go(func() error {
		for _, t := range tasks {
			select {
			case <-t.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := emit(t.of.number, &t.Cell); err != nil {
				return err
			}
			t.Result = nil
			ahead.Release(t.size)
		}
		return nil
	})
	group.Go(func() error { // the limit has the cells begin one after the other
		for _, t := range tasks {
			if err := ahead.Acquire(ctx, t.size); err != nil {
				return err
			}
			group.Go(func() error {
				c, err := promptly.Do(ctx, func() (cell, error) {
					c := t.cell
					c.run(ctx, t.of, reading)
					t.of.release()
					return c, ctx.Err()
				})
				if err == nil {
					t.cell = c
					close(t.done)
				}
				return err
			})
		}
		return nil
	})
	return group.Wait()
}

// Bounds of memory, which do not grow with the cores.
const (
	// maxAhead bounds the PTX, in bytes, of the cells that have begun and are not handed over: results
	// wait for the slowest before them. One takes less memory than its module's text.
	maxAhead = 256 << 20
	// maxRead bounds the machine code that is compared at a time, in bytes of cubins; as a program it
	// takes sixty times that.
	maxRead = 6 << 20
)

// held is a module while there are cells of it to come.
type held struct {
	number   int
	mu       sync.Mutex
	m        *ptx.Module
	whole    *ptx.Module
	failed   error // Own.Failed
	left     int
	compiled sync.Map // by toolchain: a func() bool that says whether it compiles the module for some target
}

// invalid reports whether a toolchain that refuses a module does so for all its targets.
func (h *held) invalid(ctx context.Context, tc *toolchain.Toolchain, level string) bool {
	ask, _ := h.compiled.LoadOrStore(tc, sync.OnceValue(func() bool { return compiles(ctx, tc, h.module(), level) }))
	return !ask.(func() bool)()
}

// module gives the module, read again if it was forgotten.
func (h *held) module() *ptx.Module {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.whole == nil {
		h.whole = h.m.Whole()
	}
	return h.whole
}

func (h *held) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left--; h.left == 0 {
		h.whole = nil
	}
}

type cell struct {
	Cell
	tc      *toolchain.Toolchain
	execute int
	inputs  []*refine.Input
	show    func(*Cell, *isa.Program)
}

// cells lays out the matrix.
func (o *Options) cells(m *ptx.Module) (out []cell) {
	targets, levels, tcs := o.Targets, o.Levels, o.Toolchains
	if own, ok := o.Of[m]; ok {
		tcs = own.Toolchains
		if len(own.Targets) > 0 {
			targets = own.Targets
		}
	}
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
	for _, tc := range tcs {
		for _, t := range targets {
			for _, level := range levels {
				out = append(out, cell{Cell{File: m.File, Toolchain: tc.ID, Target: t, Level: level}, tc, o.Execute, o.Inputs, o.Code})
			}
		}
	}
	return out
}

// run fills in what became of a cell.
func (c *cell) run(ctx context.Context, of *held, reading *semaphore.Weighted) {
	err := of.failed
	if err == nil {
		m := of.module()
		c.CompiledAs = lowered(c.tc, m)
		err = c.audit(ctx, m, reading)
	}
	if err != nil {
		c.Class, c.Reason = Unknown, oneLine(err)
		var tool *toolchain.Error
		switch {
		case errors.Is(err, ErrInvalid), errors.Is(err, errRefused) && of.invalid(ctx, c.tc, c.Level):
			c.Class, c.Reason = Invalid, strings.TrimPrefix(strings.TrimPrefix(c.Reason, ErrInvalid.Error()+": "), ErrUnsupported.Error()+": ")
		case errors.Is(err, ErrUnsupported):
			c.Class, c.Reason = Unsupported, strings.TrimPrefix(c.Reason, ErrUnsupported.Error()+": ")
		case errors.Is(err, toolchain.ErrCrashed):
			c.Class, c.Reason, c.Crash = Crashed, "", pipeline.Crash(err, 0, c.tc.Compilers())
		case errors.As(err, &tool): // which may go well another time (report.Transient)
			c.Reason = pipeline.Kind(err) + ": " + c.Reason
		}
	}
}

func (c *cell) audit(ctx context.Context, m *ptx.Module, reading *semaphore.Weighted) error {
	b, err := build(ctx, c.tc, m, c.Target, c.Level)
	if err != nil {
		return err
	}
	parse, err := pipeline.Disassemble(ctx, c.tc, m.File, b.gpu, b.lined)
	if err != nil {
		return err
	}
	weight := min(int64(len(b.lined)), maxRead)
	if err := reading.Acquire(ctx, weight); err != nil {
		return err
	}
	defer reading.Release(weight)
	code, err := parse()
	if err != nil {
		return err
	}
	if c.show != nil {
		c.show(&c.Cell, code.Program)
	}
	return c.judge(ctx, m, c.tc, code, c.execute, c.inputs...)
}

// Search bounds what is spent on inputs that reach more of a kernel, in instructions of lanes of both codes.
const Search = 16 << 20

// options are those with which kernels are executed on so many inputs. What nobody wrote in shared memory is there, whatever it is.
func options(runs int) refine.Options {
	return refine.Options{Runs: runs, Search: Search, Shared: true}
}

// judge compares a module with machine code, and executes both on some inputs.
func (c *Cell) judge(ctx context.Context, m *ptx.Module, tc *toolchain.Toolchain, code *pipeline.Code, runs int,
	inputs ...*refine.Input) error {
	var err error
	if c.Result, err = Compare(ctx, m, code, c.Target); err != nil {
		return err
	}
	if runs > 0 {
		again := func() (*pipeline.Code, error) { return uncontracted(ctx, tc, m, c.Target, c.Level) }
		o := options(runs)
		o.Inputs = inputs
		if err := c.Result.execute(ctx, m, code, again, o); err != nil {
			return err
		}
	}
	c.Result.settle(runs > 0)
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
	return cut(strings.Join(strings.Fields(err.Error()), " "), 500)
}

func cut(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// Runs is on how many inputs an audit executes kernels unless it is told otherwise.
const Runs = 2

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
			lined, err := compileModule(ctx, tc, m, gpu, level, true, nil)
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
			return c, c.judge(ctx, m, tc, code, Runs)
		}
	}
	if tried == 0 {
		return nil, fmt.Errorf("%s: it was made by release %s of CUDA, and no ptxas of it was found (optcheck toolchain install or add gets one)", file, f.Release)
	}
	return nil, fmt.Errorf("%s: release %s makes other machine code of %s at every level: is it made from this text, with these flags?",
		file, f.Release, m.File)
}
