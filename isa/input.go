package isa

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of input that no decoder accepts as a program. Test with errors.Is.
var (
	ErrEmpty     = errors.New("empty input")
	ErrNoCode    = errors.New("no machine code in it")
	ErrTruncated = errors.New("truncated disassembly")
	ErrTooLong   = errors.New("line too long")
	ErrTooBig    = errors.New("too much input")
)

// Error describes input that a decoder rejects, with its position.
type Error struct {
	File string
	Line int // 1-based
	Kind error
	Msg  string
}

// Error returns file:line: kind: message.
func (e *Error) Error() string {
	if e.Msg == "" {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Kind)
	}
	return fmt.Sprintf("%s:%d: %v: %s", e.File, e.Line, e.Kind, e.Msg)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// MaxProblems bounds the problems of a program: a file that is mostly noise would have
// uselessly many.
const MaxProblems = 1000

// Misread adds a line that a decoder did not understand to the problems.
func (prog *Program) Misread(line int, text, why string) {
	switch n := len(prog.Problems); {
	case n < MaxProblems:
		prog.Problems = append(prog.Problems, Problem{Line: line, Text: strings.Clone(Clip(text)), Why: why})
	case n == MaxProblems:
		prog.Problems = append(prog.Problems, Problem{Line: line, Why: "more problems follow"})
	}
}

// Clip shortens text from the input for a message.
func Clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}
