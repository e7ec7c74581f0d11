package drive

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

// TestDiffer: a launch that no device gets differs from a planned one in about half of its settings. None of them bounds a
// loop, is given already, or is no setting at all, and what is a distance stays one of whole doublewords.
func TestDiffer(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	h, err := ptxgen.EmitHarness(mp, "sm_90", ptxgen.FormPermuted, spec.Pointers)
	require.NoError(t, err)
	settings := map[string]bool{}
	launch := runner.Command{Args: make([]runner.Arg, len(h.Params))}
	for i, q := range h.Params {
		launch.Args[i] = runner.U32(16)
		settings[q.Name] = q.Kind == ptxgen.ParamSetting && !slices.Contains(bounding, q.Name) && q.Name != "inst_mask"
	}
	times, all := map[string]int{}, 200
	for seed := range all {
		set := map[string]uint32{"inst_mask": 3}
		differ(set, h, &launch, rand.New(rand.NewPCG(uint64(seed), 0)))
		require.Equal(t, uint32(3), set["inst_mask"])
		delete(set, "inst_mask")
		for name, value := range set {
			require.True(t, settings[name], name)
			if most := uint32(7); slices.Contains(inBytes, name) {
				require.Zero(t, value%8, name)
				require.LessOrEqual(t, value, 16+8*most, name)
			} else {
				require.LessOrEqual(t, value, 16+most, name)
			}
			require.GreaterOrEqual(t, value, uint32(16), name)
			times[name]++
		}
	}
	for name, is := range settings {
		if is {
			require.InDelta(t, all/2, times[name], float64(all)/4, name)
		}
	}
}

// TestSamples: the samples of a harness are the same each time, and memory that the stress finds is full of what it looks for.
func TestSamples(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	h, err := ptxgen.EmitHarness(mp, "sm_90", ptxgen.FormPermuted, spec.Pointers)
	require.NoError(t, err)
	first, err := Samples(h)
	require.NoError(t, err)
	again, err := Samples(h)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.GreaterOrEqual(t, len(first), len(sampled))
	for i, s := range first[:len(sampled)] {
		for _, q := range h.Params {
			if want, ok := sampled[i].set[q.Name]; ok {
				require.Equal(t, want, binary.LittleEndian.Uint32(s.Params[q.At:]), "%s of sample %d", q.Name, i)
			}
		}
	}
	for i, s := range first[:len(sampled)] {
		found := slices.ContainsFunc(s.Memory, func(a Area) bool {
			return len(a.Data) > 1024 && bytes.Equal(a.Data[:1024], bytes.Repeat(binary.LittleEndian.AppendUint32(nil, ptxgen.SeenSum), 256))
		})
		require.Equal(t, sampled[i].found, found, i)
	}
	require.Equal(t, map[string]uint32{"stress_loads": 0b10101, "stress_stores": 0b01010, "stress_steps": 5, "sync": 1 << 30, "pre_mask": 7}, sampled[1].set)
	end := int64(0)
	for _, q := range h.Params {
		end = max(end, q.At+map[bool]int64{false: 4, true: 8}[q.Wide])
	}
	wild := 0
	for i, s := range first[:len(sampled)] {
		require.Len(t, s.Params, int(end))
		at := map[uint64]bool{}
		for _, a := range s.Memory {
			at[a.Addr] = true
		}
		set := map[string]uint32{}
		for _, q := range h.Params {
			switch q.Kind {
			case ptxgen.ParamLocation, ptxgen.ParamOut, ptxgen.ParamResults, ptxgen.ParamScratch, ptxgen.ParamCounters:
				require.True(t, at[binary.LittleEndian.Uint64(s.Params[q.At:])], "%s points to memory", q.Name)
			case ptxgen.ParamSetting:
				set[q.Name] = binary.LittleEndian.Uint32(s.Params[q.At:])
			}
		}
		x := sampled[i]
		warps := map[bool]uint32{true: 1, false: 2}[x.found]
		if x.wild {
			wild += int(set["inst_mask"] & (set["inst_mask"] + 1))
			continue
		}
		require.Equal(t, 32*warps, s.Dims.Block[0], i)
		require.Equal(t, []uint32{64*warps - 1, 7, 8, warps, warps}, []uint32{set["inst_mask"], set["stress_lines"], set["stress_lane"], set["warps"],
			set["stress_iterations"]}, i)
		require.Equal(t, x.incantations&Stress != 0, set["stress_units"] > set["test_units"], i)
	}
	require.Positive(t, wild, "others differ from what is planned")
}

// TestPaper: memory on paper is filled, written, copied and freed as that of a device, and what a small launch never needs is
// refused.
func TestPaper(t *testing.T) {
	s := &paper{devices: []runner.Device{chip}}
	a, err := s.Alloc(t.Context(), 0, 16)
	require.NoError(t, err)
	b, err := s.Alloc(t.Context(), 0, 8)
	require.NoError(t, err)
	require.NotEqual(t, s.addr(a), s.addr(b))
	_, err = s.Alloc(t.Context(), 0, 1<<24)
	require.NoError(t, err)
	_, err = s.Alloc(t.Context(), 0, 1<<24+1)
	require.ErrorIs(t, err, runner.ErrMemory)
	for _, c := range []runner.Command{runner.Fill(a, 4, 8, 0x01020304), runner.Write(a, 12, []byte{9}), runner.Copy(b, 2, a, 8, 5)} {
		require.NoError(t, s.do(&c))
	}
	require.Equal(t, []byte{0, 0, 0, 0, 4, 3, 2, 1, 4, 3, 2, 1, 9, 0, 0, 0}, s.memory[a-1])
	require.Equal(t, []byte{0, 0, 4, 3, 2, 1, 9, 0}, s.memory[b-1])
	require.Error(t, s.do(&runner.Command{Kind: runner.CommandLaunch, Buffer: a}))
	require.NoError(t, s.Free(t.Context(), a))
	require.Empty(t, s.memory[a-1])
}
