package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"optcheck/amdisa"
	"optcheck/isa"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/toolchain"
)

// Code is machine code read from a file.
type Code struct {
	Program *isa.Program
	// Consts maps offsets of constant bank 4 to symbols; nil if not known.
	Consts map[int64]string
	// Literals holds the words of constant bank 2 by kernel and byte offset;
	// nil if not known.
	Literals map[string]map[int64]uint32
	// File is the cubin that the program was read from; nil if it was read from a text.
	File *cubin.File
	// Listed reports whether a disassembler printed all of it.
	Listed bool

	apart  bool // a line that is not understood does not affect other functions
	byName map[string]*isa.Func
	unread map[*isa.Func]string
}

// ErrNoKernel is wrapped by the error for a kernel that is not in the machine code.
var ErrNoKernel = errors.New("is not in the machine code")

// Func returns a function. The error wraps ErrNoKernel if there is none, and is *Unread if a
// line that may belong to it was not understood.
func (c *Code) Func(name string) (*isa.Func, error) {
	if c.byName == nil {
		c.index()
	}
	fn := c.byName[name]
	why := c.unread[fn]
	if !c.apart {
		why = c.unread[nil] // of a line that may belong to any function
	}
	switch {
	case why != "" && (fn != nil || !c.apart):
		return nil, &Unread{why}
	case fn == nil:
		return nil, fmt.Errorf("kernel %s %w", name, ErrNoKernel)
	}
	return fn, nil
}

// index finds the functions and, for each, the first line that was not understood; the entry
// nil has the first of all such lines.
func (c *Code) index() {
	c.byName, c.unread = make(map[string]*isa.Func, len(c.Program.Funcs)), map[*isa.Func]string{}
	for _, f := range c.Program.Funcs {
		c.byName[f.Name] = f
	}
	for _, p := range c.Program.Problems {
		var in *isa.Func
		for _, f := range c.Program.Funcs {
			if c.apart && f.Line <= p.Line && (in == nil || f.Line > in.Line) {
				in = f
			}
		}
		if c.unread[in] == "" {
			c.unread[in] = fmt.Sprintf("line %d of the %s not understood: %s (%s)", p.Line,
				map[bool]string{true: "listing", false: "disassembly"}[c.apart], p.Text, p.Why)
		}
	}
}

// ParseDump reads a disassembly or assembler output. It recognises the format itself.
func ParseDump(file string, text []byte) (*Code, error) {
	if amdisa.Recognise(text) {
		p, err := amdisa.Parse(file, text)
		if err != nil {
			return nil, err
		}
		return &Code{Program: p}, nil
	}
	p, err := sass.Parse(file, text)
	if err != nil {
		return nil, err
	}
	return &Code{Program: p}, nil
}

// LoadObject disassembles an AMD code object with the newest LLVM release that knows its
// target.
func LoadObject(ctx context.Context, file string, object []byte, tcs []*toolchain.Toolchain) (*Code, error) {
	target := toolchain.ObjectTarget(object)
	for _, tc := range slices.Backward(tcs) {
		if l, ok := tc.Kind.(*toolchain.LLVM); !ok || l.Objdump == "" || target != "" && !tc.HasTarget(target) {
			continue
		}
		text, err := tc.Objdump(ctx, object, file)
		if err != nil {
			return nil, err
		}
		p, err := amdisa.ParseFor(file, text, target)
		if err != nil {
			return nil, err
		}
		return &Code{Program: p}, nil
	}
	return nil, fmt.Errorf("%s: no llvm-objdump found that knows %s", file, cmp.Or(target, "its target"))
}

// LoadCubin disassembles a cubin with the release that built it, which the file's header names.
// If that release is not installed, it tries newer ones, nearest first, then older ones, until
// one knows the target and shows all functions.
func LoadCubin(ctx context.Context, file string, data []byte, tcs []*toolchain.Toolchain) (*Code, error) {
	if len(tcs) == 0 {
		return nil, fmt.Errorf("%s: no toolchain found to disassemble a cubin with", file)
	}
	f, err := cubin.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var errs []error
	for _, tc := range byRelease(f.Release, tcs) {
		text, err := tc.Disassemble(ctx, data, toolchain.DisasmOptions{Input: file})
		if err != nil {
			// A file that hangs one release's disassembler hangs the others too.
			if errors.Is(err, toolchain.ErrCancelled) || errors.Is(err, toolchain.ErrTimeout) {
				return nil, err
			}
			errs = append(errs, err)
			continue
		}
		c, err := ParseDump(file, text)
		if err != nil {
			return nil, err
		}
		annotate(c.Program, f)
		c.Consts, c.Literals = c.Program.Consts, f.Literals()
		return c, nil
	}
	return nil, errors.Join(errs...)
}

// byRelease sorts toolchains: the given release, then newer ones, nearest first, then older
// ones, nearest first.
func byRelease(release string, tcs []*toolchain.Toolchain) []*toolchain.Toolchain {
	var newer, older []*toolchain.Toolchain
	for _, tc := range tcs {
		if release != "" && toolchain.CompareVersions(tc.Release(), release) >= 0 {
			newer = append(newer, tc)
		} else {
			older = append([]*toolchain.Toolchain{tc}, older...)
		}
	}
	return append(newer, older...)
}
