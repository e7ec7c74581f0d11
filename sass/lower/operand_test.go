package lower_test

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/sass/lower"
)

// TestFarConstants: of the upper half of a bank of constants nvdisasm prints negative offsets.
func TestFarConstants(t *testing.T) {
	data, err := os.ReadFile("../cubin/testdata/12.4-sm_90.cubin")
	require.NoError(t, err)
	file, err := cubin.Parse(data)
	require.NoError(t, err)
	for text, at := range map[string]uint64{"ULDC.U8 UR4, c[0x3][-0x7bb4]": 0x844c, "ULDC.U8 UR4, c[0x3][0x7bb4]": 0x7bb4, "ULDC.U8 UR4, c[0x3][-0x8001]": 0} {
		b := sass.NewBuilder("far", "sm_90")
		require.NoError(t, b.Func(file.Funcs[0].Name, []sass.Known{{Text: text}, {Addr: 16, Text: "EXIT"}}, nil))
		prog, err := b.Program()
		require.NoError(t, err)
		p, err := lower.Kernel(prog, file, file.Funcs[0].Name)
		require.NoError(t, err)
		require.Equal(t, at != 0, slices.ContainsFunc(p.Consts, func(c ir.Const) bool { return c.Bank == 3 && c.Bytes == 1 && c.Value == at }), text)
		require.Equal(t, at == 0, p.Insts[0].Opaque != "", text)
	}
}

// TestSleep: how long a warp sleeps, and whether together, is nothing that memory sees.
func TestSleep(t *testing.T) {
	data, err := os.ReadFile("../cubin/testdata/12.4-sm_90.cubin")
	require.NoError(t, err)
	file, err := cubin.Parse(data)
	require.NoError(t, err)
	b := sass.NewBuilder("sleep", "sm_70")
	require.NoError(t, b.Func(file.Funcs[0].Name, []sass.Known{{Text: "NANOSLEEP.WARP 0x14"}, {Addr: 16, Text: "NANOSLEEP R3"}, {Addr: 32, Text: "EXIT"}}, nil))
	prog, err := b.Program()
	require.NoError(t, err)
	p, err := lower.Kernel(prog, file, file.Funcs[0].Name)
	require.NoError(t, err)
	for i := range p.Insts {
		require.Empty(t, p.Insts[i].Opaque, p.Insts[i].Text)
	}
}
