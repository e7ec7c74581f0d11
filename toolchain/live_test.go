package toolchain

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// known is what the three releases of the managed folder say of themselves.
var known = map[string]struct {
	first, last string
	targets     int
	maxPTX      string
}{
	"11.2.152": {"sm_35", "sm_86", 13, "7.2"},
	"11.8.89":  {"sm_35", "sm_90", 16, "7.8"},
	"12.4.131": {"sm_50", "sm_90a", 15, "8.4"},
}

func TestLiveDiscover(t *testing.T) {
	all := real(t)
	assert.True(t, slices.IsSortedFunc(all, func(a, b *Toolchain) int { return CompareVersions(a.Version, b.Version) }))
	seen := map[string]bool{}
	for _, tc := range all {
		assert.False(t, seen[tc.ID], "%s is listed twice", tc.ID)
		seen[tc.ID] = true
		want, ok := known[tc.Version]
		if !ok {
			continue
		}
		assert.Equal(t, want.first, tc.Targets[0], tc.ID)
		assert.Equal(t, want.last, tc.Targets[len(tc.Targets)-1], tc.ID)
		assert.Len(t, tc.Targets, want.targets, tc.ID)
		assert.Equal(t, want.maxPTX, tc.MaxPTX, tc.ID)
		assert.NotEmpty(t, tc.Nvdisasm)
		assert.NotEmpty(t, tc.Cuobjdump)
	}
}

// Every release, each of its targets at the two levels that differ: a batch
// with three bad units gives all the others, and both disassemblers show them.
func TestLiveCompile(t *testing.T) {
	for _, tc := range real(t) {
		t.Run(tc.Name, func(t *testing.T) {
			for i, target := range tc.Targets {
				if testing.Short() && i%4 != 0 {
					continue
				}
				level := []string{"O0", "O3"}[i%2]
				units := kernels(10)
				for how, u := range []int{0, 4, 9} {
					spoil(&units[u], how)
				}
				res, err := tc.Compile(context.Background(), Job{Target: target, Level: level, LineInfo: true,
					Header: header(tc.MaxPTX, target), Units: units, BatchUnits: 8})
				require.NoError(t, err)
				checkPartition(t, res, 10, []int{0, 4, 9})
				assert.ErrorContains(t, res.Failed[0], "test0:12: ")
				assert.ErrorContains(t, res.Failed[0], "bogus")
				for _, b := range res.Batches {
					text, err := tc.Disassemble(context.Background(), b.Cubin, DisasmOptions{LineInfo: true})
					require.NoError(t, err)
					second, err := tc.DisassembleCuobjdump(context.Background(), b.Cubin, DisasmOptions{})
					require.NoError(t, err)
					for _, u := range b.Units {
						k := kernelName(u)
						assert.Contains(t, string(text), "\n.text."+k+":\n")
						assert.Contains(t, string(second), "Function : "+k+"\n")
					}
					assert.Equal(t, 3*len(b.Units), distinctLines(text), "%s %s: line info", tc.ID, target)
				}
			}
		})
	}
}

// distinctLines counts the source lines that a disassembly names.
func distinctLines(text []byte) int {
	seen := map[string]bool{}
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte("//## File")) {
			seen[string(line)] = true
		}
	}
	return len(seen)
}
