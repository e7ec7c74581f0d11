package lower

import (
	"encoding/binary"
	"math/bits"
	"testing"
)

// programs are texts that several instructions of memory, control and warps make, and what one register must hold.
// lane is the number of the thread in its warp, all are the operands of the warp.
var programs = []struct {
	name, more, text, dst string
	want                  func(lane int, all [][3]uint64) uint64
}{
	{name: "narrow elements",
		text: `st.local.u64 [buf], %d4; st.local.v2.u16 [buf+8], {%r5, %h6}; ld.local.s8 %r2, [buf+1];
			ld.local.v4.u8 {%r3, %b0, %h1, _}, [buf+8]; add.u32 %r0, %r2, %r3;`,
		dst: "r0", want: func(l int, all [][3]uint64) uint64 { return uint64(int64(int8(all[l][0]>>8))) + all[l][1]&0xff }},
	{name: "sign of a load",
		text: "st.local.u32 [buf], %r4; ld.local.s16 %d0, [buf+2];",
		dst:  "d0",
		want: func(l int, all [][3]uint64) uint64 { return uint64(int64(int16(all[l][0] >> 16))) }},
	{name: "sign of a load of its own width",
		text: `st.local.u32 [buf], %r4; ld.local.s32 %r2, [buf]; mov.b64 %d0, {%r2, 0};`,
		dst:  "d0",
		want: func(l int, all [][3]uint64) uint64 { return u32(all[l][0]) }},
	{name: "128 bits",
		text: `mov.b128 %q1, {%d4, %d5}; st.local.b128 [buf], %q1; ld.local.b128 %q2, [buf];
			mov.b128 {%d1, %d2}, %q2; xor.b64 %d0, %d1, %d2;`,
		dst:  "d0",
		want: func(l int, all [][3]uint64) uint64 { return all[l][0] ^ all[l][1] }},
	{name: "generic addresses",
		more: ".shared .align 8 .b8 sh[8192];",
		text: `mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 3; mov.u32 %r3, sh; add.u32 %r2, %r2, %r3;
			st.shared.u64 [%r2], %d4; cvt.u64.u32 %d1, %r2; cvta.shared.u64 %d1, %d1; ld.u32 %r0, [%d1+4];
			isspacep.shared %p0, %d1; isspacep.global %p1, %d1; @%p1 mov.u32 %r0, 1; @!%p0 mov.u32 %r0, 2;
			cvta.to.shared.u64 %d2, %d1; cvt.u32.u64 %r3, %d2; setp.ne.u32 %p0, %r2, %r3; @%p0 mov.u32 %r0, 3;`,
		dst:  "r0",
		want: func(l int, all [][3]uint64) uint64 { return all[l][0] >> 32 }},
	{name: "addresses of variables",
		more: `.global .align 4 .b32 g[4] = {1, 2, 3, 4}; .const .align 8 .u64 c[2] = {5, 6};
			.global .u64 at[2] = {g+8, f}; .func f() { ret; }`,
		text: `mov.u64 %d1, g; ld.global.u32 %r2, [%d1+4]; cvta.global.u64 %d2, g; ld.u32 %r3, [%d2];
			ld.const.u64 %d3, [c+8]; ld.global.u64 %d1, [at]; ld.u32 %r4, [%d1]; cvt.u32.u64 %r5, %d3;
			add.u32 %r0, %r2, %r3; add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, %r5; mov.b64 %d1, f;
			ld.global.u64 %d2, [at+8]; setp.ne.u64 %p0, %d1, %d2; @%p0 mov.u32 %r0, 0;`,
		dst: "r0", want: func(int, [][3]uint64) uint64 { return 2 + 1 + 3 + 6 }},
	{name: "atomics",
		more: ".shared .u32 sum; .shared .u64 word;",
		text: `mov.u32 %r2, %tid.x; setp.eq.u32 %p2, %r2, 0; @%p2 st.shared.u32 [sum], 5;
			@%p2 st.shared.u64 [word], 0; bar.sync 0; red.shared.add.u32 [sum], 2;
			atom.shared.or.b64 %d1, [word], 16; atom.global.max.s32 %r3, [%d8+32], -4;
			atom.global.cas.b64 %d2, [%d8+40], 0, %d4; atom.global.inc.u32 _, [%d8+32], 9; bar.sync 0;
			ld.shared.u32 %r0, [sum]; ld.shared.u32 %r3, [word]; add.u32 %r0, %r0, %r3;
			ld.global.u32 %r3, [%d8+32]; add.u32 %r0, %r0, %r3; ld.global.u32 %r3, [%d8+40];
			xor.b32 %r0, %r0, %r3;`,
		dst:  "r0",
		want: func(l int, all [][3]uint64) uint64 { return (5 + 2*threads + 16 + 1) ^ u32(all[l][0]) }},
	{name: "call",
		more: `.func (.param .b32 r) f(.param .b64 a, .param .align 4 .b8 b[8]) { .reg .b32 %x<4>; .reg .b64 %y;
			ld.param.u64 %y, [a]; ld.param.v2.u32 {%x0, %x1}, [b];ld.param.s8 %x2, [b+3];
			add.u32 %x0, %x0, %x1; add.u32 %x0, %x0, %x2; cvt.u32.u64 %x1, %y; xor.b32 %x0, %x0, %x1;
			st.param.b32 [r], %x0; ret; }`,
		text: `{ .param .b64 p0; .param .align 4 .b8 p1[8]; .param .b32 r0; st.param.b64 [p0], %d4;
			st.param.b32 [p1], %r5; st.param.b32 [p1+4], %r6; call.uni (r0), f, (p0, p1);
			ld.param.b32 %r0, [r0]; }`,
		dst: "r0",
		want: func(l int, all [][3]uint64) uint64 {
			b, c := all[l][1], all[l][2]
			return b + c + uint64(int64(int8(b>>24))) ^ all[l][0]
		}},
	{name: "call with registers",
		more: `.func (.reg .u32 r, .reg .pred q) f(.reg .u32 a, .reg .u16 b) { .reg .u32 x; cvt.u32.u16 x, b;
			sub.u32 r, a, x; setp.eq.u32 q, r, 0; }`,
		text: "call (%r0, %p0), f, (%r4, %h5);",
		dst:  "r0", want: func(l int, all [][3]uint64) uint64 { return all[l][0] - u16(all[l][1]) }},
	{name: "recursion",
		more: `.func (.param .u32 r) f(.param .u32 n) { .reg .u32 %x<4>; .reg .pred %p; ld.param.u32 %x0, [n];
			setp.lt.u32 %p, %x0, 2; @%p bra E; { .param .u32 a; .param .u32 b; sub.u32 %x1, %x0, 1;
			st.param.u32 [a], %x1; call (b), f, (a); ld.param.u32 %x1, [b]; } { .param .u32 a; .param .u32 b;
			sub.u32 %x2, %x0, 2; st.param.u32 [a], %x2; call (b), f, (a); ld.param.u32 %x2, [b];
			} add.u32 %x0, %x1, %x2; E: st.param.u32 [r], %x0; ret; }`,
		text: "and.b32 %r2, %r4, 7; call (%r0), f, (%r2);",
		dst:  "r0",
		want: func(l int, all [][3]uint64) uint64 { return []uint64{0, 1, 1, 2, 3, 5, 8, 13}[all[l][0]&7] }},
	{name: "call through a register",
		more: `.func (.param .u32 r) f(.param .u32 n) { .reg .u32 x; ld.param.u32 x, [n]; add.u32 x, x, 1;
			st.param.u32 [r], x; } .func (.param .u32 r) g(.param .u32 n) { .reg .u32 x; ld.param.u32 x, [n];
			mul.lo.u32 x, x, 3; st.param.u32 [r], x; } .global .u64 table[2] = {f, g};`,
		text: `P: .callprototype (.param .u32 _) _ (.param .u32 _); and.b32 %r2, %r5, 1; mul.wide.u32 %d1, %r2, 8;
			mov.u64 %d2, table; add.u64 %d1, %d1, %d2; ld.global.u64 %d1, [%d1]; { .param .u32 a;
			.param .u32 b; st.param.u32 [a], %r4; call (b), %d1, (a), P; ld.param.u32 %r0, [b]; }`,
		dst: "r0",
		want: func(l int, all [][3]uint64) uint64 {
			if all[l][1]&1 == 1 {
				return 3 * all[l][0]
			}
			return all[l][0] + 1
		}},
	{name: "table of branches",
		text: `T: .branchtargets A, B, C; and.b32 %r2, %r4, 3; min.u32 %r2, %r2, 2; brx.idx %r2, T;
			A: mov.u32 %r0, 10; bra.uni E; B: mov.u32 %r0, 20; bra E; C: mov.u32 %r0, 30;
			E: add.u32 %r0, %r0, 1;`,
		dst: "r0", want: func(l int, all [][3]uint64) uint64 { return 11 + 10*min(all[l][0]&3, 2) }},
	{name: "shuffles",
		text: `shfl.sync.down.b32 %r2|%p0, %r4, 3, 0x1f, -1; shfl.sync.bfly.b32 %r3, %r4, 5, 0x1f, 0xffffffff;
			@!%p0 mov.u32 %r2, 7; xor.b32 %r0, %r2, %r3;`,
		dst: "r0",
		want: func(l int, all [][3]uint64) uint64 {
			down := uint64(7)
			if l+3 < 32 {
				down = all[l+3][0]
			}
			return down ^ all[l^5][0]
		}},
	{name: "votes",
		text: `vote.sync.ballot.b32 %r2, !%p4, -1; vote.sync.any.pred %p0, %p5, -1;
			vote.sync.all.pred %p1, %p6, -1; activemask.b32 %r3; setp.ne.u32 %p2, %r3, -1; mov.u32 %r0, %r2;
			@%p0 add.u32 %r0, %r0, 1; @%p1 add.u32 %r0, %r0, 2; @%p2 add.u32 %r0, %r0, 4;`,
		dst: "r0",
		want: func(_ int, all [][3]uint64) uint64 {
			var r, some uint64
			every := uint64(1)
			for i, x := range all {
				r |= ^x[0] & 1 << i
				some |= x[1] & 1
				every &= x[2] & 1
			}
			return r + some + 2*every
		}},
	{name: "matches and reductions",
		text: `and.b32 %r2, %r4, 3; match.any.sync.b32 %r3, %r2, -1; redux.sync.max.s32 %r1, %r5, -1;
			xor.b32 %r0, %r3, %r1;`,
		dst: "r0",
		want: func(l int, all [][3]uint64) uint64 {
			var same uint64
			top := int32(-1 << 31)
			for i, x := range all {
				same |= one(x[0]&3 == all[l][0]&3) << i
				top = max(top, int32(x[1]))
			}
			return same ^ uint64(uint32(top))
		}},
	{name: "reduction at a barrier",
		text: `bar.red.popc.u32 %r2, 0, !%p4; barrier.cta.red.and.aligned.pred %p0, 1, 1024, %p5;
			@%p0 add.u32 %r2, %r2, 5000; mov.u32 %r0, %r2; elect.sync _|%p1, -1; @%p1 mov.u32 %r0, 9;`,
		dst: "r0", want: nil},
	{name: "asynchronous copies",
		more: ".shared .align 16 .b8 sh[65536];",
		text: `mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 4; mov.u32 %r3, sh; add.u32 %r2, %r2, %r3;
			cp.async.ca.shared.global [%r2], [%d7+8], 8, 4; cp.async.commit_group; cp.async.wait_group 0;
			ld.shared.u64 %d0, [%r2];`,
		dst:  "d0",
		want: func(l int, all [][3]uint64) uint64 { return all[l][1] & 0xffffffff }},
	{name: "halves of special registers",
		text: `mov.u32 %r2, %globaltimer_hi; mov.u32 %r3, %clock_hi; mov.u32 %r4, %globaltimer_lo; mov.u32 %r5, %gridid;
			shr.u32 %r4, %r4, 31; shr.u32 %r4, %r4, 1; mov.u64 %d1, %gridid; cvt.u32.u64 %r2, %d1; sub.u32 %r0, %r5, %r2;`,
		dst: "r0", want: func(int, [][3]uint64) uint64 { return 0 }},
	{name: "special registers",
		text: `mov.u32 %r2, %laneid; mov.u32 %r3, %lanemask_lt; add.u32 %r0, %r2, %r3; mov.u32 %r2, WARP_SZ;
			add.u32 %r0, %r0, %r2; mov.u32 %r2, %ntid.x; add.u32 %r0, %r0, %r2;`,
		dst: "r0", want: func(l int, _ [][3]uint64) uint64 { return uint64(l) + (1<<l - 1) + 32 + threads }},
}

// TestPrograms executes memory, control and operations of warps.
func TestPrograms(t *testing.T) {
	in, data := operands()
	for _, c := range programs {
		out := execute(t, lowered(t, frame(".local .align 16 .b8 buf[16];\n"+c.text, c.more)), data, threads)
		p := resultPlaces[c.dst]
		for i := range in {
			var w [8]byte
			copy(w[:], out[i*stride+p.at:][:p.size])
			want := uint64(9)
			if c.want != nil {
				want = c.want(i%32, in[i&^31:i&^31+32])
			} else if i%32 != 0 {
				want = reduced(in)
			}
			want &= 1<<(8*p.size) - 1
			if got := binary.LittleEndian.Uint64(w[:]); got != want {
				t.Errorf("%s: thread %d: %s is %#x, want %#x", c.name, i, c.dst, got, want)
				break
			}
		}
	}
}

// reduced counts the threads whose first operand is even.
func reduced(in [][3]uint64) (n uint64) {
	for _, x := range in {
		n += uint64(bits.OnesCount64(^x[0] & 1))
	}
	return n
}
