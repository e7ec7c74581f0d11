// Package device runs tests on a device and says whose effect each outcome is:
// it compiles harness kernels, validates the binaries by optcheck, runs those
// that are the test, and judges what was seen by the memory models.
//
// It chooses no launches (runner/drive does) and prints nothing but events.
package device

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/realcode"
	"optcheck/runner"
	"optcheck/sass/patch"
	"optcheck/spec"
	"optcheck/toolchain"
)

// Compiler makes images of harness kernels for one target.
type Compiler struct {
	Target string // sm_90; "" for OpenCL C
	Level  string // O0 to O3
	// Layout is Pointers, or Adjacent: the locations of an instance are neighbours.
	Layout spec.Layout
	// Tool is the toolchain that compiles, or only disassembles; nil for OpenCL C.
	Tool *toolchain.Toolchain
	// Maker makes the images; nil stands for the one of Tool.
	Maker pipeline.Maker
	// Patch changes the machine code of the tests, for experiments. What is
	// patched is never validated.
	Patch []patch.Edit
}

// maker is what makes the images.
func (c *Compiler) maker() (pipeline.Maker, error) {
	if c.Maker != nil {
		return c.Maker, nil
	}
	return pipeline.NewMaker(c.Tool, c.Target, c.Level)
}

// Name names the compiler for people and logs.
func (c *Compiler) Name() string {
	if c.Maker != nil {
		return c.Maker.Name()
	}
	return c.Tool.ID
}

// alone reports whether compiling takes the device.
func (c *Compiler) alone() bool { return c.Maker != nil && c.Maker.Alone() }

// Binary is a compiled harness kernel.
type Binary struct {
	Test    *litmus.Test
	Form    ptxgen.Form
	Harness *ptxgen.Harness // nil if the test could not be emitted
	Image   *Image          // nil if there is none
	// Validated tells that the machine code is the test; Why says what is in
	// the way, or why there is no binary.
	Validated bool
	Why       string
	// State is "validated", "changed", "unknown", "unsupported", "compile-failed",
	// "unread" (no decoder for what the device runs) or "patched".
	State string
	// Findings are those of the check, in order.
	Findings                  []optcheck.Finding
	StressLoads, StressStores int
	Code                      string // hash of the kernel's machine code
	// Machine is the machine code as litmus tests that together allow what it allows;
	// nil if it could not be lifted: Unlifted says why.
	Machine  []optcheck.LiftedTest
	Unlifted string
}

// stateChanged is the state of a binary that is known not to be the test.
const stateChanged = "changed"

// statePatched is the state of a binary that was changed on purpose.
const statePatched = "patched"

// Image is a file for the driver that holds one or more kernels.
type Image struct {
	runner.Image
	SHA256 string
}

func newImage(i runner.Image) *Image {
	h := sha256.Sum256(i.Data)
	return &Image{i, hex.EncodeToString(h[:])}
}

// Collector is the image of the collector.
func (c *Compiler) Collector(ctx context.Context) (*Image, error) {
	m, err := c.maker()
	if err != nil {
		return nil, err
	}
	i, err := m.Collector(ctx)
	if err != nil {
		return nil, err
	}
	return newImage(i), nil
}

