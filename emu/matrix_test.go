package emu

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFragments: which elements of a matrix a lane has, as PTX ISA 9.7.14.5.15 draws them.
func TestFragments(t *testing.T) {
	var m, back matrix
	for i := range 64 {
		m[i/8][i%8] = uint16(i)
	}
	for l, want := range map[int][2]uint64{0: {0 | 1<<16, 0 | 8<<16}, 5: {10 | 11<<16, 17 | 25<<16}, 31: {62 | 63<<16, 55 | 63<<16}} {
		require.Equal(t, want[0], m.fragment(l, false), l)
		require.Equal(t, want[1], m.fragment(l, true), l)
	}
	for l := range Lanes {
		back.set(l, true, m.fragment(l, true))
	}
	require.Equal(t, m, back)
}
