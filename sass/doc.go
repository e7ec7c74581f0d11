// Package sass reads the text of NVIDIA machine code, as nvdisasm and cuobjdump
// print it from CUDA 4 to 13 (Fermi to Blackwell), into package isa.
//
// It decodes text only: it neither runs the tools nor reads cubins, and it does
// not judge what it reads. An opcode outside its tables stays as isa.RoleUnknown
// with its text, a line that it does not understand becomes a Problem, and input
// that is no such dump at all is an *Error.
//
// Stable: Parse, its errors, and that nothing is left out in silence. What an
// instruction means may be described in more detail by later versions.
package sass

import (
	"errors"
	"fmt"
)

// The kinds of input that cannot be a program. Test with errors.Is.
var (
	ErrEmpty     = errors.New("empty input")
	ErrNoCode    = errors.New("no machine code in it")
	ErrForeign   = errors.New("not an nvidia disassembly")
	ErrTruncated = errors.New("truncated disassembly")
	ErrTooLong   = errors.New("line too long")
	ErrTooBig    = errors.New("too much input")
)

// Error is input that Parse refuses, with its place.
type Error struct {
	File string
	Line int // 1-based
	Kind error
	Msg  string
}

// Error gives file:line: kind: message.
func (e *Error) Error() string {
	if e.Msg == "" {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Kind)
	}
	return fmt.Sprintf("%s:%d: %v: %s", e.File, e.Line, e.Kind, e.Msg)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Limits of the input. Real lines are below 4,000 bytes even with register
// life ranges, and the problems of a file that is mostly noise help nobody.
const (
	maxLine     = 1 << 16
	maxProblems = 1000
	maxOperands = 64
	maxCache    = 1 << 15
)
