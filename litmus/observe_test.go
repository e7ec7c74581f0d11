package litmus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnread: which results of a thread nobody observes.
func TestUnread(t *testing.T) {
	for _, x := range []struct {
		body, observed string
		unread         string // a letter for each instruction: u for unread
	}{
		{"ld.s32 r1,[rd0]; ld.s32 r2,[rd0]", "r2", "u-"},
		{"ld.s32 r1,[rd0]; ld.s32 r1,[rd0]", "r1", "u-"},
		{"ld.s32 r1,[rd0]; @p1 ld.s32 r1,[rd0]", "r1", "--"},
		{"ld.s32 r1,[rd0]; mov.s32 r1,0", "r1", "u-"},
		{"ld.s32 r1,[rd0]; add.s32 r2,r1,1", "r2", "--"},
		{"ld.s32 r1,[rd0]; and.b32 r2,r1,0", "r2", "u-"},
		{"ld.s32 r1,[rd0]; xor.b32 r2,r1,r1", "r2", "u-"},
		{"ld.s32 r1,[rd0]; mul.lo.s32 r2,r1,0", "r2", "u-"},
		{"ld.s32 r1,[rd0]; st.s32 [rd0],r1; ld.s32 r2,[rd0]", "r2", "u--"},
		{"ld.s32 r1,[rd0]; setp.eq.s32 p1,r1,0; selp.s32 r2,1,2,p1", "r2", "---"},
		{"ld.s32 r1,[rd0]; setp.eq.s32 p1,r1,0; @p1 ld.s32 r2,[rd0]", "r2", "u--"},
		{"ld.s32 r1,[rd0]; @p1 bra L; ld.s32 r1,[rd0]; L: nop", "r1", "----"},
		{"xor.b32 r3,r3,r3; L: ld.s32 r1,[rd0]; ld.s32 r2,[rd0]; add.s32 r3,r3,1; setp.lt.s32 p1,r3,2; @p1 bra L", "r2", "-u----"},
		{"xor.b32 r3,r3,r3; L: add.s32 r2,r2,r1; ld.s32 r1,[rd0]; add.s32 r3,r3,1; setp.lt.s32 p1,r3,2; @p1 bra L", "r2", "------"},
		{"L: ld.s32 r1,[rd0]; ld.s32 r2,[rd0]; setp.lt.s32 p1,r3,2; @p1 bra L", "r2", "----"},
		{"atom.add.s32 r1,[rd0],1; ld.s32 r2,[rd0]", "r2", "u-"},
		{"atom.add.s32 _,[rd0],1; ld.s32 r2,[rd0]", "r2", "u-"},
	} {
		lines := strings.Split(x.body, "; ")
		text := "GPU_PTX t\nResults=final\n{ 0:.reg .s32 r1; 0:.reg .s32 r2; 0:.reg .s32 r3; 0:.reg .pred p1; 0:.reg .b64 rd0 = x; }\n T0 ;\n " +
			strings.Join(lines, " ;\n ") + " ;\nScopeTree(grid(cta(warp T0)))\nexists (0:" + x.observed + "=0)\n"
		lt, err := Parse("t", []byte(text))
		require.NoError(t, err, text)
		requireRoundTrip(t, lt)
		got := ""
		for _, u := range lt.Unread(0) {
			got += map[bool]string{true: "u", false: "-"}[u]
		}
		require.Equal(t, x.unread, got, x.body)
		all := lt.Clone()
		all.Results = ResultsAll
		require.NotEqual(t, lt.Hash(), all.Hash())
		if !strings.Contains(x.body, "_") {
			require.NotContains(t, all.Unread(0), true)
		}
	}
	_, err := Parse("t", []byte("GPU_PTX t\nResults=some\n{ x=0; }\n T0 ;\n nop ;\n"))
	require.ErrorContains(t, err, "expected all")
}
