//go:build !linux

package llvmir

import "errors"

// ReadLibrary reads IR with libLLVM: on Linux only.
func ReadLibrary(path, file string, text []byte) ([]Func, error) {
	return nil, errors.New("LLVM IR with opaque pointers is read on linux only")
}
