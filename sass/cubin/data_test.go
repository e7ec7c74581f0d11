package cubin

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestData: what a real file says of a kernel's constants and parameters.
func TestData(t *testing.T) {
	data, err := os.ReadFile("testdata/12.4-sm_90.cubin")
	require.NoError(t, err)
	f, err := Parse(data)
	require.NoError(t, err)
	kernel := f.Funcs[0].Name
	base, size, params, ok := f.Parameters(kernel)
	require.True(t, ok)
	assert.Equal(t, 0x210, base)
	require.NotEmpty(t, params)
	last := params[len(params)-1]
	assert.Equal(t, size, last.Offset+last.Size)
	banks := f.Banks(kernel)
	assert.Len(t, banks[0].Data, base+size)
	small, err := Compact(f)
	require.NoError(t, err)
	c, err := ParseCompact(small)
	require.NoError(t, err)
	for _, fn := range f.Funcs {
		for n, want := range f.Banks(fn.Name) {
			got := c.Banks(fn.Name)[n]
			assert.Equal(t, want.Data, got.Data)
			assert.Len(t, got.Relocs, len(want.Relocs))
		}
		wb, ws, wp, wok := f.Parameters(fn.Name)
		gb, gs, gp, gok := c.Parameters(fn.Name)
		assert.Equal(t, []any{wb, ws, wp, wok, f.SharedSize(fn.Name)}, []any{gb, gs, gp, gok, c.SharedSize(fn.Name)})
	}
	assert.Len(t, c.Variables(), len(f.Variables()))
	assert.ElementsMatch(t, f.Addressed(), c.Addressed())
}

// TestDamagedData: no damage makes reading fail otherwise than by saying less.
func TestDamagedData(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"12.4-sm_90", "11.8-sm_75"} {
		whole, err := os.ReadFile("testdata/" + name + ".cubin")
		require.NoError(t, err)
		for range 3000 {
			data := append([]byte(nil), whole...)
			for range 1 + r.IntN(8) {
				data[r.IntN(len(data))] = byte(r.Uint32())
			}
			f, err := Parse(data)
			if err != nil {
				continue
			}
			total := 0
			for _, v := range f.Variables() {
				total += len(v.Init)
			}
			require.LessOrEqual(t, total, 2*len(data))
			f.Addressed()
			for _, fn := range f.Funcs {
				f.Banks(fn.Name)
				f.Parameters(fn.Name)
				f.SharedSize(fn.Name)
			}
		}
	}
}
