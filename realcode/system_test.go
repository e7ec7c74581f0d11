package realcode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/ptx"
	"optcheck/sass"
)

// bulkBySystem is a bulk copy as ptxas 12.8 and 13.0 perform it for sm_120: where its target is not in the own CTA, a function of CUDA does.
const bulkBySystem = `
.version 8.7
.target sm_120
.address_size 64
.shared .align 16 .b8 bar[16];
.shared .align 16 .b8 s[16];
.visible .entry k(.param .u64 p0)
{
	.reg .b64 %l0;
	ld.param.u64 %l0, [p0];
	mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%l0], 16, [bar];
	ret;
}
`

// bulkBySystemCode is its machine code; the line of an instruction stands before it, and + is that of the one before.
const bulkBySystemCode = `1 S2UR UR7, SR_CgaCtaId
+ UMOV UR4, 0x400
+ HFMA2 R0, -RZ, RZ, 0, 9.5367431640625e-07
2 ULEA UR8, UR7, UR4, 0x18
+ SYNCS.ARRIVE.TRANS64 RZ, [UR8], R0
3 UIADD3 UR4, UPT, UPT, UR4, 0x10, URZ
+ ULEA UR4, UR7, UR4, 0x18
+ UMOV UR5, URZ
+ USHF.L.U64.HI UR6, UR4, 0x8, URZ
+ UISETP.NE.U32.AND UP0, UPT, UR6, UR7, UPT
+ BRA.U !UP0, 0x180
+ LDCU.64 UR6, c[0x0][0x380]
+ MOV R2, 0x0
+ MOV R4, UR4
+ MOV R5, RZ
+ MOV R8, 0x10
+ MOV R10, UR8
+ MOV R11, RZ
+ LDC.64 R2, c[0x4][R2]
+ MOV R6, UR6
+ MOV R7, UR7
+ LEPC R20, 0x170
+ CALL.ABS.NOINC R2
+ EXIT
+ S2UR UR6, SR_CgaCtaId
+ UMOV UR4, 0x400
+ PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x8
+ UIADD3 UR5, UPT, UPT, UR4, 0x10, URZ
+ LDCU.64 UR8, c[0x0][0x380]
+ ULEA UR7, UR6, UR4, 0x18
+ ULEA UR6, UR6, UR5, 0x18
+ UMOV UR4, 0x1
+ @P0 ELECT P1, URZ, PT
+ UBLKCP.S.G [UR6], [UR8], UR4
+ @P1 PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x80
+ PLOP3.LUT P1, PT, PT, PT, PT, 0x8, 0x80
+ @P0 BRA.U.ANY 0x200
4 EXIT
`

// TestSystemCopies: a call of CUDA's function is the bulk copy, if a constant says that it is what is called.
func TestSystemCopies(t *testing.T) {
	system := map[int64]string{0: bulkCopy}
	for _, c := range []struct {
		what     string
		old, new string
		consts   map[int64]string
		said     string // the first finding, or why nothing is known
	}{
		{"as it is", "", "", system, ""},
		{"dropped", "CALL.ABS.NOINC R2", "NOP", system, "missing: a path through the machine code has it not at all"},
		{"twice", "+ EXIT", "+ NOP", system, "duplicated: a path through the machine code has it 2 times"},
		{"another function of CUDA", "", "", map[int64]string{0: "__cuda_syscall_other"}, "missing: a path through the machine code has it not at all"},
		{"somebody's function", "", "", map[int64]string{0: "f"}, "it calls what the PTX does not"},
		{"an unknown function", "", "", nil, "it calls what the PTX does not"},
	} {
		res := checkText(t, bulkBySystem, strings.Replace(bulkBySystemCode, c.old, c.new, 1), c.consts)
		said := ""
		for _, f := range slices.Concat(res.Findings, res.Unknown) {
			if said == "" {
				said = strings.TrimPrefix(string(f.Rule)+": "+f.Detail, ": ")
			}
		}
		assert.True(t, strings.HasPrefix(said, c.said) && (c.said == "") == (said == ""), "%s: %s", c.what, said)
	}
	copies := "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%l0], 16, [bar];\n"
	res := checkText(t, strings.Replace(bulkBySystem, copies, "", 1), bulkBySystemCode, system)
	require.NotEmpty(t, res.Findings, "a copy that the PTX does not have")
	assert.Equal(t, Extra, res.Findings[0].Rule)
}

// checkText compares PTX with machine code whose lines are numbered.
func checkText(t *testing.T, text, code string, consts map[int64]string) *Result {
	m, err := ptx.Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	var dump strings.Builder
	dump.WriteString("\tcode for sm_120\n\t\tFunction : k\n")
	var lines []int
	for i, line := range strings.Split(strings.TrimSpace(code), "\n") {
		at, in, _ := strings.Cut(line, " ")
		if at == "+" {
			lines = append(lines, lines[i-1])
		} else {
			lines = append(lines, int(at[0]-'0'))
		}
		fmt.Fprintf(&dump, "        /*%04x*/                   %s ;\n", 16*i, in)
	}
	dump.WriteString("\t\t..........\n")
	p, err := sass.Parse("k.sass", []byte(dump.String()))
	require.NoError(t, err)
	require.Len(t, p.Funcs, 1)
	p.Consts = consts
	for i := range p.Funcs[0].Insts {
		p.Funcs[0].Insts[i].Src.Line = lines[i]
	}
	return Check(m, p, 120)
}
