package optcheck

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// TestPermutations: permutations of bytes, also of what is one, or a mixture of two words, have the value that they compute, in the pool and
// as an expression.
func TestPermutations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(36, 1))
	composed := 0
	for range 5000 {
		m := &machine{tr: &trace{pool: newValuePool()}}
		p := m.tr.pool
		params := map[int64]uint32{}
		var values []value
		var words []uint32
		for k := range int64(3) {
			values, params[4*k] = append(values, p.param(4*k)), rnd.Uint32()
			words = append(words, params[4*k])
		}
		known := rnd.Uint32()
		values, words = append(values, p.constant(0), p.constant(known)), append(words, 0, known)
		for range 4 {
			a, b := rnd.IntN(len(values)), rnd.IntN(len(values))
			if rnd.IntN(3) == 0 {
				mask := uint32(0xff << (8 * rnd.IntN(4)))
				if rnd.IntN(2) == 0 {
					mask = 0xffff << (16 * rnd.IntN(2))
				}
				values = append(values, p.bits(lutMerge, values[a], values[b], p.constant(mask)))
				words = append(words, words[a]&^mask|words[b]&mask)
				continue
			}
			sel := rnd.Uint32() & 0x7777
			v := m.prmt(values[a], p.constant(sel), values[b])
			if n := p.nodes[v]; n.kind != kFun || n.b != p.constant(sel) {
				composed++
			}
			values, words = append(values, v), append(words, isa.Permute(words[a], sel, words[b]))
		}
		l := &lifter{p: &pass{tr: m.tr}}
		seen, size := taint(0), 0
		e, err := l.build(values[len(values)-1], &seen, &size)
		require.NoError(t, err)
		got, ok := e.eval(params, nil)
		require.True(t, ok)
		require.Equal(t, words[len(words)-1], got)
	}
	require.Greater(t, composed, 1000)
}
