package optcheck

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/spec"
)

// TestLocated: where an address is found to be a parameter plus an offset, it is that whatever small words memory holds:
// what is left out of it is zero.
func TestLocated(t *testing.T) {
	found, other := 0, 0
	for range 40 {
		rapid.Check(t, func(t *rapid.T) {
			p := newValuePool()
			m := &machine{tr: &trace{pool: p}, arch: nvidia{sm: 80}}
			draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
			word := func() value {
				return p.constant(rapid.SampledFrom([]uint32{0, 1, 4, 31, 0x80000000, 0xffffffff}).Draw(t, "w"))
			}
			list := []value{loaded(p, 0), loaded(p, 1)}
			pick := func() value {
				if draw(3) == 0 {
					return word()
				}
				return list[draw(len(list))]
			}
			for range 4 {
				k := draw(5)
				a, b := pick(), pick()
				list = append(list, []func() value{
					func() value {
						return p.bits(rapid.SampledFrom([]uint8{lutAnd, lutXor, lutOr}).Draw(t, "l"), a, b, none)
					},
					func() value {
						return p.mk(node{kind: kSel, a: a, b: b, c: p.mk(node{kind: kCmp, imm: uint64(draw(6)), a: pick(), b: pick(), c: none})})
					},
					func() value { return p.add(a, b) },
					func() value { return p.mk(node{kind: kFun, imm: uint64(isa.MicroShr) << 8, a: a, b: word(), c: none}) },
					func() value { return p.mk(node{kind: kCmp, imm: uint64(draw(6)), a: a, b: b, c: none}) },
				}[k]())
			}
			addr := p.add(p.param(8), list[len(list)-1])
			k := m.normalise(addr, isa.SpaceGlobal)
			if k.base != baseParam {
				other++
				return
			}
			found++
			ps := &pass{tr: &trace{pool: p, fn: &isa.Func{Insts: make([]isa.Inst, 2)}, reads: []int{0, 1},
				events: []event{{inst: 0, role: isa.RoleLoad}, {inst: 1, role: isa.RoleLoad}}}, owner: make([][]int, 2)}
			e := newEvaluator(&pass{tr: ps.tr, s: &spec.Spec{}, owner: ps.owner})
			for _, w := range []uint32{0, 1, 2} {
				e.set(sameWord(w))
				is, ok := e.eval(addr, 0)
				require.True(t, ok)
				require.Equal(t, paramWord+uint32(k.off), is, "%s with %d: %+v", k, w, p.nodes)
			}
		})
	}
	require.Greater(t, found, 200)
	require.Greater(t, other, 200)
}

// sameWord is what all reads return.
type sameWord uint32

const paramWord = 0x5a5a0000

func (w sameWord) Read(int, int) uint32 { return uint32(w) }
func (sameWord) Param(int64) uint32     { return paramWord }

// TestDisjoint: conditions exclude each other only where one has both values; of what is not known, nobody says.
func TestDisjoint(t *testing.T) {
	for _, x := range []struct {
		a, b []sense
		is   bool
	}{
		{[]sense{{1, true}}, []sense{{1, false}}, true}, {[]sense{{1, true}}, []sense{{1, true}}, false},
		{[]sense{{1, true}}, []sense{{2, false}}, false}, {[]sense{{none, true}}, []sense{{none, false}}, false},
		{[]sense{{2, true}, {1, false}}, []sense{{3, true}, {1, true}}, true}, {nil, []sense{{1, true}}, false},
	} {
		require.Equal(t, x.is, disjoint(x.a, x.b), fmt.Sprint(x))
		require.Equal(t, x.is, disjoint(x.b, x.a), fmt.Sprint(x))
	}
}
