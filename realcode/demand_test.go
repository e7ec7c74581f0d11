package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// demands writes a kernel's demands as pairs of operations.
func demands(t *testing.T, body string) (list []string, open int) {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(`.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r0, [n];
	mul.wide.u32 %rd3, %r0, 4;
	add.s64 %rd4, %rd1, %rd3;
`+body+"\n}\n"))
	require.NoError(t, err)
	d, err := Demanded(t.Context(), m, []string{"k"})
	require.NoError(t, err)
	for _, x := range d.List {
		list = append(list, strings.Fields(x.First.Text)[0]+" "+strings.Fields(x.Second.Text)[0]+": "+x.Pattern)
		require.Contains(t, x.Fenced, "fence.sc.gpu")
		require.NotEqual(t, x.Test, x.Fenced)
	}
	return list, d.Open
}

// TestDemanded: orders that another pair of the kernel could rely on are demanded;
// what is ordered already, is read only, or has no partner is not.
func TestDemanded(t *testing.T) {
	const (
		writer = "st.global.u32 [%rd4], %r1;\n"
		flag   = "st.relaxed.gpu.global.u32 [%rd2], %r2;\n"
		wait   = "ld.relaxed.gpu.global.u32 %r3, [%rd2];\n"
		reader = "ld.global.u32 %r4, [%rd4];\n add.u32 %r5, %r3, %r4;\n st.shared.u32 [%r5], %r5;\n"
		fence  = "membar.gl;\n"
	)
	both := []string{"st.global.u32 st.relaxed.gpu.global.u32: message passing, the writer",
		"ld.relaxed.gpu.global.u32 ld.global.u32: message passing, the reader"}
	got, open := demands(t, writer+flag+wait+reader)
	require.Zero(t, open)
	require.Subset(t, got, both)
	got, _ = demands(t, writer+fence+flag+wait+reader)
	require.NotContains(t, got, both[0])
	require.Contains(t, got, both[1])
	got, _ = demands(t, writer+fence+flag+wait+fence+reader)
	require.NotContains(t, got, both[0])
	require.NotContains(t, got, both[1])
	got, _ = demands(t, strings.Replace(writer+flag+wait+reader, "relaxed", "release", 1))
	require.NotContains(t, strings.Join(got, "\n"), "the writer")
	got, _ = demands(t, strings.Replace(writer+flag+wait+reader, "ld.relaxed", "ld.acquire", 1))
	require.NotContains(t, strings.Join(got, "\n"), "the reader")
	got, _ = demands(t, writer+"membar.cta;\n"+flag+wait+reader)
	require.Contains(t, got, both[0], "a fence of the block orders nothing for others")
	// Nobody writes what is read; nobody reads what is written.
	got, _ = demands(t, wait+reader)
	require.Empty(t, got)
	got, _ = demands(t, writer+flag)
	require.Empty(t, got)
	// An address that is itself loaded.
	_, open = demands(t, "ld.global.u64 %rd5, [%rd1];\n st.global.u32 [%rd5], %r1;\n"+flag)
	require.Equal(t, 1, open)
}

// TestDemandedDot: of a critical section, what must not leave it.
func TestDemandedDot(t *testing.T) {
	m := module(t, "../program/testdata/dot/dot.ptx")
	d, err := Demanded(t.Context(), m, []string{"dotp"})
	require.NoError(t, err)
	var got []string
	for _, x := range d.List {
		got = append(got, strings.Fields(x.First.Text)[0]+" "+strings.Fields(x.Second.Text)[0]+": "+x.Pattern)
	}
	require.Equal(t, []string{
		"atom.global.cas.b32 ld.global.u32: message passing, the reader",
		"atom.global.cas.b32 st.global.u32: load buffering",
		"ld.global.u32 atom.global.exch.b32: load buffering",
		"st.global.u32 atom.global.exch.b32: message passing, the writer",
	}, got)
	require.True(t, d.List[3].Between(d.List[3].first))
	require.False(t, d.List[3].Between(d.List[3].second))
}
