// Package sass reads the text of NVIDIA machine code, as nvdisasm and cuobjdump print it from
// CUDA 4 to 13 (Fermi to Blackwell), into package isa.
//
// It decodes text only: it neither runs the tools nor reads cubins, and it does not judge what
// it reads. An opcode outside its tables is kept as isa.RoleUnknown with its text, a line that
// it does not understand becomes a Problem, and input that is no such dump at all is an *Error.
//
// Stable: Parse, its errors, and that nothing is omitted silently. Later versions may describe
// in more detail what an instruction means.
package sass

import (
	"errors"

	"optcheck/isa"
)

// Kinds of input that cannot be a program. Test with errors.Is.
var (
	ErrEmpty     = isa.ErrEmpty
	ErrNoCode    = isa.ErrNoCode
	ErrForeign   = errors.New("not an nvidia disassembly")
	ErrTruncated = isa.ErrTruncated
	ErrTooLong   = isa.ErrTooLong
	ErrTooBig    = isa.ErrTooBig
)

// Error describes input that Parse rejects, with its position.
type Error = isa.Error

// Limits of the input. Real lines are below 4,000 bytes even with register
// life ranges.
const (
	maxLine     = 1 << 16
	maxOperands = 64
	maxCache    = 1 << 15
)
