package realcode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/sass/cubin"
	"optcheck/target"
	"optcheck/toolchain"
)

// lineFile is the name that the lines of a module carry in the machine code.
const lineFile = "k.ptx"

// ErrUnsupported is why a cell cannot be: the release or the target lacks
// something that the module has. errRefused is one that the compiler says.
var (
	ErrUnsupported = errors.New("unsupported")
	errRefused     = fmt.Errorf("%w", ErrUnsupported)
)

// ErrInvalid is why no cell of a module can be: no release and no target takes it.
var ErrInvalid = errors.New("invalid")

// Build compiles a module twice, with lines and without, and reads the machine
// code of the former. The error is ErrUnsupported if ptxas refuses the module, or
// if a release cannot compile for its target; ErrInvalid if there is nothing to compile;
// one of the tools; or that the lines changed the machine code.
func Build(ctx context.Context, tc *toolchain.Toolchain, m *ptx.Module, gpu, level string) (*pipeline.Code, error) {
	code, _, err := Cubin(ctx, tc, m, gpu, level)
	return code, err
}

// Cubin is Build that also gives the file without lines, for a device to load.
func Cubin(ctx context.Context, tc *toolchain.Toolchain, m *ptx.Module, gpu, level string) (*pipeline.Code, []byte, error) {
	b, err := build(ctx, tc, m, gpu, level)
	if err != nil {
		return nil, nil, err
	}
	code, err := b.decode(ctx)
	return code, b.plain, err
}

// built is the machine code of a module, with lines and without.
type built struct {
	tc           *toolchain.Toolchain
	file, gpu    string
	lined, plain []byte
}

func build(ctx context.Context, tc *toolchain.Toolchain, m *ptx.Module, gpu, level string) (*built, error) {
	gpu, err := targetFor(tc, m, gpu)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(m.Funcs, func(f *ptx.Func) bool { return f.Entry }) {
		return nil, fmt.Errorf("%w: the module has no kernel, and ptxas leaves out what no kernel calls", ErrInvalid)
	}
	b := &built{tc: tc, file: m.File, gpu: gpu}
	if b.lined, err = compileModule(ctx, tc, m, gpu, level, true, nil); err != nil {
		return nil, err
	}
	if b.plain, err = compileModule(ctx, tc, m, gpu, level, false, nil); err != nil {
		return nil, err
	}
	if err := equal(b.lined, b.plain); err != nil {
		return nil, fmt.Errorf("lines change the machine code: %w", err)
	}
	return b, nil
}

func (b *built) decode(ctx context.Context) (*pipeline.Code, error) {
	return pipeline.Decode(ctx, b.tc, b.file, b.gpu, b.lined)
}

// uncontracted compiles a module with products and sums as they are written.
func uncontracted(ctx context.Context, tc *toolchain.Toolchain, m *ptx.Module, gpu, level string) (*pipeline.Code, error) {
	data, err := compileModule(ctx, tc, m, gpu, level, true, []string{"--fmad=false"})
	if err != nil {
		return nil, err
	}
	return pipeline.Decode(ctx, tc, m.File, gpu, data)
}

// lowered is the version of PTX as which a module is compiled whose own the release
// does not know; "" if it knows it.
func lowered(tc *toolchain.Toolchain, m *ptx.Module) string {
	if toolchain.CompareVersions(m.Version, tc.MaxPTX) > 0 {
		return tc.MaxPTX
	}
	return ""
}

// compileModule compiles a module. One with functions that are elsewhere is made a
// relocatable object.
func compileModule(ctx context.Context, tc *toolchain.Toolchain, m *ptx.Module, gpu, level string, lines bool, flags []string) ([]byte, error) {
	version := lowered(tc, m)
	text := m.Plain(version)
	if lines {
		text = m.Lined(lineFile, version)
	}
	data, err := compile(ctx, tc, text, gpu, level, flags)
	if unresolved(err) {
		data, err = compile(ctx, tc, text, gpu, level, append([]string{"-c"}, flags...))
	}
	if lines && errors.Is(err, ErrUnsupported) {
		err = refusal(m, text, err)
	}
	return data, err
}

