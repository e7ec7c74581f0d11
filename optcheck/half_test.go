package optcheck

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestHalves: halves of registers, put there and taken out again in any order, are those
// that arithmetic gives.
func TestHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		m := &machine{tr: &trace{pool: newValuePool()}}
		p := m.tr.pool
		words := map[value]uint32{}
		leaf := func() (value, uint32) {
			k := r.Uint32()
			switch r.IntN(3) {
			case 0:
				return p.constant(k), k
			case 1:
				c := p.unwritten(9)
				return p.mk(node{kind: kSel, a: p.constant(1), b: p.constant(0), c: c}), b2u(words[c] != 0)
			}
			v := p.unwritten(r.IntN(4))
			if _, ok := words[v]; !ok {
				words[v] = k
			}
			return v, words[v]
		}
		v, is := leaf()
		for range 6 {
			o, os := leaf()
			switch r.IntN(5) {
			case 0:
				v, is = m.halved(v, o, "l"), is&^0xffff|os&0xffff
			case 1:
				v, is = m.halved(v, o, "h"), is&0xffff|os<<16
			case 2:
				v, is = m.halved(o, m.half(v, "h"), "l"), os&^0xffff|is>>16
			case 3:
				v, is = m.half(v, "l"), is&0xffff
			case 4:
				v, is = m.low(v, 1), is&0xff
			}
			require.Equal(t, is, valueOf(p, v, words), "%v", words)
		}
	}
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// valueOf computes an expression of the forms that TestHalves makes.
func valueOf(p *valuePool, v value, words map[value]uint32) uint32 {
	if v < 0 {
		return 0
	}
	n := p.nodes[v]
	of := func(v value) uint32 { return valueOf(p, v, words) }
	switch n.kind {
	case kConst:
		return uint32(n.imm)
	case kBits:
		return isa.Lut(uint8(n.imm), of(n.a), of(n.b), of(n.c))
	case kSel:
		if of(n.c) != 0 {
			return of(n.a)
		}
		return of(n.b)
	case kFun:
		mi, _ := p.microOf(n.imm)
		x, ok := mi.Eval([]uint64{uint64(of(n.a)), uint64(of(n.b))})
		if !ok {
			panic(mi.String())
		}
		return x
	}
	return words[v]
}

// TestAMDPrivate: conditions that were kept in bytes and halves of private memory and registers, and words that only
// one path writes, are followed; another byte, half or path is not what the test does.
func TestAMDPrivate(t *testing.T) {
	x, err := litmus.Parse("guarded", []byte(guardedTest))
	require.NoError(t, err)
	want, err := spec.FromTest(x, 0, spec.Pointers)
	require.NoError(t, err)
	want.SetCode(&x.Threads[0], []spec.Value{{Offset: 24, Bytes: 4, Instr: -1, Reg: "r1"}})
	const text = `
	s_mov_b32 s33, 0
	s_load_b128 s[20:23], s[4:5], 0x0
	s_load_b64 s[6:7], s[4:5], 0x10
	s_load_b64 s[8:9], s[4:5], 0x18
	v_mov_b32_e32 v0, 0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v7, s8
	global_load_b32 v1, v0, s[22:23] glc dlc
	s_waitcnt vmcnt(0)
	v_cmp_ne_u32_e64 s12, 0, v1
	v_cndmask_b32_e64 v6, 0, 1, s12
	scratch_store_b8 off, v6, s33 offset:40
	scratch_load_d16_u8 v7, off, s33 offset:40
	s_waitcnt vmcnt(0)
	v_and_b16 v7.l, 1, v7.l
	v_cmp_eq_u16_e64 s12, v7.l, 1
	s_mov_b32 s10, exec_lo
	s_and_b32 s12, s10, s12
	s_xor_b32 s13, s12, s10
	s_mov_b32 exec_lo, s12
	s_cbranch_execz .LBB0_2
	global_load_b32 v2, v0, s[20:21]
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v2, s33 offset:4
.LBB0_2:
	s_mov_b32 exec_lo, s10
	scratch_load_b32 v2, off, s33 offset:4
	s_waitcnt vmcnt(0)
	scratch_store_b32 off, v2, s33 offset:8
	s_mov_b32 exec_lo, s13
	s_cbranch_execz .LBB0_3
	v_mov_b32_e32 v2, s9
	scratch_store_b32 off, v2, s33 offset:8
.LBB0_3:
	s_mov_b32 exec_lo, s10
	scratch_load_b32 v2, off, s33 offset:8
	s_waitcnt vmcnt(0)
	v_xor_b32_e32 v3, LIT0, v1
	global_store_b32 v0, v3, s[6:7]
	v_xor_b32_e32 v4, LIT1, v2
	global_store_b32 v0, v4, s[6:7] offset:16
	s_xor_b32 s14, s9, LIT2
	v_mov_b32_e32 v5, s14
	global_store_b32 v0, v5, s[6:7] offset:32
	s_xor_b32 s14, s9, LIT3
	v_mov_b32_e32 v6, s14
	global_store_b32 v0, v6, s[6:7] offset:48`
	edits(t, "gfx1100", text, want, []edit{
		{"as it is", "", "", ""},
		{"by the upper half", "scratch_load_d16_u8 v7, off, s33 offset:40\n\ts_waitcnt vmcnt(0)\n\tv_and_b16 v7.l, 1, v7.l\n\tv_cmp_eq_u16_e64 s12, v7.l, 1",
			"scratch_load_d16_hi_u8 v7, off, s33 offset:40\n\ts_waitcnt vmcnt(0)\n\tv_and_b16 v7.h, 1, v7.h\n\tv_cmp_eq_u16_e64 s12, v7.h, 1", ""},
		{"the half that was not loaded", "v_cmp_eq_u16_e64 s12, v7.l, 1", "v_cmp_eq_u16_e64 s12, v7.h, 1", "control-changed"},
		{"the bit inverted", "v_cmp_eq_u16_e64 s12, v7.l, 1", "v_cmp_ne_u16_e64 s12, v7.l, 1", "control-changed"},
		{"another bit", "v_and_b16 v7.l, 1", "v_and_b16 v7.l, 2", "missing"},
		{"a byte from the upper half", "scratch_store_b8 off", "scratch_store_d16_hi_b8 off", "unknown"},
		{"another byte", "scratch_load_d16_u8 v7, off, s33 offset:40", "scratch_load_d16_u8 v7, off, s33 offset:41", "unknown"},
		{"with its sign", "scratch_load_d16_u8", "scratch_load_d16_i8", "unknown"},
		{"a word that the skipped path does not write", "s_mov_b32 exec_lo, s13", "s_mov_b32 exec_lo, 0", "unknown"},
	})
}
