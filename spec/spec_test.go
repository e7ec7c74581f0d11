package spec

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

func genSpec(t *rapid.T) *Spec {
	s := &Spec{Thread: rapid.IntRange(0, MaxThreads-1).Draw(t, "thread"),
		Layout:    Layout(rapid.IntRange(0, len(AllLayouts)-1).Draw(t, "layout")),
		Locations: rapid.IntRange(1, MaxLocations).Draw(t, "locations")}
	if s.Layout == Adjacent {
		s.Wide = rapid.Uint8().Draw(t, "wide")
	}
	s.Narrow = genNarrow(t, ^s.Wide)
	n := rapid.IntRange(1, 19).Draw(t, "n")
	for i := 0; i < n; i++ {
		e := Entry{Pos: i, Instr: -1, Guarded: rapid.Bool().Draw(t, "guarded")}
		if rapid.IntRange(0, 3).Draw(t, "fence") == 0 {
			e.Kind = rapid.SampledFrom(fenceKinds).Draw(t, "kind")
		} else {
			e.Kind = rapid.SampledFrom(accessKinds).Draw(t, "kind")
			e.Loc = rapid.IntRange(0, MaxLocations-1).Draw(t, "loc")
			if (s.Narrow[0]|s.Narrow[1])>>uint(e.Loc)&1 == 1 {
				e.Kind = Kind{Op: litmus.OpLd, Space: litmus.Shared, Width: int(s.width(e.Loc))}
			}
			e.Unread = e.Reads() && rapid.Bool().Draw(t, "unread")
		}
		s.Entries = append(s.Entries, e)
	}
	for from := range s.Entries {
		for to := from + 1; to < n; to++ {
			if s.Entries[from].Reads() && s.Markers() < MaxMarkers-1 && rapid.IntRange(0, 5).Draw(t, "dep") == 0 {
				s.Deps = append(s.Deps, Dep{From: from, To: to, Kind: DepKind(rapid.IntRange(0, 2).Draw(t, "depkind"))})
			}
		}
	}
	return s
}

// genNarrow chooses sets of narrow locations among some.
func genNarrow(t *rapid.T, among uint8) [2]uint8 {
	bytes := rapid.Uint8().Draw(t, "bytes") & among
	return [2]uint8{bytes, rapid.Uint8().Draw(t, "halves") & among &^ bytes}
}

// TestRoundTrip: literals in any order give the specification back.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSpec(t)
		lits, err := s.Literals()
		require.NoError(t, err)
		got, err := Decode(rapid.Permutation(lits).Draw(t, "order"))
		require.NoError(t, err)
		require.True(t, s.Equal(got))
	})
}

// TestDamage: no lost, added or altered marker passes.
func TestDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSpec(t)
		lits, err := s.Literals()
		require.NoError(t, err)
		i := rapid.IntRange(0, len(lits)-1).Draw(t, "i")
		lost := append(append([]uint32(nil), lits[:i]...), lits[i+1:]...)
		_, err = Decode(lost)
		require.Error(t, err)
		flipped := append([]uint32(nil), lits...)
		flipped[i] ^= 1 << rapid.IntRange(0, 31).Draw(t, "bit")
		got, err := Decode(flipped)
		if err == nil {
			require.Failf(t, "a flipped bit passes", "%+v", got)
		}
	})
}

// TestHamming: one flipped bit never turns a marker into another marker, so a
// damaged literal is lost and not misread.
func TestHamming(t *testing.T) {
	for _, k := range accessKinds[:200] {
		s := &Spec{Locations: 1, Entries: []Entry{{Kind: k}}}
		lits, err := s.Literals()
		require.NoError(t, err)
		for b := 0; b < 32; b++ {
			_, ok := DecodeLiteral(lits[0] ^ 1<<b)
			require.False(t, ok)
		}
	}
}

