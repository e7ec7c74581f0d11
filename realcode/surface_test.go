package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
	"optcheck/toolchain"
)

// TestSurfaces: what is stored to a surface is not compared, and no store of the machine code's own. That it is right is not known.
func TestSurfaces(t *testing.T) {
	m, err := ptx.Parse("surface.ptx", []byte(`.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 surface, .param .u32 value)
{
	.reg .b32 r<4>;
	.reg .b64 d;
	ld.param.u64 d, [surface];
	ld.param.u32 r0, [value];
	mov.u32 r1, %tid.x;
	sust.b.2d.b32.zero [d, {r1, r1}], {r0};
	ret;
}
`))
	require.NoError(t, err)
	tcs := releases(t, "12.4")
	n := 0
	require.NoError(t, AuditAll(t.Context(), Options{Toolchains: []*toolchain.Toolchain{tcs[0]}, Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O0", "O3"}}, []*ptx.Module{m},
		func(_ int, c *Cell) error {
			n++
			require.Equal(t, Unknown, c.Class)
			require.Contains(t, c.Result.Unknown[0].First.Text, "sust")
			require.Empty(t, c.Result.Findings)
			return nil
		}))
	require.Equal(t, 4, n)
}
