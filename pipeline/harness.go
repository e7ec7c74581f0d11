package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/x86"
)

// Maker makes images of harness kernels for one device, and reads their machine code.
type Maker interface {
	// Name returns the compiler's name for people and logs.
	Name() string
	// Alone reports whether making images occupies the device, which serves one call at a time.
	Alone() bool
	// Emit writes the kernel of a test. The error is a *spec.Unsupported if the device or the
	// compiler does not support it.
	Emit(t *litmus.Test, form ptxgen.Form, layout spec.Layout) (*ptxgen.Harness, error)
	// Collector makes the image of the collector.
	Collector(ctx context.Context) (runner.Image, error)
	// Make makes images of kernels. failed holds, by index, the errors of kernels without an
	// image.
	Make(ctx context.Context, list []*ptxgen.Harness) (made []Made, failed map[int]error, err error)
	// Decode reads the machine code in an image. The error wraps ErrUnread if no decoder can
	// read it.
	Decode(ctx context.Context, m *Made) (*Code, error)
}

// Made is an image of some kernels, given by their indices in the requested list.
type Made struct {
	Image   runner.Image
	Kernels []int
}

// ErrUnread is wrapped by the error for machine code that no decoder reads.
var ErrUnread = errors.New("no decoder reads what this device runs")

// ptxMaker makes cubins from PTX: with ptxas, or with another compiler of kernels of one PTX
// version.
type ptxMaker struct {
	*assembler
	target, level string
	name          string
	alone         bool
	compile       func(ctx context.Context, v ptxgen.Version, units []toolchain.Unit) ([]toolchain.Batch, map[int]error, error)
}

// NewMaker returns a maker that compiles with a toolchain.
func NewMaker(tc *toolchain.Toolchain, target, level string) (Maker, error) {
	m, err := newPTXMaker(tc, target, level)
	if err != nil {
		return nil, err
	}
	m.name = tc.ID
	m.compile = func(ctx context.Context, v ptxgen.Version, units []toolchain.Unit) ([]toolchain.Batch, map[int]error, error) {
		res, err := m.Compile(ctx, &Job{Target: target, Level: level, Way: Way{Version: v}, Units: units})
		if err != nil {
			return nil, nil, err
		}
		return res.Batches, res.Failed, nil
	}
	return m, nil
}

// NewDriverMaker returns a maker that compiles PTX with the driver of a session; the toolchain
// disassembles.
func NewDriverMaker(tc *toolchain.Toolchain, target, level string, s runner.Session) (Maker, error) {
	m, err := newPTXMaker(tc, target, level)
	if err != nil {
		return nil, err
	}
	m.name, m.alone = "the driver's JIT (read by nvdisasm of "+tc.ID+")", true
	m.compile = func(ctx context.Context, v ptxgen.Version, units []toolchain.Unit) ([]toolchain.Batch, map[int]error, error) {
		text := ptxgen.Header(v, target)
		all := make([]int, len(units))
		for i, u := range units {
			all[i] = i
			text += u.Text
		}
		out, err := s.Compile(ctx, runner.Image{Kind: runner.ImagePTX, Data: []byte(text), Options: "-" + level + " -lineinfo"})
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
		return []toolchain.Batch{{Cubin: out.Binary, Units: all}}, nil, nil
	}
	return m, nil
}

// NewStoredMaker returns a maker that takes cubins compiled elsewhere; the toolchain
// disassembles.
func NewStoredMaker(tc *toolchain.Toolchain, target, level string, c *Cubins) (Maker, error) {
	m, err := newPTXMaker(tc, target, level)
	if err != nil {
		return nil, err
	}
	m.name = c.Compiler + " elsewhere (read by nvdisasm of " + tc.ID + ")"
	m.compile = func(_ context.Context, _ ptxgen.Version, units []toolchain.Unit) ([]toolchain.Batch, map[int]error, error) {
		batches, failed := c.batches(units)
		return batches, failed, nil
	}
	return m, nil
}

func newPTXMaker(tc *toolchain.Toolchain, target, level string) (*ptxMaker, error) {
	p, err := newPTX(tc)
	if err != nil {
		return nil, err
	}
	return &ptxMaker{assembler: p, target: target, level: level}, nil
}

func (m *ptxMaker) Name() string { return m.name }

func (m *ptxMaker) Alone() bool { return m.alone }

func (m *ptxMaker) Emit(t *litmus.Test, form ptxgen.Form, layout spec.Layout) (*ptxgen.Harness, error) {
	h, err := ptxgen.EmitHarness(t, m.target, form, layout)
	if err == nil && h.Version > m.newest {
		return nil, &spec.Unsupported{Reason: fmt.Sprintf("needs PTX %v, %s has %v", h.Version, m.tc.ID, m.newest)}
	}
	if err == nil && h.Program {
		err = lined(h, m.target)
	}
	return h, err
}

// lined gives each instruction of a harness without markers a line of its own.
func lined(h *ptxgen.Harness, target string) (err error) {
	h.Text, h.Lines, err = Lined(h.Name, h.Text, h.Version, target)
	return err
}