// TestChance counts how many plausible constants of ordinary code are markers.
func TestChance(t *testing.T) {
	hits, n := 0, 0
	try := func(v uint32) {
		n++
		if _, ok := DecodeLiteral(v); ok {
			hits++
		}
	}
	for v := uint32(0); v < 1<<20; v++ {
		try(v)
		try(^v)
		try(bits.Reverse32(v))
	}
	t.Logf("%d of %d small, negative and shifted constants are decodable", hits, n)
	require.Less(t, hits, n/128, "the checksum must reject at least 127 of 128 constants")
	for _, v := range []uint32{0, 1, 2, 0x80000000, 0x7fffffff, 0xffffffff, 0xffff, 0x3f800000, 0xdeadbeef} {
		_, ok := DecodeLiteral(v)
		require.False(t, ok, "0x%x is a marker", v)
	}
}

func TestNoSpec(t *testing.T) {
	_, err := Decode([]uint32{1, 2, 3})
	require.ErrorIs(t, err, ErrNoSpec)
}

// TestKindsFit: every kind has a code of its own within its field.
func TestKindsFit(t *testing.T) {
	require.LessOrEqual(t, len(accessKinds), 1<<11)
	require.LessOrEqual(t, len(fenceKinds), 1<<6)
	require.Len(t, accessCodes, len(accessKinds))
	require.Len(t, fenceCodes, len(fenceKinds))
}

func parse(t *testing.T, src string) *litmus.Test {
	t.Helper()
	x, err := litmus.Parse("t.litmus", []byte(src))
	require.NoError(t, err)
	return x
}

const depTest = `GPU_PTX deps
{
x=0; y=0; z=0;
0:.reg .b64 r0 = x; 0:.reg .b64 r1 = y; 0:.reg .b64 r2 = z;
0:.reg .s32 r3; 0:.reg .s32 r4; 0:.reg .b64 r5; 0:.reg .pred p0;
}
 T0                             ;
 ld.cg.s32 r3,[r0]              ;
 membar.gl                      ;
 and.b32 r4,r3,0x80000000       ;
 cvt.u64.u32 r5,r4              ;
 add.u64 r1,r1,r5               ;
 st.cg.s32 [r1],r3              ;
 setp.eq.s32 p0,r3,0            ;
 @p0 st.cg.s32 [r2],1           ;
ScopeTree(grid(cta(warp T0)))
x:global, y:global, z:global
exists (y=1)
`

func TestFromTest(t *testing.T) {
	s, err := FromTest(parse(t, depTest), 0, Pointers)
	require.NoError(t, err)
	require.Len(t, s.Entries, 4)
	require.Equal(t, litmus.OpMembar, s.Entries[1].Kind.Op)
	require.Equal(t, []int{0, 0, 1, 2}, []int{s.Entries[0].Loc, s.Entries[1].Loc, s.Entries[2].Loc, s.Entries[3].Loc})
	require.Equal(t, []Dep{{0, 2, DepAddr}, {0, 2, DepData}, {0, 3, DepCtrl}}, s.Deps)
	require.True(t, s.Entries[3].Guarded)
	require.False(t, s.Entries[2].Guarded)
}

// TestNarrow: bytes and 16-bit words are specified; what has no single unsigned width is not.
func TestNarrow(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"ld.acquire.gpu.u8 r0,[x] ", ""},
		{"st.b16 [x],1 ", ""},
		{"ld.s8 r0,[x] ", "narrow accesses are unsigned"},
		{"ld.u8 r0,[x] ; ld.u32 r1,[x] ", "accesses of several widths to x"},
		{"st.u8 [x],1 ; st.u16 [x],1 ", "accesses of several widths to x"},
		{"atom.cas.b16 r0,[x],0,1 ", "an atomic of 2 bytes"},
	} {
		x := parse(t, "GPU_PTX narrow\n{ 0:.reg .b32 r0; 0:.reg .b32 r1; 0:.reg .b16 h; }\n T0 ;\n "+strings.ReplaceAll(c.body, " ; ", " ;\n ")+
			";\nScopeTree(grid(cta(warp T0)))\nx: global\nexists (x=1)\n")
		s, err := FromTest(x, 0, Pointers)
		if c.want != "" {
			require.ErrorContains(t, err, c.want, c.body)
			continue
		}
		require.NoError(t, err, c.body)
		require.Less(t, s.Entries[0].Kind.Width, 4)
		lits, err := s.Literals()
		require.NoError(t, err)
		got, err := Decode(lits)
		require.NoError(t, err)
		require.True(t, s.Equal(got))
	}
}

