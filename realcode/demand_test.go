package realcode

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

func TestDemandsOfPlaces(t *testing.T) {
	const first, second = "st.global.u32 [d1], 1;\n", "st.global.u32 [d2], 1;\n"
	of := func(body string) *demander {
		c := checkerOf(t, ".global .align 4 .b32 g;\n.func f(.reg .u64 d) { .reg .b64 e; mov.u64 e, g; st.global.u32 [e], 1; ret; }\n", body)
		d := &demander{src: c.src, out: &Demands{}}
		d.places()
		return d
	}
	for _, x := range []struct {
		body string
		want string // places of the last access
		open int
	}{
		{first, "p", 0}, {"mov.u64 d3, g;\nst.global.u32 [d3], 1;\n", "g", 0}, {"st.global.u32 [g], 1;\n", "g", 0}, {"st.global.u32 [g+4], 1;\n", "g", 0}, {"st.u32 [d1], 1;\n", "p", 0},
		{"st.shared.u32 [s], 1;\n", "", 0}, {"bar.sync 0;\n", "", 0}, {"ld.global.u64 d3, [d1];\nst.global.u32 [d3], 1;\n", "", 1}, {"mov.u64 d3, %clock64;\nst.global.u32 [d3], 1;\n", "", 1},
		{"ld.shared.u64 d3, [s];\nadd.s64 d3, d3, d1;\nst.global.u32 [d3], 1;\n", "", 1}, {"ld.shared.u32 r1, [s];\nmad.wide.u32 d3, r1, 4, d1;\nst.global.u32 [d3], 1;\n", "p", 0},
		{"@c mov.u64 d3, d1;\n@!c mov.u64 d3, d2;\nst.global.u32 [d3], 1;\n", "p q", 0}, {"add.s64 d3, d1, d2;\nst.global.u32 [d3], 1;\n", "p q", 0},
		{"add.s64 d3, d1, d2;\nmov.u64 d4, g;\nadd.s64 d3, d3, d4;\nmov.u64 d5, s;\nadd.s64 d3, d3, d5;\nst.global.u32 [d3], 1;\n", "g p q s", 0},
		{"add.s64 d3, d1, d2;\nmov.u64 d4, g;\nadd.s64 d3, d3, d4;\nmov.u64 d5, s;\nadd.s64 d3, d3, d5;\nmov.u64 d6, h;\nadd.s64 d3, d3, d6;\nst.global.u32 [d3], 1;\n", "", 1},
		{".param .b32 n;\nst.param.b32 [n], 1;\n" + first, "p", 0}, {"st.global.u32 [24], 1;\n", "", 1},
	} {
		d := of(x.body)
		require.Equal(t, x.want, strings.Join(d.place[len(d.place)-1], " "), x.body)
		require.Equal(t, x.open, d.out.Open, x.body)
	}
	pairs := func(body string) (n int, err error) {
		return n, of(body).pairs(func(a, b role) error { n++; return nil })
	}
	for body, want := range map[string]int{
		first + second: 1, first + first: 0, first + "st.global.u32 [d1+4], 1;\n": 1, first + "bar.sync 0;\n" + second: 1, first + "st.shared.u32 [s], 1;\n": 0, first + "call f, (d2);\n": 0,
		first + "atom.global.add.u32 r1, [d2], 1;\nst.shared.u32 [s], r1;\n": 2, first + "atom.global.add.u32 r1, [d2], 1;\n": 1, first + "red.global.add.u32 [d2], 1;\n": 1,
		first + "ld.global.u32 r1, [d2];\nst.shared.u32 [s], r1;\n": 1, first + "ld.global.u32 r1, [d2];\n": 0,
	} {
		n, err := pairs(body)
		require.NoError(t, err)
		require.Equal(t, want, n, body)
	}
	_, err := pairs(strings.Repeat(first+second, 101))
	require.ErrorContains(t, err, fmt.Sprintf("more than %d pairs of accesses", maxDemandPairs))
	n, err := pairs(strings.Repeat(first+second, 100))
	require.NoError(t, err)
	require.Equal(t, 10000, n)
	stop := errors.New("stop")
	require.ErrorIs(t, of(first+second).pairs(func(a, b role) error { return stop }), stop)
	m, err := ptx.Parse("k.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n"))
	require.NoError(t, err)
	_, err = Demanded(t.Context(), m, []string{"k"})
	require.EqualError(t, err, "k.ptx: there is no kernel k")
	d := &Demand{first: 3, second: 6}
	for n, want := range map[int]bool{2: false, 3: true, 5: true, 6: false} {
		require.Equal(t, want, d.Between(n), n)
	}
}

func TestDemandsOnce(t *testing.T) {
	got, open := demands(t, "st.relaxed.gpu.global.u32 [%rd1], %r1;\n atom.relaxed.gpu.global.exch.b32 %r2, [%rd2], %r1;\nld.relaxed.gpu.global.u32 %r3, [%rd2];\nld.relaxed.gpu.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r2, %r3;\nadd.u32 %r5, %r5, %r4;\nst.shared.u32 [%r5], %r5;\n")
	require.Zero(t, open)
	require.True(t, slices.ContainsFunc(got, func(s string) bool {
		return strings.HasPrefix(s, "st.relaxed.gpu.global.u32 atom.") && strings.HasSuffix(s, patterns[0])
	}), got)
	c := checkerOf(t, "", "")
	d := &demander{src: c.src, seen: map[string]*Verdict{}}
	v := &Verdict{}
	s := reread(&Op{Inst: &ptx.Inst{}, Effect: ptx.Effect{Kind: ptx.Load, Width: 8, Sem: "relaxed", Scope: "gpu"}}, &Op{sized: 4, Inst: &ptx.Inst{}, Effect: ptx.Effect{Kind: ptx.Load, Width: 8, Sem: "relaxed", Scope: "gpu"}})
	if s.source != nil {
		d.seen[s.source.String()+s.machine.String()] = v
		got, err := d.judge(t.Context(), s)
		require.NoError(t, err)
		require.Same(t, v, got)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		clear(d.seen)
		if _, err = d.judge(ctx, s); err != nil {
			require.Empty(t, d.seen)
		}
	}
}
