package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
)

// eval computes a node for given contents of the parameters, by definition.
func eval(p *valuePool, v value, params map[uint64]uint32) uint32 {
	n := p.nodes[v]
	arg := func(x value) uint32 {
		if x == none {
			return 0
		}
		return eval(p, x, params)
	}
	switch n.kind {
	case kConst:
		return uint32(n.imm)
	case kParam:
		return params[n.imm]
	case kAdd:
		if n.b == none {
			return arg(n.a) + uint32(n.imm)
		}
		return arg(n.a) + arg(n.b)
	case kBits:
		return lutWord(uint8(n.imm), arg(n.a), arg(n.b), arg(n.c))
	}
	panic("no such node in this test")
}

func lutWord(lut uint8, a, b, c uint32) (r uint32) {
	for i := range 32 {
		idx := a>>i&1<<2 | b>>i&1<<1 | c>>i&1
		r |= uint32(lut>>idx&1) << i
	}
	return r
}

// TestSimplification: whatever is simplified keeps its meaning, and equal
// expressions written differently get one number.
func TestSimplification(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newValuePool()
		params := map[uint64]uint32{}
		var vals []value
		var words []uint32
		for i := range uint64(3) {
			params[i] = rapid.Uint32().Draw(t, "param")
			vals = append(vals, p.mk(node{kind: kParam, imm: i, a: none, b: none, c: none}))
			words = append(words, params[i])
		}
		for _, c := range []uint32{0, ^uint32(0), 0x80000000, rapid.Uint32().Draw(t, "const")} {
			vals = append(vals, p.constant(c))
			words = append(words, c)
		}
		pick := func() int { return rapid.IntRange(0, len(vals)-1).Draw(t, "operand") }
		for range 12 {
			a, b, c := pick(), pick(), pick()
			if rapid.Bool().Draw(t, "add") {
				vals, words = append(vals, p.add(vals[a], vals[b])), append(words, words[a]+words[b])
			} else {
				lut := uint8(rapid.IntRange(0, 255).Draw(t, "lut"))
				vals = append(vals, p.bits(lut, vals[a], vals[b], vals[c]))
				words = append(words, lutWord(lut, words[a], words[b], words[c]))
			}
			require.Equal(t, words[len(words)-1], eval(p, vals[len(vals)-1], params))
		}
	})
}

func TestNormalForms(t *testing.T) {
	p := newValuePool()
	x := p.mk(node{kind: kParam, imm: 0, a: none, b: none, c: none})
	y := p.mk(node{kind: kParam, imm: 4, a: none, b: none, c: none})
	zero := p.constant(0)
	require.Equal(t, zero, p.bits(lutXor, x, x, none), "r xor r")
	require.Equal(t, x, p.bits(lutXor, p.bits(lutXor, x, y, none), y, none), "register swap by xor")
	require.Equal(t, p.add(x, y), p.add(y, x))
	require.Equal(t, p.addConst(p.add(x, y), 7), p.add(p.addConst(x, 3), p.addConst(y, 4)))
	require.Equal(t, p.bits(lutXor, x, y, none), p.bits(0x5a, y, zero, x), "xor in another operand order")
	v, k, ok := p.xorConst(p.bits(0x96, x, p.constant(5), zero))
	require.True(t, ok)
	require.Equal(t, x, v)
	require.Equal(t, uint32(5), k)
	require.Equal(t, uint32(0x11223344), isa.Permute(0x33441122, 0x1032, 0))
	require.Equal(t, uint32(0xaa000400), isa.Permute(0xaa, 0x0654, 0x400))
}
