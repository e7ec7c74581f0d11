package audit

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
	// Listed tells that a disassembler printed all of it.
	Listed bool
}

// Funcs are its functions by name.
func (c *Code) Funcs() map[string]*isa.Func {
	funcs := make(map[string]*isa.Func, len(c.Program.Funcs))
	for _, f := range c.Program.Funcs {
		funcs[f.Name] = f
	}
	return funcs
}

// ParseDump reads a disassembly or assembler output; which, it tells by itself.
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

// LoadObject disassembles an AMD code object with the newest release of LLVM
// that knows its target.
func LoadObject(ctx context.Context, file string, object []byte, tcs []*toolchain.Toolchain) (*Code, error) {
	target := toolchain.ObjectTarget(object)
	for _, tc := range slices.Backward(tcs) {
		if tc.LLVM == nil || tc.LLVM.Objdump == "" || target != "" && !tc.HasTarget(target) {
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

// LoadCubin disassembles a cubin with the release that built it, which the
// file's header names; where that release is not installed, with the nearest
// newer one, then older ones, until one knows the target and shows all of the
// functions.
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
		c.Consts, c.Literals = f.Constants(), f.Literals()
		return c, nil
	}
	return nil, errors.Join(errs...)
}

// byRelease sorts toolchains: the given release, newer ones from near to far,
// older ones from near to far.
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
