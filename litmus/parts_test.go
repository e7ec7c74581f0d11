package litmus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const parted = `GPU_PTX halves
{
x=5; h=x+0; i=x+2;
0:.reg .b64 rh = h; 0:.reg .b64 ri = i; 0:.reg .b32 r0;
}
 T0               ;
 st.u16 [rh],1    ;
 ld.u16 r0,[ri]   ;
ScopeTree(grid(cta(warp T0)))
x: shared
exists (0:r0=0 /\ x=1)
`

// TestParts: parts of locations are read, printed and checked; they lie where the whole does.
func TestParts(t *testing.T) {
	x, err := Parse("f", []byte(parted))
	require.NoError(t, err)
	require.NoError(t, x.Check())
	requireRoundTrip(t, x)
	i := x.Location("i")
	require.Equal(t, []any{"x", int64(2), Shared}, []any{i.Of, i.Offset, i.Space})
	require.True(t, x.Mixed())
	require.True(t, x.Parted())
	for _, c := range [][3]string{
		{"x+2", "x+3", "is not aligned to its 2 bytes"},
		{"x+2", "x+16", "does not lie in the 16 bytes"},
		{"x+2", "x+99999999999999999", "does not lie in the 16 bytes"},
		{"h=x+0;", "h=i+0;", "neither a part nor an alias"},
		{"h=x+0;", "h=h+0;", "neither a part nor an alias"},
		{"h=x+0;", "h=x+0; j=&x;", "can only be initialised with a number"},
		{"h=x+0;", "h=x+x;", "expected a number"},
		{"x: shared", "x: shared, i: global", "lies where x does"},
	} {
		y, err := Parse("f", []byte(strings.Replace(parted, c[0], c[1], 1)))
		if err == nil {
			err = y.Check()
		}
		require.ErrorContains(t, err, c[2], c[1])
	}
}

// TestMixed: what overlaps in part.
func TestMixed(t *testing.T) {
	for _, c := range []struct {
		body string
		want bool
	}{
		{"st.u16 [rh],1 ; ld.u16 r0,[ri]", true},
		{"st.u32 [rx],1 ; ld.u32 r0,[rx]", false},
		{"st.u32 [rx],1 ; ld.u16 r0,[rx]", true},
		{"st.u32 [rx],1 ; ld.u16 r0,[ry]", false},
		{"ld.u16 r0,[rh] ; ld.u16 r0,[rx]", false},
	} {
		text := "GPU_PTX m\n{ x=0; y=0; h=x+0; i=x+2; 0:.reg .b64 rx=x; 0:.reg .b64 ry=y; 0:.reg .b64 rh=h; 0:.reg .b64 ri=i; 0:.reg .b32 r0; }\n T0 ;\n " +
			strings.ReplaceAll(c.body, " ; ", " ;\n ") + " ;\nScopeTree(grid(cta(warp T0)))\nexists (x=0)\n"
		x, err := Parse("f", []byte(text))
		require.NoError(t, err)
		require.Equal(t, c.want, x.Mixed(), c.body)
	}
}
