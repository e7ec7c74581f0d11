package audit

import (
	"context"
	"errors"
	"fmt"

	"optcheck/isa"
	"optcheck/sass"
	"optcheck/toolchain"
)

// Code is machine code read from a file.
type Code struct {
	Program *isa.Program
	// Consts maps offsets of constant bank 4 to symbols; nil if not known.
	Consts map[int64]string
}

// ParseDump reads a disassembly.
func ParseDump(file string, text []byte) (*Code, error) {
	p, err := sass.Parse(file, text)
	if err != nil {
		return nil, err
	}
	return &Code{Program: p}, nil
}

// LoadCubin disassembles a cubin and parses the result. A cubin does not say
// which release built it in a form common to all releases, so the newest
// toolchain is tried first; one that does not know the target, or shows fewer
// functions than the file has, is passed over.
func LoadCubin(ctx context.Context, file string, cubin []byte, tcs []*toolchain.Toolchain) (*Code, error) {
	var errs []error
	for i := len(tcs) - 1; i >= 0; i-- {
		text, err := tcs[i].Disassemble(ctx, cubin, toolchain.DisasmOptions{LineInfo: true, Input: file})
		if err != nil {
			if errors.Is(err, toolchain.ErrCancelled) {
				return nil, err
			}
			errs = append(errs, err)
			continue
		}
		c, err := ParseDump(file, text)
		if err != nil {
			return nil, err
		}
		c.Consts = constants(cubin)
		return c, nil
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("%s: no toolchain found to disassemble a cubin with", file)
	}
	return nil, errors.Join(errs...)
}
