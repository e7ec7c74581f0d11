package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/spec"
)

// narrowResults keeps two values and three markers without one.
const narrowResults = `
	LOP3.LUT R10, R4, LIT0, RZ, 0x3c, !PT
	LOP3.LUT R11, R5, LIT1, RZ, 0x3c, !PT
	MOV R12, c[0x0][0x178]
	LOP3.LUT R13, R12, LIT2, RZ, 0x3c, !PT
	LOP3.LUT R14, R12, LIT3, RZ, 0x3c, !PT
	LOP3.LUT R15, R12, LIT4, RZ, 0x3c, !PT
	MOV R8, c[0x0][0x170]
	MOV R9, c[0x0][0x174]
	STG.E [R8.64], R10
	STG.E [R8.64+0x10], R11
	STG.E [R8.64+0x20], R13
	STG.E [R8.64+0x30], R14
	STG.E [R8.64+0x40], R15`

// TestNarrow shows each rule on accesses of bytes and 16-bit words, and forms in which compilers extend, mask and cut.
func TestNarrow(t *testing.T) {
	loads := func() *spec.Spec {
		s := &spec.Spec{Locations: 2, Narrow: [2]uint8{1, 2}, Entries: []spec.Entry{access(0, litmus.OpLd, 1), access(1, litmus.OpLd, 0)}}
		s.Entries[0].Kind.Width, s.Entries[1].Kind.Width = 2, 1
		return s
	}
	const y, x = "\nLDG.E.U16.STRONG.GPU R4, [R2.64]", "\nLDG.E.U8.STRONG.GPU R5, [R0.64]"
	for _, c := range []struct{ name, body, want string }{
		{"as written", y + x, ""},
		{"masked again", y + "\nPRMT R4, R4, 0x7710, RZ" + x + "\nLOP3.LUT R5, R5, 0xff, RZ, 0xc0, !PT", ""},
		{"put into half of a register and taken out", y + "\nPRMT R6, R4, 0x7610, R6\nPRMT R4, R6, 0x7710, RZ" + x, ""},
		{"swapped", x + y, "reordered"},
		{"wider", y + "\nLDG.E.STRONG.GPU R5, [R0.64]", "width-changed"},
		{"narrower", "\nLDG.E.U8.STRONG.GPU R4, [R2.64]" + x, "width-changed"},
		{"weak", y + "\nLDG.E.U8 R5, [R0.64]", "weakened"},
		{"other location", y + "\nLDG.E.U8.STRONG.GPU R5, [R2.64]", "retargeted"},
		{"beside the location", y + "\nLDG.E.U8.STRONG.GPU R5, [R0.64+0x1]", "retargeted"},
		{"masked too much", y + "\nPRMT R4, R4, 0x7770, RZ" + x, "extra-access missing"},
		{"another byte", y + "\nPRMT R4, R4, 0x7711, RZ" + x, "extra-access missing"},
		{"one load for both", y + "\nMOV R5, R4", "merged width-changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, loads(), addresses+c.body+narrowResults)
			require.Equal(t, c.want, ids(r.Findings), "%v", r.Findings)
		})
	}
}

// TestNarrowValues: of what is stored, and of what a narrow load leaves in its register, the width counts.
func TestNarrowValues(t *testing.T) {
	x, err := litmus.Parse("narrow", []byte(`GPU_PTX narrow
{ 0:.reg .b32 r0; }
 T0               ;
 ld.u8 r0,[y]     ;
 add.s32 r0,r0,1  ;
 st.u8 [x],r0     ;
ScopeTree(grid(cta(warp T0)))
x: global, y: global
exists (x=1)
`))
	require.NoError(t, err)
	s, err := spec.FromTest(x, 0, spec.Pointers)
	require.NoError(t, err)
	s.SetCode(&x.Threads[0], nil)
	for _, c := range []struct{ name, load, more, store, want string }{
		{"as written", "LDG.E.U8 R4, [R2.64]", "", "\nSTG.E.U8 [R0.64], R5", ""},
		{"cut before", "LDG.E.U8 R4, [R2.64]", "\nLOP3.LUT R7, R5, 0xff, RZ, 0xc0, !PT", "\nSTG.E.U8 [R0.64], R7", ""},
		{"cut to less", "LDG.E.U8 R4, [R2.64]", "\nLOP3.LUT R7, R5, 0x7f, RZ, 0xc0, !PT", "\nSTG.E.U8 [R0.64], R7", "extra-access missing"},
		{"extended by sign", "LDG.E.S8 R4, [R2.64]", "", "\nSTG.E.U8 [R0.64], R5", "value-changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := sassCode(t, s, addresses+"\n"+c.load+"\nIADD3 R5, R4, 0x1, RZ"+c.more+c.store+narrowResults)
			r, err := NewChecker().CheckAgainst(k, s)
			require.NoError(t, err)
			r.decide()
			require.Contains(t, ids(r.Findings), c.want, "%v", r.Findings)
			require.Equal(t, c.want == "", r.Class == Preserved, "%v %s", r.Findings, r.Reason)
		})
	}
}
