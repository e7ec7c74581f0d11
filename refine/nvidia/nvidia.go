// Package nvidia executes kernels of PTX and the machine code that NVIDIA's compilers made of them, and compares the two.
//
// It joins what lowers PTX, what lowers machine code and package refine; it chooses nothing and judges nothing.
package nvidia

import (
	"context"

	"optcheck/isa"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/refine"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
)

// Executes reports whether machine code of a cubin can be executed: sm_70 and later.
func Executes(file *cubin.File) bool { return file != nil && file.SM >= sasslower.OldestSM }

// Compare executes a kernel of a module and its machine code: prog was disassembled from file. The error is that one of
// the two has no such kernel, or that ctx ended.
func Compare(ctx context.Context, m *ptx.Module, prog *isa.Program, file *cubin.File, kernel string, o refine.Options) (*refine.Result, error) {
	program, err := ptxlower.Kernel(m, kernel)
	if err != nil {
		return nil, err
	}
	machine, err := sasslower.Kernel(prog, file, kernel)
	if err != nil {
		return nil, err
	}
	return refine.Compare(ctx, program, machine, o)
}

// CompareText is Compare for the text of a module.
func CompareText(ctx context.Context, text string, prog *isa.Program, file *cubin.File, kernel string, o refine.Options) (*refine.Result, error) {
	m, err := ptx.Parse(kernel+".ptx", []byte(text))
	if err != nil {
		return nil, err
	}
	return Compare(ctx, m, prog, file, kernel, o)
}
