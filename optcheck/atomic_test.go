package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestAtomicTypes: a minimum of signed numbers is none of unsigned ones, and none of numbers of another kind is either;
// other operations are the same for both. Without the test's own instruction its digest decides.
func TestAtomicTypes(t *testing.T) {
	for _, c := range []struct {
		atom   litmus.AtomOp
		name   string
		typ    isa.AtomType
		signed bool
		want   bool
	}{
		{litmus.AtomMin, "MIN", isa.AtomSigned, true, true}, {litmus.AtomMin, "MIN", isa.AtomSigned, false, false},
		{litmus.AtomMin, "MIN", isa.AtomInteger, true, false}, {litmus.AtomMin, "MIN", isa.AtomInteger, false, true},
		{litmus.AtomMax, "UMAX", isa.AtomInteger, false, true}, {litmus.AtomMax, "MAX", isa.AtomInteger, true, false},
		{litmus.AtomMax, "MIN", isa.AtomSigned, true, false}, {litmus.AtomMin, "MIN", isa.AtomOther, true, false},
		{litmus.AtomAdd, "ADD", isa.AtomSigned, false, true}, {litmus.AtomAdd, "ADD", isa.AtomInteger, true, true},
		{litmus.AtomAdd, "ADD", isa.AtomOther, false, false}, {litmus.AtomAdd, "AND", isa.AtomInteger, false, false},
	} {
		x := &event{mem: isa.Mem{Atom: c.name, Type: c.typ}}
		e := spec.Entry{Kind: spec.Kind{Op: litmus.OpAtom, Atom: c.atom}, Signed: c.signed}
		require.Equal(t, c.want, (&pass{}).operation(x, e), "%v", c)
		if e.Instr = -1; c.typ != isa.AtomOther && x.mem.Atom != "AND" && (c.atom != litmus.AtomMax || c.name != "MIN") {
			require.True(t, (&pass{}).operation(x, e), "%v", c)
		}
	}
}
