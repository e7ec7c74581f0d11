package sass

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// paramBase returns where the parameters of a kernel start in constant bank 0.
func paramBase(sm int) int64 {
	switch {
	case sm >= 90:
		return 0x210
	case sm >= 70:
		return 0x160
	}
	return 0x140
}

// microCase is a PTX computation and what it must give. x, y are 32-bit, z, w
// 64-bit inputs; results go to r0, r1 and rd0, rd1.
type microCase struct {
	body string
	want func(x, y uint32, z, w uint64) [4]uint64
}

func u64(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var microCases = []microCase{
	{"add.u32 r0,x,y; sub.u32 r1,x,y; add.u64 rd0,z,w; sub.u64 rd1,z,w;", func(x, y uint32, z, w uint64) [4]uint64 {
		return [4]uint64{uint64(x + y), uint64(x - y), z + w, z - w}
	}},
	{"neg.s32 r0,x; not.b32 r1,y; neg.s64 rd0,z; not.b64 rd1,w;", func(x, y uint32, z, w uint64) [4]uint64 {
		return [4]uint64{uint64(-x), uint64(^y), -z, ^w}
	}},
	{"and.b32 r0,x,y; or.b32 r1,x,0x12345; xor.b64 rd0,z,w; and.b64 rd1,z,0x8000000080000000;", func(x, y uint32, z, w uint64) [4]uint64 {
		return [4]uint64{uint64(x & y), uint64(x | 0x12345), z ^ w, z & 0x8000000080000000}
	}},
	{"xor.b32 r0,x,0x07f3a001; and.b32 r1,x,0x80000000; cvt.u64.u32 rd2,r1; add.u64 rd0,z,rd2; or.b64 rd1,z,w;",
		func(x, y uint32, z, w uint64) [4]uint64 {
			return [4]uint64{uint64(x ^ 0x07f3a001), uint64(x & 0x80000000), z + uint64(x&0x80000000), z | w}
		}},
	{"mad.wide.u32 rd0,x,y,z; mad.wide.s32 rd1,x,4,w; mul.lo.u32 r0,x,12; mad.lo.u32 r1,x,8,y;", func(x, y uint32, z, w uint64) [4]uint64 {
		return [4]uint64{uint64(x * 12), uint64(x*8 + y), uint64(x)*uint64(y) + z, uint64(int64(int32(x))*4) + w}
	}},
	{"mul.wide.u32 rd0,x,y; mul.wide.s32 rd1,x,y; mul.hi.u32 r0,x,y; mul.hi.s32 r1,x,y;", func(x, y uint32, z, w uint64) [4]uint64 {
		s := int64(int32(x)) * int64(int32(y))
		return [4]uint64{uint64(x) * uint64(y) >> 32, uint64(uint32(s >> 32)), uint64(x) * uint64(y), uint64(s)}
	}},
	{"shl.b32 r0,x,5; shr.u32 r1,y,7; shl.b64 rd0,z,9; shr.u64 rd1,w,11;", func(x, y uint32, z, w uint64) [4]uint64 {
		return [4]uint64{uint64(x << 5), uint64(y >> 7), z << 9, w >> 11}
	}},
	{"shr.s32 r0,x,5; shl.b32 r1,x,y; shr.s64 rd0,z,9; mov.b64 rd1,{y,x};", func(x, y uint32, z, w uint64) [4]uint64 {
		return [4]uint64{uint64(uint32(int32(x) >> 5)), uint64(uint32(uint64(x) << min(y, 32))), uint64(int64(z) >> 9), uint64(x)<<32 | uint64(y)}
	}},
	{"setp.lt.u32 p1,x,y; selp.u32 r0,x,y,p1; setp.gt.s64 p2,z,w; selp.b64 rd0,z,w,p2; selp.u32 r1,3,4,p2; setp.ge.u64 p3,z,w; selp.b64" +
		" rd1,w,z,p3;", func(x, y uint32, z, w uint64) [4]uint64 {
		lo, hi := min(x, y), uint64(max(int64(z), int64(w)))
		return [4]uint64{uint64(lo), 4 - u64(int64(z) > int64(w)), hi, min(z, w)}
	}},
	{"setp.eq.u32 p1,x,7; setp.ne.and.u32 p2|p3,x,y,p1; selp.u32 r0,1,2,p2; selp.u32 r1,1,2,p3; setp.eq.u64 p4,z,w; selp.b64 rd0,1,2,p4;" +
		" setp.le.or.s32 p5,x,y,!p4; selp.b64 rd1,1,2,p5;", func(x, y uint32, z, w uint64) [4]uint64 {
		p1, p4 := x == 7, z == w
		return [4]uint64{2 - u64(x != y && p1), 2 - u64(x == y && p1), 2 - u64(p4), 2 - u64(int32(x) <= int32(y) || !p4)}
	}},
	{"setp.lt.u32 p1,x,y; setp.lt.u64 p2,z,w; and.pred p3,p1,p2; xor.pred p4,p1,p2; or.pred p5,p1,p2; not.pred p5,p5; selp.u32 r0,1,2,p3;" +
		" selp.u32 r1,1,2,p4; selp.b64 rd0,5,6,p5;", func(x, y uint32, z, w uint64) [4]uint64 {
		a, b := x < y, z < w
		return [4]uint64{2 - u64(a && b), 2 - u64(a != b), 6 - u64(!(a || b)), 0}
	}},
	{"add.cc.u32 r0,x,y; addc.u32 r1,x,5; sub.cc.u32 r4,x,y; subc.u32 r5,y,x; mov.b64 rd0,{r4,r5};", func(x, y uint32, z, w uint64) [4]uint64 {
		_, c := bits.Add32(x, y, 0)
		d, b := bits.Sub32(x, y, 0)
		e, _ := bits.Sub32(y, x, b)
		return [4]uint64{uint64(x + y), uint64(x + 5 + c), uint64(e)<<32 | uint64(d), 0}
	}},
	{"add.u64 rd2,z,w; mul.wide.u32 rd3,x,8; add.u64 rd0,rd2,rd3; add.u64 rd4,z,0xfffffffffffffff8; sub.u64 rd1,rd4,w;",
		func(x, y uint32, z, w uint64) [4]uint64 {
			return [4]uint64{0, 0, z + w + uint64(x)*8, z - 8 - w}
		}},
	{"mul.lo.u64 rd0,z,w; mul.hi.u64 rd1,z,w;", func(x, y uint32, z, w uint64) [4]uint64 {
		hi, lo := bits.Mul64(z, w)
		return [4]uint64{0, 0, lo, hi}
	}},
	{"prmt.b32 r0,x,y,0x3210; prmt.b32 r1,x,y,0x7610; shf.l.wrap.b32 r4,x,y,5; shf.r.clamp.b32 r5,x,y,9; mov.b64 rd0,{r4,r5}; cvt.u64.s32" +
		" rd1,x;", func(x, y uint32, z, w uint64) [4]uint64 {
		l := uint32((uint64(y)<<32 | uint64(x)) << 5 >> 32)
		r := uint32((uint64(y)<<32 | uint64(x)) >> 9)
		return [4]uint64{uint64(x), uint64(x&0xffff | y&0xffff0000), uint64(r)<<32 | uint64(l), uint64(int64(int32(x)))}
	}},
	{"prmt.b32 r0,x,y,0x0416; prmt.b32 r1,x,y,0x5432; cvt.u32.u8 r4,x; shl.b32 r5,r4,8; prmt.b32 r5,r5,y,0x1560; mov.b64 rd0,{r4,r5};",
		func(x, y uint32, z, w uint64) [4]uint64 {
			b := func(v uint32, i int) uint32 { return v >> (8 * i) & 0xff }
			p := func(s uint32, v, u uint32) uint32 {
				var r uint32
				for i := 0; i < 4; i++ {
					n := s >> (4 * i) & 7
					o := v
					if n > 3 {
						o = u
					}
					r |= b(o, int(n&3)) << (8 * i)
				}
				return r
			}
			return [4]uint64{uint64(p(0x0416, x, y)), uint64(p(0x5432, x, y)), uint64(p(0x1560, x&0xff<<8, y))<<32 | uint64(x&0xff), 0}
		}},
	{"mov.u32 r0,1; mov.u32 r1,0x3c003c00; mov.u64 rd0,0x100000002; mov.u64 rd1,0xdeadbeef00000001;",
		func(x, y uint32, z, w uint64) [4]uint64 {
			return [4]uint64{1, 0x3c003c00, 0x100000002, 0xdeadbeef00000001}
		}},
	{"mov.u32 r0,0x7c00; mov.u32 r1,0x80000000; mov.u64 rd0,0xfc00000003ff0001; mov.u64 rd1,0x40003555;",
		func(x, y uint32, z, w uint64) [4]uint64 {
			return [4]uint64{0x7c00, 0x80000000, 0xfc00000003ff0001, 0x40003555}
		}},
	{"min.u32 r0,x,y; max.s32 r1,x,y; min.u64 rd0,z,w; max.s64 rd1,z,w;", func(x, y uint32, z, w uint64) [4]uint64 {
		return [4]uint64{uint64(min(x, y)), uint64(uint32(max(int32(x), int32(y)))), min(z, w), uint64(max(int64(z), int64(w)))}
	}},
	{"shl.b64 rd2,z,3; add.u64 rd0,w,rd2; cvt.s64.s32 rd3,x; shl.b64 rd4,rd3,2; add.u64 rd1,w,rd4; mad.lo.u32 r0,x,4,y; shl.b32 r4,x,4;" +
		" sub.u32 r1,r4,y;", func(x, y uint32, z, w uint64) [4]uint64 {
		return [4]uint64{uint64(x*4 + y), uint64(x<<4 - y), w + z<<3, w + uint64(int64(int32(x))<<2)}
	}},
}

// microPTX puts every case in a kernel of its own.
func microPTX(sm, ptx int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".version %d.%d\n.target sm_%d\n.address_size 64\n", ptx/10, ptx%10, sm)
	for i, c := range microCases {
		fmt.Fprintf(&b, ".visible .entry m%d(.param .u64 ap,.param .u32 ax,.param .u32 ay,.param .u64 az,.param .u64 aw) {\n", i)
		b.WriteString(".reg .b64 p,z,w,rd<6>; .reg .b32 x,y,r<6>; .reg .pred p<6>;\n")
		b.WriteString("ld.param.u64 p,[ap]; ld.param.u32 x,[ax]; ld.param.u32 y,[ay]; ld.param.u64 z,[az]; ld.param.u64 w,[aw];\n")
		b.WriteString("mov.u32 r0,0; mov.u32 r1,0; mov.u64 rd0,0; mov.u64 rd1,0;\n" + c.body + "\n")
		b.WriteString("st.global.u32 [p],r0; st.global.u32 [p+8],r1; st.global.u64 [p+16],rd0; st.global.u64 [p+24],rd1; ret;\n}\n")
	}
	return b.String()
}

