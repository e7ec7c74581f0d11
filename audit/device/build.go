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
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/sass/patch"
	"optcheck/spec"
	"optcheck/toolchain"
)

// Compiler makes images of harness kernels for one target.
type Compiler struct {
	Target string // sm_90; "" for OpenCL C
	Level  string // O0 to O3
	// Tool compiles PTX and disassembles. With JIT set it only disassembles,
	// and the driver of the session compiles.
	Tool *toolchain.Toolchain
	JIT  bool
	// Cubins, if not nil, are used instead of compiling; Tool disassembles.
	Cubins *Cubins
	// Session is asked to compile if JIT is set.
	Session runner.Session
	// Patch changes the machine code of the tests, for experiments. What is
	// patched is never validated.
	Patch []patch.Edit
}

// Name names the compiler for people and logs.
func (c *Compiler) Name() string {
	switch {
	case c.Target == "":
		return "the OpenCL driver"
	case c.JIT:
		return "the driver's JIT (read by nvdisasm of " + c.Tool.ID + ")"
	}
	if c.Cubins != nil {
		return c.Cubins.Compiler + " elsewhere (read by nvdisasm of " + c.Tool.ID + ")"
	}
	return c.Tool.ID
}

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

func newImage(kind runner.ImageKind, data []byte, options string) *Image {
	h := sha256.Sum256(data)
	return &Image{runner.Image{Kind: kind, Data: data, Options: options}, hex.EncodeToString(h[:])}
}

// clOptions are the build options of OpenCL C.
const clOptions = "-cl-std=CL3.0"

// Collector is the image of the collector.
func (c *Compiler) Collector(ctx context.Context) (*Image, error) {
	if c.Target == "" {
		return newImage(runner.ImageOpenCLC, []byte(ptxgen.EmitCollectOpenCL()), clOptions), nil
	}
	text, v, err := ptxgen.EmitCollect(c.Target)
	if err != nil {
		return nil, err
	}
	cubins, failed, err := c.compile(ctx, v, []toolchain.Unit{{Name: ptxgen.CollectName, Text: text}})
	if err == nil {
		err = failed[0]
	}
	if err != nil {
		return nil, fmt.Errorf("collector: %w", err)
	}
	return newImage(runner.ImageCubin, cubins[0].Cubin, ""), nil
}

// compile makes cubins of units.
func (c *Compiler) compile(ctx context.Context, v ptxgen.Version, units []toolchain.Unit) ([]toolchain.Batch, map[int]error, error) {
	if c.Cubins != nil {
		batches, failed := c.Cubins.batches(units)
		return batches, failed, nil
	}
	if !c.JIT {
		res, err := c.Tool.Compile(ctx, toolchain.Job{Target: c.Target, Level: c.Level, LineInfo: true,
			Header: ptxgen.Header(v, c.Target), Units: units})
		if err != nil {
			return nil, nil, err
		}
		return res.Batches, res.Failed, nil
	}
	var b strings.Builder
	b.WriteString(ptxgen.Header(v, c.Target))
	idx := make([]int, len(units))
	for i, u := range units {
		idx[i] = i
		b.WriteString(u.Text)
	}
	out, err := c.Session.Compile(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(b.String()), Options: "-" + c.Level + " -lineinfo"})
	if errors.Is(err, runner.ErrCompile) {
		failed := map[int]error{}
		for i := range units {
			failed[i] = err
		}
		return nil, failed, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return []toolchain.Batch{{Cubin: out.Binary, Units: idx}}, nil, nil
}

// Build compiles and validates the harness kernels of tests, many at a time.
func (c *Compiler) Build(ctx context.Context, tests []*litmus.Test, form ptxgen.Form) ([]*Binary, error) {
	out := make([]*Binary, len(tests))
	byVersion := map[ptxgen.Version][]int{}
	names := map[string]bool{}
	maxV := ptxgen.Version(0)
	if c.Target != "" {
		var err error
		if maxV, err = ptxgen.ParseVersion(c.Tool.MaxPTX); err != nil {
			return nil, err
		}
	}
	for i, t := range tests {
		b := &Binary{Test: t, Form: form}
		out[i] = b
		var err error
		if c.Target == "" {
			b.Harness, err = ptxgen.EmitHarnessOpenCL(t, form)
		} else {
			b.Harness, err = ptxgen.EmitHarness(t, c.Target, form)
		}
		var un *spec.Unsupported
		switch {
		case errors.As(err, &un):
			b.State, b.Why = "unsupported", un.Reason
		case err != nil:
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		case c.Target == "":
			b.State, b.Why = "unread", "no decoder reads what this device runs"
			b.Image = newImage(runner.ImageOpenCLC, []byte(b.Harness.Text), clOptions)
		case b.Harness.Version > maxV:
			b.State, b.Why = "unsupported", fmt.Sprintf("needs PTX %v, %s has %v", b.Harness.Version, c.Tool.ID, maxV)
		case names[b.Harness.Name]:
			return nil, fmt.Errorf("test %s occurs twice", t.Name)
		default:
			names[b.Harness.Name] = true
			byVersion[b.Harness.Version] = append(byVersion[b.Harness.Version], i)
		}
	}
	for v := ptxgen.Version(10); v <= maxV; v++ {
		if list := byVersion[v]; len(list) > 0 {
			if err := c.buildVersion(ctx, v, list, out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (c *Compiler) buildVersion(ctx context.Context, v ptxgen.Version, list []int, out []*Binary) error {
	units := make([]toolchain.Unit, len(list))
	for k, i := range list {
		units[k] = toolchain.Unit{Name: out[i].Harness.Name, Text: out[i].Harness.Text}
	}
	cubins, failed, err := c.compile(ctx, v, units)
	if err != nil {
		return err
	}
	for k, e := range failed {
		b := out[list[k]]
		line, _, _ := strings.Cut(e.Error(), "\n")
		b.State, b.Why = "compile-failed", line
	}
	for _, cu := range cubins {
		patched, err := c.patched(ctx, &cu, list, out)
		if err != nil {
			return err
		}
		image := newImage(runner.ImageCubin, cu.Cubin, "")
		code, err := pipeline.Decode(ctx, c.Tool, c.Target+" harness", c.Target, cu.Cubin)
		if err != nil {
			return err
		}
		check := optcheck.NewChecker()
		for _, k := range cu.Units {
			b := out[list[k]]
			b.Image = image
			fn, err := code.Func(b.Harness.Name)
			if err != nil {
				b.State, b.Why = "unknown", err.Error()
				continue
			}
			b.validate(check, fn)
			if len(c.Patch) > 0 {
				b.mark(patched[b.Harness.Name])
			}
		}
	}
	return nil
}

// patched makes the changes that were asked for in the kernels of tests of a cubin,
// and gives them by kernel.
func (c *Compiler) patched(ctx context.Context, cu *toolchain.Batch, list []int, out []*Binary) (map[string][]string, error) {
	if len(c.Patch) == 0 {
		return nil, nil
	}
	names := map[string]bool{}
	for _, k := range cu.Units {
		names[out[list[k]].Harness.Name] = true
	}
	data, changes, err := patch.Apply(ctx, c.Tool.DisassembleKnown, c.Target, cu.Cubin,
		func(name string) bool { return names[name] }, c.Patch...)
	if err != nil {
		return nil, err
	}
	cu.Cubin = data
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
	b.Validated, b.Why = r.Validated(), r.Why()
	switch r.Class {
	case optcheck.Preserved:
		b.State = "validated"
	case optcheck.Changed:
		b.State = stateChanged
	default:
		b.State = "unknown"
	}
	b.lift(r)
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
