// Package amdisa reads the text of AMD machine code into package isa: what LLVM prints with -S
// and what llvm-objdump prints, for GCN, CDNA and RDNA (gfx6 to gfx12) and for R600 to Cayman;
// and the layouts of AMD's own tools (Catalyst and CodeXL dumps of Southern Islands and later,
// shader dumps of R700, Evergreen and Cayman) and of clrxdisasm.
//
// It decodes text only: it neither runs tools nor reads code objects, and it does not judge
// what it reads. Package isa and decode.go describe how AMD code is represented (lanes, masks,
// counters, kernel arguments, addresses). An opcode outside the tables is kept as
// isa.RoleUnknown and is a Problem; so is a line that is not understood; input that is not AMD
// code at all is an *Error.
//
// Stable: Parse, ParseFor, Recognise, their errors, and that nothing is omitted silently. Later
// versions may describe in more detail what an instruction means.
package amdisa

import (
	"errors"

	"optcheck/isa"
)

// Kinds of input that cannot be a program. Test with errors.Is.
var (
	ErrEmpty     = isa.ErrEmpty
	ErrNoCode    = isa.ErrNoCode
	ErrForeign   = errors.New("not an amd disassembly")
	ErrTruncated = isa.ErrTruncated
	ErrTooLong   = isa.ErrTooLong
	ErrTooBig    = isa.ErrTooBig
	ErrTarget    = errors.New("unknown target")
)

// Error describes input that Parse rejects, with its position.
type Error = isa.Error

// Dialects of a Program.
const (
	DialectLLVM      = "llvm"         // clang -S, llc
	DialectObjdump   = "llvm-objdump" // llvm-objdump -d
	DialectCatalyst  = "catalyst"     // AMD's own layout, Southern Islands and later
	DialectCLRX      = "clrxdisasm"
	DialectR600      = "llvm-r600"     // clang -S for r600
	DialectTeraScale = "amd-terascale" // AMD's own layout, R600 to Cayman
)

// Limits of the input.
const (
	maxInput    = 1 << 30
	maxLine     = 1 << 16
	maxOperands = 24
	maxCache    = 1 << 15
	maxFuncs    = 1 << 16
	maxBlocks   = 1 << 14 // of a function whose scalar registers are tracked
)
