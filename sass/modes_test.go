package sass

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryMode: whatever options the tools are given, the same program is read. Each mode is asked of a third of the cells, of at
// least two releases and targets; OPTCHECK_FULL=1 asks it of all.
func TestEveryMode(t *testing.T) {
	for j, r := range releases(t) {
		for k, sm := range []int{35, 50, 90} {
			if !has(r.sms, sm) {
				continue
			}
			bin := r.compile(t, goldenPTX(sm, r.ptx), sm, "-lineinfo")
			base, err := Parse("base", r.tool(t, "nvdisasm", "-c", bin))
			require.NoError(t, err)
			for i, args := range [][]string{
				{"nvdisasm"}, {"nvdisasm", "-hex"}, {"nvdisasm", "-g"}, {"nvdisasm", "-c", "-gi"}, {"nvdisasm", "-c", "-gp"},
				{"nvdisasm", "-c", "-plr"}, {"nvdisasm", "-c", "-hex", "-plr"}, {"nvdisasm", "-c", "-lrm", "narrow"},
				{"nvdisasm", "-c", "-lrm", "count"},
				{"nvdisasm", "-raw"}, {"nvdisasm", "-c", "-raw", "-hex"}, {"nvdisasm", "-c", "-novliw"}, {"nvdisasm", "-c", "-ndf"},
				{"nvdisasm", "-c", "-sf"},
				{"cuobjdump", "-sass"}, {"cuobjdump", "-sass", "-res-usage"},
			} {
				if (3+i+j-k)%3 != 0 && os.Getenv("OPTCHECK_FULL") != "1" {
					continue
				}
				out := r.tool(t, args[0], append(append([]string{}, args[1:]...), bin)...)
				p, err := Parse("mode", out)
				require.NoError(t, err, "%s sm_%d %v", r.name, sm, args)
				assert.Empty(t, p.Problems, "%s sm_%d %v", r.name, sm, args)
				assert.Empty(t, coverage(p).Unknown, "%s sm_%d %v", r.name, sm, args)
				require.Len(t, p.Funcs, len(base.Funcs))
				for _, f := range p.Funcs {
					for _, g := range base.Funcs {
						if f.Name == g.Name {
							assert.Equal(t, reachableInsts(g), reachableInsts(f), "%s sm_%d %v", r.name, sm, args)
						}
					}
				}
			}
		}
	}
}

func has(l []int, x int) bool {
	for _, y := range l {
		if x == y {
			return true
		}
	}
	return false
}

// TestRawBinary: a raw instruction dump has no function name and, unlike a
// cubin, may end without padding.
func TestRawBinary(t *testing.T) {
	r := releases(t)[len(releases(t))-1]
	code := []byte{
		0x18, 0x79, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0x0f, 0, // NOP
		0x4d, 0x79, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x03, 0, 0xea, 0x0f, 0, // EXIT
	}
	bin := filepath.Join(t.TempDir(), "raw.bin")
	require.NoError(t, os.WriteFile(bin, code, 0o644))
	out := r.tool(t, "nvdisasm", "-b", "SM80", bin)
	p, err := Parse("raw", out)
	require.NoError(t, err, "%s", bytes.TrimSpace(out))
	require.Len(t, p.Funcs, 1)
	require.Len(t, p.Funcs[0].Insts, 2)
	assert.Equal(t, "EXIT", p.Funcs[0].Insts[1].Op)
}
