package lower

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
)

// Addresses of a launch of tests.
const (
	inputAt  = 0x7f00_0000_0000
	resultAt = 0x7f10_0000_0000
	threads  = 1024
	stride   = 64
)

// execute runs kernel k of a program with one block, and gives the bytes at resultAt. Parameters are the addresses
// of the inputs and of the results.
func execute(t testing.TB, p *ir.Program, input []byte, n int) []byte {
	t.Helper()
	for i := range p.Insts {
		require.Empty(t, p.Insts[i].Opaque, p.Insts[i].Text)
	}
	var first []byte
	for _, policy := range []emu.Policy{{}, {Reverse: true, Quantum: 5, Fill: ^uint64(0)}} {
		out := executeOnce(t, p, input, n, policy)
		if first == nil {
			first = out
		}
		require.Equal(t, first, out, "it depends on the schedule or on what is undefined")
	}
	return first
}

// executeOnce runs it with one policy.
func executeOnce(t testing.TB, p *ir.Program, input []byte, n int, policy emu.Policy) []byte {
	t.Helper()
	c, err := emu.Prepare(p)
	require.NoError(t, err)
	l := &emu.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{n, 1, 1}, Vars: map[string]uint64{}}
	m := emu.NewMemory(func(emu.Word, emu.Kind) uint32 { return 0 })
	at := uint64(0x7f20_0000_0000)
	shared := uint64(0x400)
	for i := range p.Vars {
		v := &p.Vars[i]
		if v.Space == ir.Shared {
			l.Vars[v.Name] = shared
			shared += uint64(v.Size+15) &^ 15
		} else if v.Space != ir.Local {
			l.Vars[v.Name] = at
			at += uint64(v.Size+31) &^ 15
		}
	}
	for i := range p.Vars {
		v := &p.Vars[i]
		data := append([]byte(nil), v.Init...)
		for _, a := range v.Inits {
			x, ok := l.Vars[a.Symbol]
			if !ok {
				x = p.Functions[a.Symbol]
			}
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], (x+uint64(a.Addend))>>a.Shift)
			copy(data[a.Offset:], word[:a.Bytes])
		}
		if v.Space == ir.Global || v.Space == ir.ConstBank {
			m.Fill(l.Vars[v.Name], data)
		}
	}
	for _, a := range []uint64{inputAt, resultAt} {
		l.Params = binary.LittleEndian.AppendUint64(l.Params, a)
	}
	m.Fill(inputAt, input)
	g, err := emu.NewGrid(c, l, m, policy, false)
	require.NoError(t, err)
	g.Final = true
	require.NoError(t, g.Run())
	return m.Bytes(resultAt, stride*n)
}

// frame is a kernel that runs some text on operands: %d4 to %d6 are 64 bits, %r4 to %r6, %h4 to %h6 and %p4 to %p6 the
// lower ones. It stores %d0, %r0, %h0, %p0, %p1 and %r1, which are 0 before.
func frame(text, more string) string {
	var b strings.Builder
	b.WriteString(more + "\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n" + registers)
	b.WriteString(`ld.param.u64 %d7, [in]; ld.param.u64 %d8, [out]; mov.u32 %r8, %tid.x;
mad.wide.u32 %d7, %r8, 64, %d7; mad.wide.u32 %d8, %r8, 64, %d8;
`)
	for i := range 3 {
		fmt.Fprintf(&b, "ld.global.u64 %%d%d, [%%d7+%d]; cvt.u32.u64 %%r%d, %%d%d; cvt.u16.u64 %%h%d, %%d%d;\n", i+4, 8*i, i+4, i+4, i+4, i+4)
		fmt.Fprintf(&b, "and.b32 %%r7, %%r%d, 1; setp.ne.u32 %%p%d, %%r7, 0;\n", i+4, i+4)
	}
	b.WriteString(`mov.u64 %d0, 0; mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u16 %h0, 0; mov.pred %p0, 0; mov.pred %p1, 0;
` + text + `
st.global.u64 [%d8], %d0; st.global.u32 [%d8+8], %r0; st.global.u16 [%d8+12], %h0; st.global.u32 [%d8+16], %r1;
selp.u32 %r7, 1, 0, %p0; st.global.u32 [%d8+20], %r7; selp.u32 %r7, 1, 0, %p1; st.global.u32 [%d8+24], %r7;
}
`)
	return b.String()
}