// TestParts: parts of locations have an address in each layout, and the markers say so.
func TestParts(t *testing.T) {
	x := parse(t, "GPU_PTX parts\n{ x=0; y=0; h=x+0; i=x+2; j=y+4; 0:.reg .b32 r0; }\n T0 ;\n ld.u16 r0,[h] ;\n st.u16 [i],1 ;\n st.u32 [j],1 ;\n st.u64 [y],1 ;\n"+
		" st.u32 [x],1 ;\nScopeTree(grid(cta(warp T0)))\nx: global\nexists (x=1)\n")
	loc := func(name string) int {
		return slices.IndexFunc(x.Locations, func(l litmus.Location) bool { return l.Name == name })
	}
	for _, layout := range Layouts {
		s, err := FromTest(x, 0, layout)
		require.NoError(t, err)
		lits, err := s.Literals()
		require.NoError(t, err)
		got, err := Decode(lits)
		require.NoError(t, err)
		require.True(t, s.Equal(got))
		require.Equal(t, layout != Pointers, got.SamePlace(loc("x"), loc("h")))
		require.False(t, got.SamePlace(loc("x"), loc("i")))
		if layout != Pointers {
			require.Equal(t, got.Offset(loc("x"))+2, got.Offset(loc("i")))
			require.Equal(t, got.Offset(loc("y"))+4, got.Offset(loc("j")))
			require.Equal(t, got.Symbol(loc("x"), litmus.Global), got.Symbol(loc("i"), litmus.Global))
		}
		at, ok := got.LocationIn(loc("y"), 4)
		require.True(t, ok)
		require.Equal(t, loc("j"), at)
		got.Parts[loc("j")].Offset = 2
		require.False(t, s.Equal(got))
	}
	_, err := FromTest(x, 0, Adjacent)
	require.ErrorContains(t, err, "layout adjacent")
}

// TestCorpus: every thread of the corpus has a specification, or a reason.
func TestCorpus(t *testing.T) {
	specs, reasons := 0, 0
	for _, x := range corpus.Tests() {
		for th := range x.Threads {
			s, err := FromTest(x, th, Offsets)
			var u *Unsupported
			if err != nil {
				require.ErrorAs(t, err, &u, x.Name)
				reasons++
				continue
			}
			lits, err := s.Literals()
			require.NoError(t, err, x.Name)
			got, err := Decode(lits)
			require.NoError(t, err, x.Name)
			require.True(t, s.Equal(got), x.Name)
			specs++
		}
	}
	t.Logf("%d threads specified, %d unsupported", specs, reasons)
	require.Greater(t, specs, 200)
	require.Less(t, reasons, 10)
}

// TestAdjacent: locations of the layout adjacent lie side by side, aligned to their
// size, and none upon another.
func TestAdjacent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Spec{Layout: Adjacent, Locations: rapid.IntRange(1, MaxLocations).Draw(t, "locations"), Wide: rapid.Uint8().Draw(t, "wide")}
		s.Wide &= 1<<uint(s.Locations) - 1
		s.Narrow = genNarrow(t, 1<<uint(s.Locations)-1&^s.Wide)
		used := map[int64]bool{}
		bytes := int64(0)
		for l := range s.Locations {
			at, size := s.Offset(l), s.width(l)
			require.Zero(t, at%size)
			for b := at; b < at+size; b++ {
				require.False(t, used[b])
				used[b] = true
			}
			bytes += size
			got, ok := s.LocationAt(at)
			require.True(t, ok)
			require.Equal(t, l, got)
		}
		require.LessOrEqual(t, bytes, int64(AdjacentBytes))
		for b := range bytes {
			require.True(t, used[b], "a gap at %d", b)
		}
	})
}