// Build compiles and validates the harness kernels of tests, many at a time.
func (c *Compiler) Build(ctx context.Context, tests []*litmus.Test, form ptxgen.Form) ([]*Binary, error) {
	m, err := c.maker()
	if err != nil {
		return nil, err
	}
	out := make([]*Binary, len(tests))
	var list []*Binary
	var kernels []*ptxgen.Harness
	names := map[string]bool{}
	for i, t := range tests {
		b := &Binary{Test: t, Form: form}
		out[i] = b
		b.Harness, err = m.Emit(t, form, c.Layout)
		var un *spec.Unsupported
		switch {
		case errors.As(err, &un):
			b.State, b.Why = "unsupported", un.Reason
		case err != nil:
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		case names[b.Harness.Name]:
			return nil, fmt.Errorf("test %s occurs twice", t.Name)
		default:
			names[b.Harness.Name] = true
			list, kernels = append(list, b), append(kernels, b.Harness)
		}
	}
	made, failed, err := m.Make(ctx, kernels)
	if err != nil {
		return nil, err
	}
	for k, e := range failed {
		line, _, _ := strings.Cut(e.Error(), "\n")
		list[k].State, list[k].Why = "compile-failed", line
	}
	for i := range made {
		if err := c.read(ctx, m, &made[i], list); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// read validates the kernels of an image.
func (c *Compiler) read(ctx context.Context, m pipeline.Maker, one *pipeline.Made, list []*Binary) error {
	patched, err := c.patched(ctx, one, list)
	if err != nil {
		return err
	}
	image := newImage(one.Image)
	code, err := m.Decode(ctx, one)
	if err != nil && !errors.Is(err, pipeline.ErrUnread) {
		return err
	}
	check := optcheck.NewChecker()
	for _, k := range one.Kernels {
		b := list[k]
		b.Image = image
		if code == nil {
			b.State, b.Why = "unread", err.Error()
			continue
		}
		fn, err := code.Func(b.Harness.Name)
		if err != nil {
			b.State, b.Why = "unknown", err.Error()
			continue
		}
		if b.Harness.Program {
			err = b.compare(ctx, c.Target, code, fn)
		} else {
			b.validate(check, fn)
		}
		if err != nil {
			return err
		}
		if err := b.execute(ctx, c.Target, code, fn); err != nil {
			return err
		}
		if len(c.Patch) > 0 {
			b.mark(patched[b.Harness.Name])
		}
	}
	return nil
}

// patched makes the changes that were asked for in the kernels of tests of a cubin,
// and gives them by kernel.
func (c *Compiler) patched(ctx context.Context, one *pipeline.Made, list []*Binary) (map[string][]string, error) {
	if len(c.Patch) == 0 {
		return nil, nil
	}
	names := map[string]bool{}
	for _, k := range one.Kernels {
		names[list[k].Harness.Name] = true
	}
	data, changes, err := patch.Apply(ctx, c.Tool.DisassembleKnown, c.Target, one.Image.Data,
		func(name string) bool { return names[name] }, c.Patch...)
	if err != nil {
		return nil, err
	}
	one.Image.Data = data
	made := map[string][]string{}
	for _, x := range changes {
		made[x.Func] = append(made[x.Func], fmt.Sprintf("0x%x %s -> %s", x.Addr, x.From, x.To))
	}
	return made, nil
}

// mark says of a binary that it was changed on purpose, so that it cannot be taken
// for what a compiler made. One in which nothing was changed is not run.
func (b *Binary) mark(changes []string) {
	b.Validated = false
	if len(changes) == 0 {
		b.State, b.Why, b.Image = statePatched, "the patch fits no instruction", nil
		return
	}
	why := strings.Join(changes, "; ")
	if b.Why != "" {
		why += " (" + b.Why + ")"
	}
	b.State, b.Why = statePatched, why
}

// validate checks a binary.
func (b *Binary) validate(check *optcheck.Checker, fn *isa.Func) {
	check.Locations = nil
	for i := range b.Harness.Test.Locations {
		check.Locations = append(check.Locations, b.Harness.Test.Locations[i].Name)
	}
	r := check.CheckHarness(fn, b.Harness.Check)
	h := optcheck.CodeHash(fn, nil)
	b.Code = hex.EncodeToString(h[:])
	b.StressLoads, b.StressStores = r.StressLoads, r.StressStores
	for _, t := range r.Threads {
		b.Findings = append(b.Findings, t.Findings...)
	}
	b.conclude(r.Class, r.Why())
	b.lift(r)
}

// compare checks a binary without markers as a program: its PTX says what must be there.
func (b *Binary) compare(ctx context.Context, target string, code *pipeline.Code, fn *isa.Func) error {
	m, err := b.module(target)
	if err != nil {
		return err
	}
	h := optcheck.CodeHash(fn, nil)
	b.Code, b.Unlifted = hex.EncodeToString(h[:]), "asynchronous operations"
	r, err := realcode.Compare(ctx, m, code, target)
	if err != nil {
		return err
	}
	switch class, why := r.Class(); class {
	case realcode.Preserved:
		b.conclude(optcheck.Preserved, "")
	case realcode.Unknown:
		b.conclude(optcheck.Unknown, why)
	default:
		f := &r.Findings[0]
		b.conclude(optcheck.Changed, fmt.Sprintf("%s: %s", f.Rule, f.Detail))
	}
	return nil
}

// module is the kernel's PTX.
func (b *Binary) module(target string) (*ptx.Module, error) {
	return ptx.Parse(b.Harness.Name+".ptx", []byte(ptxgen.Header(b.Harness.Version, target)+b.Harness.Text))
}

// conclude says what a binary is, and why.
func (b *Binary) conclude(class optcheck.Class, why string) {
	b.Validated, b.Why = class == optcheck.Preserved, why
	switch class {
	case optcheck.Preserved:
		b.State = "validated"
	case optcheck.Changed:
		b.State = stateChanged
	default:
		b.State = "unknown"
	}
}

// lift makes litmus tests of the machine code.
func (b *Binary) lift(r *optcheck.HarnessResult) {
	if r.LiftErr != nil {
		b.Unlifted = r.LiftErr.Error()
		return
	}
	threads := make([]optcheck.LiftedThread, len(r.Lifted))
	for i, l := range r.Lifted {
		threads[i] = optcheck.LiftedThread{Lifted: l, Spec: b.Harness.Check.Specs[i], Values: b.Harness.Values[i]}
	}
	var err error
	if b.Machine, err = optcheck.LiftTest(b.Harness.Test, threads); err != nil {
		b.Unlifted = err.Error()
	}
}