// resultPlaces are where frame stores its registers.
var resultPlaces = map[string]struct{ at, size int }{"d0": {0, 8}, "r0": {8, 4}, "h0": {12, 2}, "r1": {16, 4}, "p0": {20, 4}, "p1": {24, 4}}

// edges are operands that gather where integers are difficult.
func edges(r *rand.Rand) uint64 {
	v := r.Uint64() >> r.UintN(64)
	switch r.IntN(4) {
	case 0:
		v = 1<<r.UintN(64) + uint64(r.IntN(5)) - 2
	case 1:
		v = uint64(r.IntN(70))
	case 2:
		v = r.Uint64()&0xffffffff | uint64(r.IntN(3)-1)<<32
	}
	if r.IntN(3) == 0 {
		v = -v
	}
	return v
}

// operands are the inputs of all threads.
func operands() ([][3]uint64, []byte) {
	r := rand.New(rand.NewPCG(7, 7))
	in := make([][3]uint64, threads)
	data := make([]byte, threads*stride)
	for i := range in {
		for k := range 3 {
			in[i][k] = edges(r)
		}
		if r.IntN(6) == 0 {
			in[i][1] = in[i][0]
		}
		for k := range 3 {
			binary.LittleEndian.PutUint64(data[i*stride+8*k:], in[i][k])
		}
	}
	return in, data
}

type reference func(a, b, c uint64) uint64

func s32(x uint64) int64  { return int64(int32(x)) }
func s16(x uint64) int64  { return int64(int16(x)) }
func u32(x uint64) uint64 { return x & 0xffffffff }
func u16(x uint64) uint64 { return x & 0xffff }
func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// number is a word as an integer.
func number(x uint64, n uint, signed bool) *big.Int {
	v := new(big.Int).SetUint64(x & (1<<n - 1))
	if signed && v.Bit(int(n)-1) == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), n))
	}
	return v
}

// word is an integer modulo 2^64.
func word(v *big.Int) uint64 {
	return new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0))).Uint64()
}

// wide is a reference in integers of any size.
func wide(n uint, signed bool, f func(a, b, c *big.Int) *big.Int) reference {
	return func(a, b, c uint64) uint64 {
		return word(f(number(a, n, signed), number(b, n, signed), number(c, n, signed)))
	}
}

func clamp(v *big.Int, low, high int64) *big.Int {
	if v.Cmp(big.NewInt(low)) < 0 {
		return big.NewInt(low)
	} else if v.Cmp(big.NewInt(high)) > 0 {
		return big.NewInt(high)
	}
	return v
}

func mulShift(shift uint, add bool) func(a, b, c *big.Int) *big.Int {
	return func(a, b, c *big.Int) *big.Int {
		v := new(big.Int).Mul(a, b)
		v.Rsh(v, shift)
		if add {
			v.Add(v, c)
		}
		return v
	}
}

// halfwise applies a function to both halves.
func halfwise(f func(a, b int64) int64, signed bool) reference {
	return func(a, b, _ uint64) (r uint64) {
		for s := 0; s < 32; s += 16 {
			x, y := int64(u16(a>>s)), int64(u16(b>>s))
			if signed {
				x, y = s16(a>>s), s16(b>>s)
			}
			r |= u16(uint64(f(x, y))) << s
		}
		return r
	}
}