// TestMicroAgainstPTX executes the micro-operations of really compiled integer
// code on concrete values and compares what it stores with the PTX semantics.
// Unknown values are allowed (opaque instructions), wrong ones are not.
func TestMicroAgainstPTX(t *testing.T) {
	inputs := []struct {
		x, y uint32
		z, w uint64
	}{
		{7, 7, 5, 5}, {0, 0, 0, 0}, {0xffffffff, 1, 0xffffffffffffffff, 1}, {0x80000000, 0x7fffffff, 0x8000000000000000, 0x7fffffffffffffff},
		{0xdeadbeef, 0x1234567, 0x0123456789abcdef, 0xfedcba9876543210}, {3, 40, 0xffffffff, 0xffffffff00000000}, {1, 2, 1 << 32, 0x100000001},
	}
	const p = 0x7f00deadb000
	known, unknown := 0, 0
	for _, r := range releases(t) {
		for _, sm := range r.sms {
			if sm == 37 || sm == 53 || sm == 62 || sm == 72 || sm == 86 || sm == 87 {
				continue // same instruction sets as their neighbours
			}
			for _, opt := range []string{"-O0", "-O3"} {
				bin := r.compile(t, microPTX(sm, r.ptx), sm, opt)
				prog, err := Parse("micro", r.tool(t, "nvdisasm", "-c", bin))
				require.NoError(t, err)
				require.Len(t, prog.Funcs, len(microCases))
				for _, f := range prog.Funcs {
					var k int
					_, err := fmt.Sscanf(f.Name, "m%d", &k)
					require.NoError(t, err)
					for _, in := range inputs {
						consts := map[int64]uint32{0: uint32(p & 0xffffffff), 4: uint32(p >> 32), 8: in.x, 12: in.y,
							16: uint32(in.z), 20: uint32(in.z >> 32), 24: uint32(in.w), 28: uint32(in.w >> 32)}
						m := newMachine(consts, paramBase(sm))
						for i := range f.Insts {
							if f.Insts[i].Op == "EXIT" {
								break
							}
							require.NoError(t, m.step(&f.Insts[i]))
						}
						want := microCases[k].want(in.x, in.y, in.z, in.w)
						words := []uint32{uint32(want[0]), uint32(want[1]), uint32(want[2]), uint32(want[2] >> 32), uint32(want[3]), uint32(want[3] >> 32)}
						for j, off := range []uint64{0, 8, 16, 20, 24, 28} {
							got, ok := m.stores[p+off]
							if !ok {
								unknown++
								continue
							}
							known++
							require.Equal(t, words[j], got, "%s sm_%d %s: %s: result word %d for %+v", r.name, sm, opt, microCases[k].body, j, in)
						}
					}
				}
			}
		}
	}
	t.Logf("%d result words right, %d unknown because of opaque instructions", known, unknown)
	require.Greater(t, known, 5*unknown)
}
