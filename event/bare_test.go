package event

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBareText(t *testing.T) {
	for in, want := range map[string]string{
		"LDG.E.STRONG.GPU R2, [R2.64]":               "LDG.E.STRONG.GPU R, [R.64]",
		"@!P0 LDG.E R0, desc[UR4][R2.64+0x4]":        "@!P LDG.E R, desc[UR][R.64+0x4]",
		"MEMBAR.SC.GPU":                              "MEMBAR.SC.GPU",
		"CCTL.IVALL [RZ]":                            "CCTL.IVALL [RZ]",
		"global_load_dword v2, v[0:1], off glc":      "global_load_dword v, v, off glc",
		"s_load_dwordx2 s[4:5], s[0:1], 0x0":         "s_load_dwordx2 s, s, 0x0",
		"ATOMG.E.ADD.STRONG.GPU PT, R5, [R2.64], R0": "ATOMG.E.ADD.STRONG.GPU PT, R, [R.64], R",
		"MEM_RAT MSKOR T0.XW, T1.X":                  "MEM_RAT MSKOR T.XW, T.X",
		"s_waitcnt vmcnt(0) lgkmcnt(0)":              "s_waitcnt vmcnt(0) lgkmcnt(0)",
		"LDS R, [R1+c[0x0][0x4]]":                    "LDS R, [R+c[0x0][0x4]]",
		"v[2":                                        "v[2", "v[2:": "v[2:", "v[2:3": "v[2:3", "v[": "v[", "v": "v", "R2": "R", "R": "R",
		"v[:3] v[2:] v[2:3 v[2] v[2:3] s[":                "v[:3] v[2:] v[2:3 v[2] v s[",
		"X2R2 R3 HMMA16R2 R4":                             "X2R2 R HMMA16R2 R",
		"v(2:3] R<2:3] s2:3]":                             "v(2:3] R<2:3] s:3]",
		"v[2 3] v[2:3:4] v[2-3]":                          "v[2 3] v[2:3:4] v[2-3]",
		"v_add_u32_e32 v1, 3, v0 and R2D2 with v1a s[1:x": "v_add_u32_e32 v, 3, v and R2D2 with v1a s[1:x",
	} {
		assert.Equal(t, want, bareText(in))
	}
}