// instructions are texts, the registers that they define, and what these must hold.
var instructions = []struct {
	text, dst string
	want      reference
}{
	{"add.u32 %r0, %r4, %r5;", "r0", func(a, b, _ uint64) uint64 { return a + b }},
	{"add.s64 %d0, %d4, -7;", "d0", func(a, _, _ uint64) uint64 { return a - 7 }},
	{"add.sat.s32 %r0, %r4, %r5;", "r0", wide(32, true, func(a, b, _ *big.Int) *big.Int { return clamp(a.Add(a, b), -1<<31, 1<<31-1) })},
	{"sub.sat.s32 %r0, %r4, %r5;", "r0", wide(32, true, func(a, b, _ *big.Int) *big.Int { return clamp(a.Sub(a, b), -1<<31, 1<<31-1) })},
	{"sub.u16 %h0, %h4, %h5;", "h0", func(a, b, _ uint64) uint64 { return a - b }},
	{"add.s16x2 %r0, %r4, %r5;", "r0", halfwise(func(a, b int64) int64 { return a + b }, true)},
	{"max.s16x2 %r0, %r4, %r5;", "r0", halfwise(func(a, b int64) int64 { return max(a, b) }, true)},
	{"max.u16x2 %r0, %r4, %r5;", "r0", halfwise(func(a, b int64) int64 { return max(a, b) }, false)},
	{"min.relu.s16x2 %r0, %r4, %r5;", "r0", halfwise(func(a, b int64) int64 { return max(min(a, b), 0) }, true)},
	{"max.relu.s32 %r0, %r4, %r5;", "r0", func(a, b, _ uint64) uint64 { return uint64(max(s32(a), s32(b), 0)) }},
	{"min.u64 %d0, %d4, %d5;", "d0", func(a, b, _ uint64) uint64 { return min(a, b) }},
	{"mul.lo.s32 %r0, %r4, %r5;", "r0", wide(32, true, mulShift(0, false))},
	{"mul.hi.s32 %r0, %r4, %r5;", "r0", wide(32, true, mulShift(32, false))},
	{"mul.hi.u32 %r0, %r4, %r5;", "r0", wide(32, false, mulShift(32, false))},
	{"mul.hi.s64 %d0, %d4, %d5;", "d0", wide(64, true, mulShift(64, false))},
	{"mul.hi.u64 %d0, %d4, %d5;", "d0", wide(64, false, mulShift(64, false))},
	{"mul.hi.u16 %h0, %h4, %h5;", "h0", wide(16, false, mulShift(16, false))},
	{"mul.wide.s32 %d0, %r4, %r5;", "d0", wide(32, true, mulShift(0, false))},
	{"mul.wide.u32 %d0, %r4, %r5;", "d0", wide(32, false, mulShift(0, false))},
	{"mul.wide.s16 %r0, %h4, %h5;", "r0", wide(16, true, mulShift(0, false))},
	{"mad.wide.s32 %d0, %r4, %r5, %d6;", "d0", func(a, b, c uint64) uint64 { return uint64(s32(a)*s32(b)) + c }},
	{"mad.hi.u32 %r0, %r4, %r5, %r6;", "r0", wide(32, false, mulShift(32, true))},
	{"mad.hi.sat.s32 %r0, %r4, %r5, %r6;", "r0",
		wide(32, true, func(a, b, c *big.Int) *big.Int {
			return clamp(mulShift(32, true)(a, b, c), -1<<31, 1<<31-1)
		})},
	{"mad.lo.u64 %d0, %d4, %d5, %d6;", "d0", func(a, b, c uint64) uint64 { return a*b + c }},
	{"mul24.lo.s32 %r0, %r4, %r5;", "r0", wide(24, true, mulShift(0, false))},
	{"mul24.hi.s32 %r0, %r4, %r5;", "r0", wide(24, true, mulShift(16, false))},
	{"mul24.hi.u32 %r0, %r4, %r5;", "r0", wide(24, false, mulShift(16, false))},
	{"mad24.lo.u32 %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 { return a&0xffffff*(b&0xffffff) + c }},
	{"sad.s32 %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 { return uint64(max(s32(a)-s32(b), s32(b)-s32(a))) + c }},
	{"sad.u16 %h0, %h4, %h5, %h6;", "h0", func(a, b, c uint64) uint64 { return max(u16(a), u16(b)) - min(u16(a), u16(b)) + c }},
	{"setp.eq.u32 %p2, %r5, 0; @!%p2 div.s32 %r0, %r4, %r5;", "r0", func(a, b, _ uint64) uint64 {
		if u32(b) == 0 {
			return 0
		}
		return uint64(s32(a) / s32(b))
	}},
	{"setp.eq.u64 %p2, %d5, 0; @!%p2 rem.u64 %d0, %d4, %d5;", "d0", func(a, b, _ uint64) uint64 {
		if b == 0 {
			return 0
		}
		return a % b
	}},
	{"abs.s32 %r0, %r4;", "r0", func(a, _, _ uint64) uint64 { return uint64(max(s32(a), -s32(a))) }},
	{"neg.s16 %h0, %h4;", "h0", func(a, _, _ uint64) uint64 { return -a }},
	{"popc.b64 %r0, %d4;", "r0", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
	{"clz.b32 %r0, %r4;", "r0", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
	{"brev.b32 %r0, %r4;", "r0", func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
	{"bfind.u64 %r0, %d4;", "r0", func(a, _, _ uint64) uint64 { return uint64(bits.Len64(a) - 1) }},
	{"bfind.shiftamt.s32 %r0, %r4;", "r0", func(a, _, _ uint64) uint64 {
		v := uint32(a)
		if s32(a) < 0 {
			v = ^v
		}
		if v == 0 {
			return 0xffffffff
		}
		return uint64(32 - bits.Len32(v))
	}},
	{"bfe.u32 %r0, %r4, 5, 9;", "r0", func(a, _, _ uint64) uint64 { return u32(a) >> 5 & 0x1ff }},
	{"bfe.s64 %d0, %d4, 60, 9;", "d0", func(a, _, _ uint64) uint64 { return uint64(int64(a) >> 60) }},
	{"bfi.b32 %r0, %r4, %r5, 8, 12;", "r0", func(a, b, _ uint64) uint64 { return b&^0xfff00 | a&0xfff<<8 }},
	{"bmsk.clamp.b32 %r0, %r4, %r5;", "r0", func(a, b, _ uint64) uint64 {
		if u32(a) >= 32 {
			return 0
		}
		return (1<<min(u32(b), 32) - 1) << u32(a)
	}},
	{"szext.wrap.s32 %r0, %r4, %r5;", "r0", func(a, b, _ uint64) uint64 {
		n := b & 31
		if n == 0 {
			return 0
		}
		return uint64(int64(a<<(64-n)) >> (64 - n))
	}},
	{"dp4a.s32.u32 %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 {
		for i := 0; i < 32; i += 8 {
			c += uint64(int64(int8(a>>i)) * int64(uint8(b>>i)))
		}
		return c
	}},
	{"dp2a.hi.u32.s32 %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 {
		return c + u16(a)*uint64(int64(int8(b>>16))) + u16(a>>16)*uint64(int64(int8(b>>24)))
	}},
	{"add.cc.u32 %r0, %r4, %r5; addc.u32 %r1, 0, 0;", "r1", func(a, b, _ uint64) uint64 { return (u32(a) + u32(b)) >> 32 }},
	{"add.cc.u64 %d0, %d4, %d5; addc.cc.u64 %d0, %d6, -1; addc.u32 %r0, 0, 0;", "r0", func(a, b, c uint64) uint64 {
		_, k := bits.Add64(a, b, 0)
		_, k = bits.Add64(c, ^uint64(0), k)
		return k
	}},
	{"mov.b64 {%r2, %r3}, %d4; mov.b64 {%r4, %r5}, %d5; sub.cc.u32 %r0, %r2, %r4; subc.u32 %r1, %r3, %r5; mov.b64 %d0, {%r0, %r1};", "d0",
		func(a, b, _ uint64) uint64 { return a - b }},
	{"mad.lo.cc.u32 %r0, %r4, %r5, %r6; madc.hi.u32 %r0, %r4, %r5, 0;", "r0",
		func(a, b, c uint64) uint64 { return (u32(a)*u32(b) + u32(c)) >> 32 }},
	{"and.b16 %h0, %h4, %h5;", "h0", func(a, b, _ uint64) uint64 { return a & b }},
	{"not.b64 %d0, %d4;", "d0", func(a, _, _ uint64) uint64 { return ^a }},
	{"cnot.b32 %r0, %r4;", "r0", func(a, _, _ uint64) uint64 { return one(u32(a) == 0) }},
	{"xor.pred %p0, %p4, !%p5;", "p0", func(a, b, _ uint64) uint64 { return ^(a ^ b) & 1 }},
	{"not.pred %p0, %p4;", "p0", func(a, _, _ uint64) uint64 { return ^a & 1 }},
	{"lop3.b32 %r0, %r4, %r5, %r6, 0xd8;", "r0", func(a, b, c uint64) uint64 { return c&b | ^c&a }},
	{"lop3.or.b32 _|%p0, %r4, %r5, %r6, 0x80, !%p4;", "p0", func(a, b, c uint64) uint64 { return one(u32(a&b&c) != 0 || a&1 == 0) }},
	{"shl.b32 %r0, %r4, %r5;", "r0", func(a, b, _ uint64) uint64 { return u32(a) << u32(b) }},
	{"shr.s64 %d0, %d4, %r5;", "d0", func(a, b, _ uint64) uint64 { return uint64(int64(a) >> u32(b)) }},
	{"shr.u16 %h0, %h4, 3;", "h0", func(a, _, _ uint64) uint64 { return u16(a) >> 3 }},
	{"shf.l.wrap.b32 %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 { return (b<<32 | u32(a)) << (c & 31) >> 32 }},
	{"shf.r.clamp.b32 %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 { return (b<<32 | u32(a)) >> min(u32(c), 32) }},
	{"prmt.b32 %r0, %r4, %r5, 0xb041;", "r0", func(a, b, _ uint64) uint64 {
		return a>>8&0xff | b&0xff<<8 | a&0xff<<16 | uint64(uint8(int8(a>>24)>>7))<<24
	}},
	{"prmt.b32.f4e %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 { return (b<<32 | u32(a)) >> (8 * (c & 3)) }},
	{"setp.lt.s32 %p0|%p1, %r4, %r5;", "p0", func(a, b, _ uint64) uint64 { return one(s32(a) < s32(b)) }},
	{"setp.lt.s32 %p0|%p1, %r4, %r5;", "p1", func(a, b, _ uint64) uint64 { return one(s32(a) >= s32(b)) }},
	{"setp.hs.and.u64 %p0, %d4, %d5, !%p6;", "p0", func(a, b, c uint64) uint64 { return one(a >= b && c&1 == 0) }},
	{"mov.pred %p0, %p6; setp.ge.or.u16 %p1|%p0, %h4, %h5, %p0;", "p1",
		func(a, b, c uint64) uint64 { return one(u16(a) >= u16(b) || c&1 == 1) }},
	{"mov.pred %p0, %p6; setp.ge.or.u16 %p0|%p1, %h4, %h5, %p0;", "p1",
		func(a, b, c uint64) uint64 { return one(u16(a) < u16(b) || c&1 == 1) }},
	{"set.ne.u32.b64 %r0, %d4, %d5;", "r0", func(a, b, _ uint64) uint64 { return -one(a != b) }},
	{"set.gt.xor.f32.s32 %r0, %r4, %r5, %p6;", "r0", func(a, b, c uint64) uint64 { return 0x3f800000 * (one(s32(a) > s32(b)) ^ c&1) }},
	{"selp.b64 %d0, %d4, 9, %p6;", "d0", func(a, _, c uint64) uint64 { return a*(c&1) + 9*(1-c&1) }},
	{"slct.u32.s32 %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 {
		if s32(c) >= 0 {
			return a
		}
		return b
	}},
	{"cvt.s64.s32 %d0, %r4;", "d0", func(a, _, _ uint64) uint64 { return uint64(s32(a)) }},
	{"cvt.s32.s8 %r0, %r4;", "r0", func(a, _, _ uint64) uint64 { return uint64(int64(int8(a))) }},
	{"cvt.u8.u32 %r0, %r4;", "r0", func(a, _, _ uint64) uint64 { return a & 0xff }},
	{"cvt.s8.u32 %r0, %r4;", "r0", func(a, _, _ uint64) uint64 { return uint64(int64(int8(a))) }},
	{"cvt.sat.s16.u64 %h0, %d4;", "h0", func(a, _, _ uint64) uint64 { return min(a, 0x7fff) }},
	{"cvt.sat.u32.s64 %r0, %d4;", "r0", func(a, _, _ uint64) uint64 { return uint64(max(0, min(int64(a), 0xffffffff))) }},
	{"cvt.sat.s8.s64 %d0, %d4;", "d0", func(a, _, _ uint64) uint64 { return uint64(max(-128, min(int64(a), 127))) }},
	{"cvt.pack.sat.u8.s32.b32 %r0, %r4, %r5, %r6;", "r0", func(a, b, c uint64) uint64 {
		return c<<16 | uint64(max(0, min(s32(a), 255)))<<8 | uint64(max(0, min(s32(b), 255)))
	}},
	{"cvt.pack.sat.s16.s32 %r0, %r4, %r5;", "r0", func(a, b, _ uint64) uint64 {
		return uint64(max(-1<<15, min(s32(a), 1<<15-1)))<<16 | u16(uint64(max(-1<<15, min(s32(b), 1<<15-1))))
	}},
	{"mov.b64 {%r2, _}, %d4; mov.b64 {_, %r3}, %d4; mov.b64 %d0, {%r3, %r2};", "d0",
		func(a, _, _ uint64) uint64 { return bits.RotateLeft64(a, 32) }},
	{"mov.b64 {%h1, %h2, %h3, %h0}, %d4;", "h0", func(a, _, _ uint64) uint64 { return a >> 48 }},
	{"mov.b64 {%r4, %r0}, %d5; mov.b64 %d5, {%r0, %r4}; mov.b64 {%r0, %r1}, %d5;", "r1", func(_, b, _ uint64) uint64 { return b }},
	{"mov.b128 %q1, {%d4, %d5}; mov.b128 %q0, %q1; mov.b128 {_, %d0}, %q0;", "d0", func(_, b, _ uint64) uint64 { return b }},
	{"fns.b32 %r0, %r4, 0, 1;", "r0", func(a, _, _ uint64) uint64 {
		if u32(a) == 0 {
			return 0xffffffff
		}
		return uint64(bits.TrailingZeros64(a))
	}},
}

// TestInstructions executes each instruction on many operands.
func TestInstructions(t *testing.T) {
	in, data := operands()
	for _, c := range instructions {
		out := execute(t, lowered(t, frame(c.text, "")), data, threads)
		p := resultPlaces[c.dst]
		for i, x := range in {
			var w [8]byte
			copy(w[:], out[i*stride+p.at:][:p.size])
			want := c.want(x[0], x[1], x[2]) & (1<<(8*p.size) - 1)
			if got := binary.LittleEndian.Uint64(w[:]); got != want {
				t.Errorf("%s of %#x, %#x, %#x: %s is %#x, want %#x", c.text, x[0], x[1], x[2], c.dst, got, want)
				break
			}
		}
	}
}
