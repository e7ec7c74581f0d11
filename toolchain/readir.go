package toolchain

import (
	"context"
	"os"
	"path/filepath"

	"optcheck/internal/input"
	"optcheck/internal/scratch"
)

// KernelBody is the prefix of the function that clang 21 and later make of a
// kernel's body, beside the entry.
const KernelBody = "__clang_ocl_kern_imp_"

// ReadIR runs a program of the caller's on LLVM IR, with the arguments task,
// path of the release's libLLVM, path of a file with the IR; and returns what it
// prints. It is how IR is read with the library of the release, in a process
// that the library may end. The process is bounded and counted as a compiler is.
func (t *Toolchain) ReadIR(ctx context.Context, program, task string, ir []byte) ([]byte, error) {
	c := command{path: program}
	l, ok := t.Kind.(*LLVM)
	if !ok || l.LibLLVM == "" {
		return nil, c.fail(ErrInfrastructure, t.ID+" has no libLLVM", nil)
	}
	c.env = l.Environment()
	var err error
	if c.dir, err = scratch.Dir("ir"); err != nil {
		return nil, c.hopeless(err)
	}
	defer os.RemoveAll(c.dir)
	file := filepath.Join(c.dir, "batch.ll")
	if err := input.WriteFile(file, ir); err != nil {
		return nil, c.hopeless(err)
	}
	c.args = []string{task, l.LibLLVM, "batch.ll"}
	if own := filepath.Join(filepath.Dir(l.LibLLVM), loader); executable(own) { // a library for another C library than the machine's
		c.path, c.args = own, append([]string{"--library-path", filepath.Dir(own), program}, c.args...)
	}
	out, err := t.Runner().run(ctx, c)
	if err != nil {
		return nil, asInfrastructure(err)
	}
	return out.stdout, nil
}
