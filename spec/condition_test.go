package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

// TestConditions: what the specification says of a guard, as a function of the
// words read.
func TestConditions(t *testing.T) {
	both := "setp.eq.s32 p1,r1,0; setp.lt.s32 p2,r2,5; "
	for _, c := range []struct {
		code  string
		holds func(a, b int32) bool // nil: not known
	}{
		{"setp.eq.s32 p3,r1,7", func(a, b int32) bool { return a == 7 }},
		{"setp.lt.u32 p3,r1,r2", func(a, b int32) bool { return uint32(a) < uint32(b) }},
		{"setp.lt.s32 p3,r1,r2", func(a, b int32) bool { return a < b }},
		{both + "and.pred p3,p1,p2", func(a, b int32) bool { return a == 0 && b < 5 }},
		{both + "or.pred p3,p1,p2", func(a, b int32) bool { return a == 0 || b < 5 }},
		{both + "xor.pred p3,p1,p2", func(a, b int32) bool { return (a == 0) != (b < 5) }},
		{both + "not.pred p2,p2; and.pred p3,p1,p2", func(a, b int32) bool { return a == 0 && b >= 5 }},
		{both + "and.pred p1,p1,p2; or.pred p1,p1,p2; not.pred p3,p1", func(a, b int32) bool { return b >= 5 }},
		{both + "mov.pred p3,p2", func(a, b int32) bool { return b < 5 }},
		{"mov.s32 r3,r2; setp.ge.s32 p3,r3,r1", func(a, b int32) bool { return b >= a }},
		{"add.s32 r3,r1,r2; setp.eq.s32 p3,r3,0", nil},
		{both + "@p1 mov.pred p2,p1; and.pred p3,p1,p2", nil},
	} {
		x := parsed(t, c.code)
		s, err := FromTest(x, 0, Pointers)
		require.NoError(t, err)
		got := s.Entries[2].When
		require.Equal(t, c.holds == nil, got == nil, c.code)
		if got == nil {
			continue
		}
		words := []int32{0, 1, 4, 5, 7, 8, -1, -1 << 31, 1<<31 - 1}
		for _, a := range words {
			for _, b := range words {
				want := c.holds(a, b)
				require.Equal(t, want, got.Holds(func(pos int) uint32 { return uint32([]int32{a, b}[pos]) }), "%s: %d %d", c.code, a, b)
			}
		}
		again, err := FromTest(x, 0, Symbols)
		require.NoError(t, err)
		require.True(t, got.Equal(again.Entries[2].When))
		require.False(t, got.Equal(got.negated(true)))
		require.False(t, got.Equal(nil))
	}
}

// TestConditionIsBounded: functions of predicates that double in size with each
// instruction are given up, not followed.
func TestConditionIsBounded(t *testing.T) {
	code := "setp.eq.s32 p3,r1,0"
	for range 60 {
		code += "; xor.pred p3,p3,p3"
	}
	s, err := FromTest(parsed(t, code), 0, Pointers)
	require.NoError(t, err)
	require.Nil(t, s.Entries[2].When)
}

// parsed is a test whose thread reads r1 and r2, runs some code, and stores under p3.
func parsed(t *testing.T, code string) *litmus.Test {
	src := `GPU_PTX t
{ 0:.reg .s32 r1; 0:.reg .s32 r2; 0:.reg .s32 r3; 0:.reg .pred p1; 0:.reg .pred p2; 0:.reg .pred p3; 0:.reg .b64 rd0 = x; }
 T0 ;
 ld.volatile.s32 r1,[rd0] ;
 ld.volatile.s32 r2,[rd0] ;
`
	for _, in := range strings.Split(code, "; ") {
		src += " " + in + " ;\n"
	}
	x, err := litmus.Parse("t", []byte(src+" @p3 st.volatile.s32 [rd0],1 ;\nexists (x=1)\n"))
	require.NoError(t, err)
	return x
}
