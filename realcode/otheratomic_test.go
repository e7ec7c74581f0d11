package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// TestOtherAtomic: which atomics of the machine code do what those of the PTX do.
func TestOtherAtomic(t *testing.T) {
	for _, x := range []struct {
		atom, kind string
		adds       bool
		machine    isa.Mem
		good       bool
	}{
		{"add", "u32", false, isa.Mem{Atom: "ADD"}, true},
		{"add", "u32", false, isa.Mem{Atom: "POPC"}, true},
		{"add", "u32", false, isa.Mem{Atom: "INC"}, true},
		{"add", "u32", false, isa.Mem{Atom: "MAX"}, false},
		{"inc", "u32", false, isa.Mem{Atom: "ADD"}, false},
		{"inc", "u32", true, isa.Mem{Atom: "ADD"}, true},
		{"max", "s32", false, isa.Mem{Atom: "MAX", Type: isa.AtomSigned}, true},
		{"max", "u32", false, isa.Mem{Atom: "MAX", Type: isa.AtomSigned}, false},
		{"min", "s32", false, isa.Mem{Atom: "MIN", Type: isa.AtomInteger}, false},
		{"min", "s32", false, isa.Mem{Atom: "MIN", Type: isa.AtomOther}, true},
		{"min", "f16", false, isa.Mem{Atom: "MIN", Type: isa.AtomSigned}, true},
		{"min", "s32", false, isa.Mem{Atom: "CAS", Type: isa.AtomInteger}, true},
		{"add", "s32", false, isa.Mem{Atom: "ADD", Type: isa.AtomInteger}, true},
		{"exch", "b32", false, isa.Mem{}, true},
	} {
		why := otherAtomic(&Op{Effect: ptx.Effect{Atom: x.atom, Type: x.kind}, adds: x.adds}, &x.machine)
		require.Equal(t, x.good, why == "", "%+v: %s", x, why)
	}
}
