package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
	"optcheck/toolchain"
)

// audited are the cells of a file by 12.4.
func audited(t *testing.T, o Options, text string) (cells []Cell) {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	o.Toolchains = []*toolchain.Toolchain{releases(t, "12.4")[0]}
	require.NoError(t, AuditAll(t.Context(), o, []*ptx.Module{m}, func(_ int, c *Cell) error {
		cells = append(cells, *c) // its result goes behind this
		return nil
	}))
	return cells
}

// TestManyParameters: more than 4 KiB of parameters have attributes of their own in a cubin, and begin elsewhere.
func TestManyParameters(t *testing.T) {
	cells := audited(t, Options{Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O0", "O3"}, Execute: 4}, `.version 8.4
.target sm_70
.address_size 64
.visible .entry k(.param .align 4 .b8 many[5000], .param .u64 out)
{
	.reg .b32 r<4>;
	.reg .b64 d<4>;
	ld.param.u64 d0, [out];
	mov.u32 r0, %tid.x;
	mul.wide.u32 d1, r0, 4;
	mov.b64 d2, many;
	add.u64 d2, d2, d1;
	ld.param.u32 r1, [d2+800];
	ld.param.u32 r2, [many+4996];
	add.u32 r1, r1, r2;
	add.u64 d0, d0, d1;
	st.global.u32 [d0], r1;
	ret;
}
`)
	require.Len(t, cells, 4)
	for _, c := range cells {
		require.Equal(t, Preserved, c.Class)
	}
}

// TestAtomicLoops: a maximum of 64 bits in shared memory loads, and swaps only a larger number in: one that changes nothing is a load, which is less
// (TestMinimum), and computes the same. Of a sum at a generic address the path of local memory is none that a program takes.
func TestAtomicLoops(t *testing.T) {
	for _, c := range []struct{ name, class, address, op string }{
		{"maximum", Changed, "mov.u32 r1, most", "atom.shared.max.u64 d3, [r1], d2"},
		{"a half", Preserved, "mov.u32 r1, most", ".reg .b16 h<3>; cvt.u16.u64 h0, d2; atom.shared.cas.b16 h1, [r1+2], 0, h0; cvt.u64.u16 d3, h1"},
		{"swapped at a generic address", Preserved, "and.b32 r1, r0, 1; setp.eq.u32 p, r1, 0; cvta.shared.u64 d3, most; selp.b64 d3, d3, d1, p", "atom.cas.b64 d3, [d3], 0, d2"},
		{"generic", Preserved, "and.b32 r1, r0, 1; setp.eq.u32 p, r1, 0; cvta.shared.u64 d3, most; selp.b64 d3, d3, d1, p", "atom.add.u64 d3, [d3], d2"},
	} {
		cells := audited(t, Options{Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O0", "O3"}, Execute: 4}, `.version 7.0
.target sm_70
.address_size 64
.shared .align 8 .b64 most;
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .pred p;
	.reg .b32 r<4>;
	.reg .b64 d<5>;
	ld.param.u64 d0, [out];
	ld.param.u64 d1, [in];
	cvta.to.global.u64 d0, d0;
	mov.u32 r0, %tid.x;
	mul.wide.u32 d2, r0, 8;
	add.u64 d0, d0, d2;
	ld.global.u64 d2, [d0];
	setp.eq.u32 p, r0, 0;
	@p st.shared.u64 [most], 0;
	bar.sync 0;
	`+c.address+`;
	`+c.op+`;
	bar.sync 0;
	ld.shared.u64 d4, [most];
	add.u64 d4, d4, d3;
	st.global.u64 [d0], d4;
	ret;
}
`)
		require.Len(t, cells, 4)
		for _, cell := range cells {
			require.Equal(t, c.class, cell.Class, "%s %s %s", c.name, cell.Target, cell.Level)
			for _, f := range cell.Result.Findings {
				require.Equal(t, Missing, f.Rule)
			}
		}
	}
}

// TestBallotsOfParts: of a ballot whose lanes name different lanes ptxas has those decide whether all are there that name what the first one does.
func TestBallotsOfParts(t *testing.T) {
	cells := audited(t, Options{Targets: []string{"sm_75", "sm_80", "sm_90"}, Levels: []string{"O3"}, Execute: 4}, `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .pred p, q;
	.reg .b32 r<5>;
	.reg .b64 d<3>;
	ld.param.u64 d0, [out];
	cvta.to.global.u64 d0, d0;
	mov.u32 r0, %tid.x;
	mul.wide.u32 d1, r0, 4;
	add.u64 d0, d0, d1;
	ld.global.u32 r1, [d0];
	setp.gt.u32 p, r0, 31;
	@p bra end;
	and.b32 r2, r0, 24;
	mov.u32 r3, 255;
	shl.b32 r3, r3, r2;
	and.b32 r2, r0, 8;
	setp.ne.u32 p, r2, 0;
	@p bra other;
	and.b32 r1, r1, 1;
	setp.eq.u32 q, r1, 1;
	vote.sync.ballot.b32 r1, q, r3;
	bra end;
other:
	shfl.sync.bfly.b32 r1, r1, 1, 31, r3;
end:
	st.global.u32 [d0], r1;
	ret;
}
`)
	require.Len(t, cells, 3)
	for _, c := range cells {
		require.Equal(t, Preserved, c.Class, c.Target)
	}
}

// TestSurfaces: what is stored to a surface is not compared, and no store of the machine code's own. That it is right is not known.
func TestSurfaces(t *testing.T) {
	cells := audited(t, Options{Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O0", "O3"}}, `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 surface, .param .u32 value)
{
	.reg .b32 r<4>;
	.reg .b64 d;
	ld.param.u64 d, [surface];
	ld.param.u32 r0, [value];
	mov.u32 r1, %tid.x;
	sust.b.2d.b32.zero [d, {r1, r1}], {r0};
	ret;
}
`)
	require.Len(t, cells, 4)
	for _, c := range cells {
		require.Equal(t, Unknown, c.Class)
		require.Contains(t, c.Result.Unknown[0].First.Text, "sust")
		require.Empty(t, c.Result.Findings)
	}
}

// TestLeaders: ptxas adds a second atomic for a warp of which all lanes perform one. Of a leader's nobody comes to it, which is proven: that it was
// performed by no run leaves nothing open.
func TestLeaders(t *testing.T) {
	cells := audited(t, Options{Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O3"}, Execute: 4}, `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 count, .param .u64 in, .param .u32 n)
{
	.reg .pred p, q;
	.reg .b32 r<16>;
	.reg .b64 d<9>;
	ld.param.u64 d0, [out];
	ld.param.u64 d2, [count];
	ld.param.u64 d1, [in];
	ld.param.u32 r12, [n];
	mov.u32 r0, %tid.x;
	mov.u32 r13, %ntid.x;
	mov.u32 r3, %lanemask_lt;
	setp.ge.s32 p, r0, r12;
	@p bra end;
again:
	mul.wide.s32 d3, r0, 4;
	add.s64 d4, d1, d3;
	ld.global.u32 r1, [d4];
	setp.lt.s32 p, r1, 1;
	@p bra none;
	activemask.b32 r2;
	and.b32 r4, r3, r2;
	setp.ne.s32 q, r4, 0;
	mov.u32 r5, 0;
	@q bra told;
	popc.b32 r6, r2;
	atom.global.add.u32 r5, [d2], r6;
told:
	brev.b32 r7, r2;
	bfind.shiftamt.u32 r8, r7;
	shfl.sync.idx.b32 r9, r5, r8, 31, r2;
	popc.b32 r10, r4;
	add.s32 r11, r10, r9;
	mul.wide.s32 d5, r11, 4;
	add.s64 d6, d0, d5;
	st.global.u32 [d6], r1;
none:
	add.s32 r0, r0, r13;
	setp.lt.s32 p, r0, r12;
	@p bra again;
end:
	ret;
}
`)
	require.Len(t, cells, 2)
	for _, c := range cells {
		require.Equal(t, Preserved, c.Class, c.Reason)
	}
}
