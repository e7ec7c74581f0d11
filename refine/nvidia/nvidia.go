// Package nvidia executes kernels of PTX and the machine code that NVIDIA's compilers made of them, and compares the two; or it proves that
// they do the same.
//
// It joins what lowers PTX, what lowers machine code and packages refine and prove; it chooses nothing and judges nothing.
package nvidia

import (
	"context"

	"optcheck/ir"
	"optcheck/isa"
	"optcheck/prove"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/refine"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
)

// Executes reports whether machine code of a cubin can be executed: sm_70 and later.
func Executes(file *cubin.File) bool { return file != nil && file.SM >= sasslower.OldestSM }

// Kernel is a kernel of a module and its machine code.
type Kernel struct{ Program, Machine *ir.Program }

// Lower is a kernel of a module and its machine code: prog was disassembled from file. The error is that one of the two has no such kernel.
func Lower(m *ptx.Module, prog *isa.Program, file *cubin.File, kernel string) (k Kernel, err error) {
	if k.Program, err = ptxlower.Kernel(m, kernel); err == nil {
		k.Machine, err = sasslower.Kernel(prog, file, kernel)
	}
	if err == nil {
		err = name(k.Program, k.Machine)
	}
	return k, err
}

// Compare executes both; the error is that ctx ended.
func (k Kernel) Compare(ctx context.Context, o refine.Options) (*refine.Result, error) {
	o.Solver = func(p *ir.Program) refine.Solver { return prove.NewPossible(p) }
	return refine.Compare(ctx, k.Program, k.Machine, o)
}

// Prove reports whether a proof is found that both do the same.
func (k Kernel) Prove(thorough bool) bool {
	e := prove.Quick
	if thorough {
		e = prove.Thorough
	}
	return prove.Prove(k.Program, k.Machine, e).Proved
}

// Compare executes a kernel of a module and its machine code: prog was disassembled from file. The error is that one of
// the two has no such kernel, or that ctx ended.
func Compare(ctx context.Context, m *ptx.Module, prog *isa.Program, file *cubin.File, kernel string, o refine.Options) (*refine.Result, error) {
	k, err := Lower(m, prog, file, kernel)
	if err != nil {
		return nil, err
	}
	return k.Compare(ctx, o)
}

// CompareText is Compare for the text of a module.
func CompareText(ctx context.Context, text string, prog *isa.Program, file *cubin.File, kernel string, o refine.Options) (*refine.Result, error) {
	m, err := ptx.Parse(kernel+".ptx", []byte(text))
	if err != nil {
		return nil, err
	}
	return Compare(ctx, m, prog, file, kernel, o)
}