// refusal is what ptxas says of a module, with the places of the module's own text.
func refusal(m *ptx.Module, text string, err error) error {
	var e *toolchain.Error
	if !errors.As(err, &e) || len(e.Diagnostics) == 0 {
		return err
	}
	d, n, at := e.Diagnostics[0], 0, 0
	for line := range strings.Lines(text) {
		if at++; at > d.Line {
			break
		}
		fmt.Sscanf(line, ".loc 1 %d 0", &n) // stays the last one
	}
	for _, f := range m.Funcs {
		for _, st := range f.Body {
			if st.Inst != nil && st.Inst.N == n {
				return fmt.Errorf("%w: %s:%d:%d: %s", errRefused, m.File, st.Inst.Pos.Line, st.Inst.Pos.Col, d.Message)
			}
		}
	}
	return fmt.Errorf("%w: %s", errRefused, d.Message)
}

// targetFor is the target for which a module can be compiled: a module for sm_90a
// has none but that.
func targetFor(tc *toolchain.Toolchain, m *ptx.Module, gpu string) (string, error) {
	own := m.Target
	if n := len(own); n > 0 && own[n-1] > '9' {
		if strings.TrimRight(own, "af") != strings.TrimRight(gpu, "af") {
			return "", fmt.Errorf("%w: the module is for %s alone", ErrUnsupported, own)
		}
		gpu = own
	}
	if target.Compare(own, gpu) > 0 {
		return "", fmt.Errorf("%w: the module is for %s and newer", ErrUnsupported, own)
	}
	if !slices.Contains(tc.Targets, gpu) {
		return "", fmt.Errorf("%w: %s does not know %s", ErrUnsupported, tc.ID, gpu)
	}
	return gpu, nil
}

func unresolved(err error) bool {
	var e *toolchain.Error
	return errors.As(err, &e) && strings.Contains(e.Stderr, "nresolved extern")
}

func compile(ctx context.Context, tc *toolchain.Toolchain, text, gpu, level string, flags []string) ([]byte, error) {
	res, err := tc.Compile(ctx, toolchain.Job{Target: gpu, Level: level, LineInfo: true, Flags: flags, Header: "//",
		Units: []toolchain.Unit{{Name: "module", Text: text}}})
	if err != nil {
		return nil, err
	}
	if err := res.Failed[0]; err != nil {
		if errors.Is(err, toolchain.ErrCompile) && !unresolved(err) {
			return nil, fmt.Errorf("%w: %w", errRefused, err)
		}
		return nil, err
	}
	return res.Batches[0].Cubin, nil
}

// compiles reports whether a toolchain compiles a module for one of its targets. A release that does not
// know the module's version of PTX does not tell: then a newer one may.
func compiles(ctx context.Context, tc *toolchain.Toolchain, m *ptx.Module, level string) bool {
	if lowered(tc, m) != "" {
		return true
	}
	for _, t := range slices.Backward(tc.Targets) {
		gpu, err := targetFor(tc, m, t)
		if err != nil {
			continue
		}
		if _, err = compileModule(ctx, tc, m, gpu, level, false, nil); !errors.Is(err, errRefused) {
			return true // also if the tool failed
		}
	}
	return false
}

// equal compares the code of two cubins.
func equal(a, b []byte) error {
	x, err := cubin.Parse(a)
	if err != nil {
		return err
	}
	y, err := cubin.Parse(b)
	if err != nil {
		return err
	}
	if len(x.Funcs) != len(y.Funcs) {
		return fmt.Errorf("%d functions, %d without", len(x.Funcs), len(y.Funcs))
	}
	for i := range x.Funcs {
		if x.Funcs[i].Name != y.Funcs[i].Name || !bytes.Equal(x.Funcs[i].Code, y.Funcs[i].Code) {
			return fmt.Errorf("function %s", x.Funcs[i].Name)
		}
	}
	return nil
}
