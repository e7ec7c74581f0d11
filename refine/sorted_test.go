package refine_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/refine"
)

// TestSorted: numbers grow with their addresses, or shrink, whatever they are numbers of.
func TestSorted(t *testing.T) {
	for name, c := range map[string]struct {
		kind  emu.Kind
		parts func(a, b uint32) []float64 // of two words
	}{
		"integers": {emu.Integer, func(a, b uint32) []float64 { return []float64{float64(a), float64(b)} }},
		"wide":     {emu.Integer64, func(a, b uint32) []float64 { return []float64{float64(uint64(b)<<32 | uint64(a))} }},
		"halves": {emu.Bytes16, func(a, b uint32) []float64 {
			return []float64{float64(a & 0xffff), float64(a >> 16), float64(b & 0xffff), float64(b >> 16)}
		}},
		"bytes": {emu.Bytes8, func(a, b uint32) (out []float64) {
			for _, w := range []uint32{a, b} {
				for i := range 4 {
					out = append(out, float64(w>>(8*i)&0xff))
				}
			}
			return out
		}},
		"f32": {emu.Float32, func(a, b uint32) []float64 {
			return []float64{float64(math.Float32frombits(a)), float64(math.Float32frombits(b))}
		}},
		"f64": {emu.Float64, func(a, b uint32) []float64 { return []float64{math.Float64frombits(uint64(b)<<32 | uint64(a))} }},
		"f16": {emu.Float16, func(a, b uint32) []float64 { // of one exponent and sign
			return []float64{float64(a & 0xffff), float64(a >> 16), float64(b & 0xffff), float64(b >> 16)}
		}},
	} {
		for seed := range uint64(2) {
			var list []float64
			for at := uint64(0x7f0000001000); at < 0x7f0000001080; at += 8 {
				word := func(at uint64) uint32 {
					return refine.First(&refine.Input{Seed: seed, World: refine.Sorted}, at, c.kind)
				}
				list = append(list, c.parts(word(at), word(at+4))...)
			}
			if seed == 1 {
				slices.Reverse(list)
			}
			for i := range list[1:] {
				require.Less(t, list[i], list[i+1], "%s, seed %d: %v", name, seed, list)
			}
		}
	}
}
