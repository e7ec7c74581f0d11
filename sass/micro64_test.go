package sass

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// TestWideUniformSum: the 64-bit three-way sum of sm_100 and later defines a
// pair and is a plain addition where the third summand is zero (seen in code of
// ptxas 12.8 and 13.0 for sm_120).
func TestWideUniformSum(t *testing.T) {
	p, err := Parse("k.sass", []byte("\tcode for sm_120\n\t\tFunction : k\n"+
		"        /*0000*/                   UIADD3.64 UR4, UPT, UPT, UR4, 0x40, URZ ;\n"+
		"        /*0010*/                   EXIT ;\n\t\t..........\n"))
	require.NoError(t, err)
	in := p.Funcs[0].Insts[0]
	ur := func(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassUGPR, Num: n} }
	require.Equal(t, []isa.Reg{ur(4), ur(5)}, in.Defs)
	require.Equal(t, []isa.Reg{ur(4), ur(5)}, in.Uses)
	require.Len(t, in.Micro, 2)
	require.Equal(t, isa.MicroAdd, in.Micro[0].Op)
	require.Equal(t, isa.MicroAddWide, in.Micro[1].Op)
}
