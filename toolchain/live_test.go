package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/sass/cubin"
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
					second := text
					if i == 0 || i == len(tc.Targets)-1 { // it is slow
						second, err = tc.DisassembleCuobjdump(context.Background(), b.Cubin, DisasmOptions{})
						require.NoError(t, err)
						assert.NotContains(t, string(second), "//## File")
						assert.Equal(t, instructions(second), instructions(text), "%s %s: the two disassemblers", tc.ID, target)
					}
					for _, u := range b.Units {
						k := kernelName(u)
						assert.Contains(t, string(text), "\n.text."+k+":\n")
						assert.True(t, bytes.Contains(second, []byte("Function : "+k+"\n")) || bytes.Contains(second, []byte(".text."+k+":\n")))
					}
					assert.Equal(t, 3*len(b.Units), distinctLines(text), "%s %s: line info", tc.ID, target)
				}
			}
		})
	}
}

// instructions counts the lines that carry an address and something after it,
// but for the padding, which nvdisasm 11.2 leaves out where cuobjdump does not.
func instructions(text []byte) int {
	n := 0
	for _, line := range instructionLine.FindAll(text, -1) {
		if !bytes.Contains(line, []byte(" NOP")) {
			n++
		}
	}
	return n
}

var instructionLine = regexp.MustCompile(`(?m)^\s+/\*[0-9a-f]{4,}\*/\s+[^\s/].*$`)

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

// A kernel compiled alone and in a batch has the same machine code.
func TestLiveAloneAndInBatch(t *testing.T) {
	for _, tc := range real(t) {
		for _, level := range []string{"O0", "O3"} {
			target := tc.Targets[len(tc.Targets)-1]
			job := Job{Target: target, Level: level, Header: header(tc.MaxPTX, target), Units: kernels(30)}
			batch, err := tc.Compile(context.Background(), job)
			require.NoError(t, err)
			job.Units = job.Units[17:18]
			alone, err := tc.Compile(context.Background(), job)
			require.NoError(t, err)
			want := codeOf(t, alone.Batches[0].Cubin, "k17")
			require.NotEmpty(t, want)
			assert.Equal(t, want, codeOf(t, batch.Batches[0].Cubin, "k17"), "%s %s", tc.ID, level)
		}
	}
}

// codeOf is the code of a function.
func codeOf(t *testing.T, data []byte, name string) []byte {
	f, err := cubin.Parse(data)
	require.NoError(t, err)
	for i := range f.Funcs {
		if f.Funcs[i].Name == name {
			return f.Funcs[i].Code
		}
	}
	return nil
}

// A target that a release lacks fails every unit with its words, after two
// processes; another release's cubin is never shown as empty.
func TestLiveMisuse(t *testing.T) {
	all := real(t)
	for _, tc := range all {
		before := tc.Stats().Processes
		res, err := tc.Compile(context.Background(), Job{Target: "sm_20", Level: "O3", Header: header("6.4", "sm_20"), Units: kernels(20)})
		require.NoError(t, err)
		require.Len(t, res.Failed, 20)
		assert.ErrorIs(t, res.Failed[7], ErrCompile)
		assert.ErrorContains(t, res.Failed[7], "test7: ")
		assert.ErrorContains(t, res.Failed[7], "sm_20")
		assert.LessOrEqual(t, tc.Stats().Processes-before, int64(2))
	}
	old, last := all[0], all[len(all)-1]
	if old.HasTarget("sm_35") && !last.HasTarget("sm_35") {
		res, err := old.Compile(context.Background(), Job{Target: "sm_35", Level: "O3", Header: header("6.4", "sm_35"), Units: kernels(2)})
		require.NoError(t, err)
		_, err = last.Disassemble(context.Background(), res.Batches[0].Cubin, DisasmOptions{})
		assert.Error(t, err)
	}
}

// BenchmarkBatch measures the tools' CPU time per kernel and ours.
func BenchmarkBatch(b *testing.B) {
	for _, tc := range real(b) {
		target := "sm_80"
		for _, level := range []string{"O3", "O0"} {
			for _, n := range []int{1, 16, 64, 256, 512, 1000} {
				b.Run(fmt.Sprintf("%s/%s/%d", tc.Name, level, n), func(b *testing.B) { benchBatch(b, tc, target, level, n) })
			}
		}
	}
}

func benchBatch(b *testing.B, tc *Toolchain, target, level string, n int) {
	job := Job{Target: target, Level: level, LineInfo: true, Header: header("7.0", target), Units: kernels(n), BatchUnits: n}
	own := ownCPU()
	var ptxas, nvdisasm time.Duration
	for b.Loop() {
		s0 := tc.Stats()
		res, err := tc.Compile(context.Background(), job)
		require.NoError(b, err)
		s1 := tc.Stats()
		_, err = tc.Disassemble(context.Background(), res.Batches[0].Cubin, DisasmOptions{LineInfo: true})
		require.NoError(b, err)
		ptxas += s1.CPU() - s0.CPU()
		nvdisasm += tc.Stats().CPU() - s1.CPU()
	}
	perKernel := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(b.N*n) }
	b.ReportMetric(perKernel(ptxas), "ptxas-ms/kernel")
	b.ReportMetric(perKernel(nvdisasm), "nvdisasm-ms/kernel")
	b.ReportMetric(perKernel(ownCPU()-own), "own-ms/kernel")
}

// ownCPU is the CPU time of this process without its children.
func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
