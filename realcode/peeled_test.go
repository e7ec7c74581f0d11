package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const waiting = `.version 8.0
.target sm_90
.address_size 64
.shared .align 8 .b64 full[2];
.shared .align 8 .b32 data[4];
.entry k(.param .u32 a) {
	.reg .b32 %r<4>;
	.reg .pred %p;
	ld.param.u32 %r1, [a];
$W:
	mbarrier.try_wait.parity.shared::cta.b64 %p, [full], %r1;
	@!%p bra $W;
	st.shared.u32 [data], %r1;
	ret;
}
`

// peeledWait is as ptxas 13.0.88 makes it: the first question stands in front of its loop, and has the line of what precedes it.
const peeledWait = `1 ULDC UR4, c[0x0][0x210]
1 MOV R9, UR4
+ MOV R8, 0x400
+ SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [R8+URZ], R9
+ @!P2 BRA 0x80
4 MOV R3, 0x410
+ STS [R3], R9
5 EXIT
2 SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R8+URZ], R9
3 @!P0 BRA 0x80
+ BRA 0x50
`

func TestPeeledWait(t *testing.T) {
	for _, c := range []struct {
		what, old, new string
		extra          bool
	}{
		{"as it is", "", "", false},
		{"an access between", "+ @!P2 BRA 0x80", "+ LDS R20, [0x800]\n+ @!P2 BRA 0x90", false},
		{"another mbarrier", "P2, [R8+URZ]", "P2, [R8+URZ+0x8]", true},
		{"another phase", "P2, [R8+URZ], R9", "P2, [R8+URZ], R8", true},
		{"the phase is renewed in the loop", "2 SYNCS", "2 IADD3 R9, R9, 0x1, RZ\n2 SYNCS", true},
	} {
		code := strings.Replace(peeledWait, c.old, c.new, 1)
		if strings.Contains(c.new, "LDS") { // what follows stands 16 bytes further
			code = strings.NewReplacer("@!P0 BRA 0x80", "@!P0 BRA 0x90", "+ BRA 0x50", "+ BRA 0x60").Replace(code)
		}
		res := checkText(t, waiting, code, nil)
		rules := map[Rule]bool{}
		for _, f := range res.Findings {
			rules[f.Rule] = true
		}
		assert.Equal(t, c.extra, rules[Extra], "%s: %v", c.what, res.Findings)
		assert.Equal(t, c.extra, len(res.Findings) > 0, "%s: %v", c.what, res.Findings)
	}
}
