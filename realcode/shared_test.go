package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptx"
)

// TestShared: where ptxas lays out variables of shared memory, which functions have by the same names and which the module has, in linked code and in
// code that is not.
func TestShared(t *testing.T) {
	const text = `.version 7.2
.target sm_80
.address_size 64
.shared .align 2 .b8 common[6];
.extern .shared .align 16 .b8 rest[];
.visible .func seen(.param .b64 q);
.func hidden(.param .b64 q)
{
	.reg .b64 d; .reg .b32 r;
	.shared .align 4 .b8 own[20];
	ld.param.u64 d, [q];
	mov.u32 r, own; st.shared.u32 [own+4], r; st.global.u32 [d], r;
	mov.u32 r, rest; st.global.u32 [d+4], r;
	ret;
}
KERNEL
{
	.reg .b64 d<2>; .reg .b32 r;
	.shared .align 16 .b8 nobody[64];
	.shared .align 8 .b8 mine[12];
	.shared .align 1 .b8 small[3];
	ld.param.u64 d0, [out];
	mov.u32 r, mine; st.shared.u32 [mine+4], r; st.global.u32 [d0], r;
	mov.u32 r, small; st.shared.u8 [small+1], r; st.global.u32 [d0+4], r;
	mov.u32 r, common; st.shared.u16 [common+2], r; st.global.u32 [d0+8], r;
	add.u64 d1, d0, 16;
	{ .param .b64 a; st.param.b64 [a], d1; call hidden, (a); }
	add.u64 d1, d0, 32;
	{ .param .b64 a; st.param.b64 [a], d1; call seen, (a); }
	ret;
}
.visible .func seen(.param .b64 q)
{
	.reg .b64 d; .reg .b32 r;
	.shared .align 4 .b8 theirs[8];
	ld.param.u64 d, [q];
	mov.u32 r, theirs; st.shared.u32 [theirs+4], r; st.global.u32 [d], r;
	ret;
}
`
	for _, kernel := range []string{".visible .entry k(.param .u64 out)", ".entry k(.param .u64 out)"} {
		for _, c := range []struct {
			from, to string
			flags    []string
		}{{}, {flags: []string{"-c"}}, {"[small+1]", "[small]", nil}, {"mov.u32 r, mine", "mov.u32 r, common", []string{"-c"}}} {
			if kernel[0:2] != ".v" && c.flags != nil {
				continue // nothing is kept
			}
			whole := strings.Replace(text, "KERNEL", kernel, 1)
			m, err := ptx.Parse("shared.ptx", []byte(whole))
			require.NoError(t, err)
			other, err := ptx.Parse("shared.ptx", []byte(strings.Replace(whole, c.from, c.to, 1)))
			require.NoError(t, err)
			for _, on := range [][2]string{{"sm_80", "O0"}, {"sm_80", "O3"}, {"sm_90", "O3"}} {
				tc := releases(t, "12.4")[0]
				data, err := compile(t.Context(), tc, other.Lined(lineFile, ""), on[0], on[1], c.flags)
				require.NoError(t, err)
				code, err := pipeline.Decode(t.Context(), tc, m.File, on[0], data)
				require.NoError(t, err)
				r, err := Execute(t.Context(), m, code, options(2))
				require.NoError(t, err)
				for _, x := range r.Executed {
					require.Empty(t, x.Why)
					require.Equal(t, c.from == "", len(x.Findings) == 0, "%s %q %v %v %v", kernel, c.to, c.flags, on, x.Findings)
					require.True(t, c.from != "" || x.Runs > 0, "%s %v %v %v", x.Kernel, c, on, x.Cannot)
				}
			}
		}
	}
}
