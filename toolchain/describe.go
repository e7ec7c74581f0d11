package toolchain

import (
	"fmt"
)

// Description is what "toolchain list" shows of a toolchain; its JSON form is
// stable.
type Description struct {
	*Toolchain
	// Release is the first two numbers of the version.
	Release string `json:"release"`
	// Dir is the folder of the compiler.
	Dir string `json:"dir"`
	// Complete tells whether object code can be disassembled, too.
	Complete bool `json:"complete"`
	// LLVM, LLC and Front are the kinds of toolchains that have them.
	LLVM  *LLVM  `json:"llvm,omitempty"`
	LLC   *LLC   `json:"llc,omitempty"`
	Front *Front `json:"front,omitempty"`
}

// Describe returns the toolchain as data for a listing.
func (t *Toolchain) Describe() Description {
	d := Description{Toolchain: t, Release: t.Release()}
	t.Kind.describe(t, &d)
	return d
}

// TargetRange shortens the list of targets for people: "sm_50 … sm_90a (15)".
func (t *Toolchain) TargetRange() string {
	switch n := len(t.Targets); n {
	case 0:
		return "none"
	case 1:
		return t.Targets[0]
	default:
		return fmt.Sprintf("%s … %s (%d)", t.Targets[0], t.Targets[n-1], n)
	}
}
