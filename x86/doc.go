// Package x86 reads x86-64 machine code into package isa: ELF files, and the archives in which
// PoCL returns what it compiled from OpenCL C.
//
// An instruction becomes one or more instructions of isa: what it loads, what it computes, what
// it stores. A 64-bit register is two words; flags are the conditions that jumps test (equal,
// below, …). Vectors, floating point and segments are not supported: such instructions are
// isa.RoleUnknown, and code that cannot be split into instructions at all is an error.
//
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
package x86

import "optcheck/isa"

// Arch is the name of the target.
const Arch = "x86-64"

// Conditions of the flags, each a predicate of its own.
const (
	condE  = iota // equal, zero
	condB         // below, carry
	condBE        // below or equal
	condL         // less
	condLE        // less or equal
	condS         // negative
	condO         // overflow
	condP         // parity
	conds
)

// conditions maps the suffixes of conditional instructions to a condition and whether it must
// not hold.
var conditions = map[string]isa.Guard{}

func init() {
	for c, names := range [conds][2]string{condE: {"E", "NE"}, condB: {"B", "AE"}, condBE: {"BE", "A"},
		condL: {"L", "GE"}, condLE: {"LE", "G"},
		condS: {"S", "NS"}, condO: {"O", "NO"}, condP: {"P", "NP"}} {
		for i, n := range names {
			conditions[n] = isa.Guard{Reg: cond(c), Neg: i == 1}
		}
	}
}

func cond(c int) isa.Reg { return isa.Reg{Class: isa.ClassPred, Num: uint16(c)} }