// Lined gives each instruction of a kernel without markers a line of its own, by which realcode looks for its machine code: that with
// the number of the instruction. It also returns the lines that the text had, by these numbers.
func Lined(name, text string, v ptxgen.Version, target string) (string, map[int]int, error) {
	m, err := ptx.Parse(name+".ptx", []byte(ptxgen.Header(v, target)+text))
	if err != nil {
		return "", nil, err
	}
	_, text, ok := strings.Cut(m.Lined(ptxgen.SourceName, ""), fmt.Sprintf("\n.file 1 %q\n", ptxgen.SourceName))
	if !ok {
		return "", nil, fmt.Errorf("%s: no lines in its text", name)
	}
	lines := map[int]int{}
	for _, f := range m.Funcs {
		for _, st := range f.Body {
			if st.Inst != nil {
				lines[st.Inst.N] = st.Inst.Loc.Line
			}
		}
	}
	return text, lines, nil
}

func (m *ptxMaker) Collector(ctx context.Context) (runner.Image, error) {
	text, v, err := ptxgen.EmitCollect(m.target)
	if err != nil {
		return runner.Image{}, err
	}
	made, failed, err := m.compile(ctx, v, []toolchain.Unit{{Name: ptxgen.CollectName, Text: text}})
	if err == nil {
		err = failed[0]
	}
	if err != nil {
		return runner.Image{}, fmt.Errorf("collector: %w", err)
	}
	return runner.Image{Kind: runner.ImageCubin, Data: made[0].Cubin}, nil
}

// Make compiles the kernels of each PTX version together, older versions first.
func (m *ptxMaker) Make(ctx context.Context, list []*ptxgen.Harness) (made []Made, failed map[int]error, err error) {
	byVersion := map[ptxgen.Version][]int{}
	var versions []ptxgen.Version
	for i, h := range list {
		if byVersion[h.Version] == nil {
			versions = append(versions, h.Version)
		}
		byVersion[h.Version] = append(byVersion[h.Version], i)
	}
	slices.Sort(versions)
	failed = map[int]error{}
	for _, v := range versions {
		at := byVersion[v]
		units := make([]toolchain.Unit, len(at))
		for k, i := range at {
			units[k] = toolchain.Unit{Name: list[i].Name, Text: list[i].Text}
		}
		batches, bad, err := m.compile(ctx, v, units)
		if err != nil {
			return nil, nil, err
		}
		for k, e := range bad {
			failed[at[k]] = e
		}
		for _, b := range batches {
			one := Made{Image: runner.Image{Kind: runner.ImageCubin, Data: b.Cubin}}
			for _, k := range b.Units {
				one.Kernels = append(one.Kernels, at[k])
			}
			made = append(made, one)
		}
	}
	return made, failed, nil
}

func (m *ptxMaker) Decode(ctx context.Context, made *Made) (*Code, error) {
	return Decode(ctx, m.tc, m.target+" harness", m.target, made.Image.Data)
}

// clOptions are the build options of OpenCL C.
const clOptions = "-cl-std=CL3.0"

// clMaker compiles OpenCL C with the driver of an OpenCL device.
type clMaker struct{ s runner.Session }

// NewOpenCLMaker returns the maker of an OpenCL device.
func NewOpenCLMaker(s runner.Session) Maker { return clMaker{s} }

func (clMaker) Name() string { return "the OpenCL driver" }

func (clMaker) Alone() bool { return true }

func (clMaker) Emit(t *litmus.Test, form ptxgen.Form, layout spec.Layout) (*ptxgen.Harness, error) {
	return ptxgen.EmitHarnessOpenCL(t, form, layout)
}

func (clMaker) Collector(context.Context) (runner.Image, error) {
	return runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(ptxgen.EmitCollectOpenCL()), Options: clOptions}, nil
}

// Make compiles each kernel by itself with the driver. If the binary can be read, it is the
// image, so that what is checked is what is loaded. Several devices get the source.
func (m clMaker) Make(ctx context.Context, list []*ptxgen.Harness) (made []Made, failed map[int]error, err error) {
	failed = map[int]error{}
	for i, h := range list {
		source := runner.Image{Kind: runner.ImageOpenCLC, Data: []byte(h.Text), Options: clOptions}
		if len(m.s.Devices()) > 1 { // a binary is for one device
			made = append(made, Made{Image: source, Kernels: []int{i}})
			continue
		}
		out, err := m.s.Compile(ctx, source)
		switch {
		case errors.Is(err, runner.ErrCompile):
			failed[i] = err
			continue
		case err != nil:
			return nil, nil, err
		}
		if isPoCL(out.Binary) {
			source = runner.Image{Kind: runner.ImageOpenCLBinary, Data: out.Binary, Options: clOptions}
		}
		made = append(made, Made{Image: source, Kernels: []int{i}})
	}
	return made, failed, nil
}

// isPoCL reports whether a binary is one of PoCL's archives.
func isPoCL(binary []byte) bool {
	return strings.HasPrefix(string(binary[:min(len(binary), 8)]), "poclbin")
}

func (clMaker) Decode(_ context.Context, made *Made) (*Code, error) {
	if made.Image.Kind != runner.ImageOpenCLBinary {
		return nil, ErrUnread
	}
	prog, err := x86.Kernels(made.Image.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnread, err)
	}
	return &Code{Program: prog, apart: true}, nil
}
