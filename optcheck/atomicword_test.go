package optcheck

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAtomicWords: each atomic operation leaves what the ISA says, at the ends of its range as well.
func TestAtomicWords(t *testing.T) {
	const top = math.MaxUint32
	for _, x := range []struct {
		op        string
		old       uint32
		d         []uint32
		want      uint32
		otherwise uint32 // what the same leaves of an old word that is larger by one
	}{
		{"ADD", 5, []uint32{3}, 8, 9},
		{"SUB", 5, []uint32{3}, 2, 3},
		{"AND", 5, []uint32{3}, 1, 2},
		{"OR", 5, []uint32{3}, 7, 7},
		{"XOR", 5, []uint32{3}, 6, 5},
		{"EXCH", 5, []uint32{3}, 3, 3},
		{"MIN", 2, []uint32{top}, top, top},
		{"MAX", 2, []uint32{top}, 2, 3},
		{"UMIN", 2, []uint32{3}, 2, 3},
		{"UMAX", 2, []uint32{top}, top, top},
		{"INC", 2, []uint32{3}, 3, 0},
		{"DEC", 3, []uint32{4}, 2, 3},
		{"DEC", top, []uint32{4}, 4, 4},
		{"DEC", 4, []uint32{4}, 3, 4},
		{"CAS", 5, []uint32{5, 9}, 9, 6},
	} {
		f, n := atomicWord(x.op)
		require.Len(t, x.d, n, x.op)
		require.Equal(t, x.want, f(x.old, x.d), x.op)
		require.Equal(t, x.otherwise, f(x.old+1, x.d), x.op)
	}
	f, _ := atomicWord("NAND")
	require.Nil(t, f)
}
