package litmus

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// stripPos returns a copy of the test without positions, with empty slices as
// nil, for comparisons.
func stripPos(t *Test) *Test {
	c := t.Clone()
	c.Cond.Pos = Pos{}
	for i := range c.Locations {
		c.Locations[i].Pos = Pos{}
	}
	if len(c.Locations) == 0 {
		c.Locations = nil
	}
	for i := range c.Threads {
		th := &c.Threads[i]
		th.Pos = Pos{}
		for j := range th.Regs {
			th.Regs[j].Pos = Pos{}
		}
		if len(th.Regs) == 0 {
			th.Regs = nil
		}
		if len(th.Body) == 0 {
			th.Body = nil
		}
		for j := range th.Body {
			th.Body[j].Pos = Pos{}
			if len(th.Body[j].Src) == 0 {
				th.Body[j].Src = nil
			}
		}
	}
	return c
}

// requireRoundTrip asserts that printing and parsing gives the test back.
func requireRoundTrip(t require.TestingT, want *Test) {
	text := want.String()
	got, err := Parse("printed", []byte(text))
	require.NoError(t, err, "%s", text)
	if !reflect.DeepEqual(stripPos(want), stripPos(got)) {
		require.Equal(t, stripPos(want), stripPos(got), "%s", text)
	}
	require.Equal(t, text, got.String())
}

const fig12 = `GPU_PTX SB
{0:.reg .s32 r0;      0:.reg .s32 r2;
 0:.reg .b64 r1 = x;  0:.reg .b64 r3 = y;
 1:.reg .s32 r0;      1:.reg .s32 r2;
 1:.reg .b64 r1 = y;  1:.reg .b64 r3 = x;}
T0                    | T1                    ;
mov.s32 r0,1          | mov.s32 r0,1          ;
st.cg.s32 [r1],r0    | st.cg.s32 [r1],r0    ;
ld.cg.s32 r2,[r3]    | ld.cg.s32 r2,[r3]    ;
ScopeTree(grid(cta(warp T0) (warp T1)))
x: shared, y: global
exists (0:r2=0 /\ 1:r2=0)
`

const mpTool = `GPU_PTX MP+membar.gls

{
0:.reg .s32 r0;
0:.reg .s32 r2;
0:.reg .b64 r1 = x;
0:.reg .b64 r3 = y;
1:.reg .s32 r0;
1:.reg .s32 r2;
1:.reg .b64 r1 = y;
1:.reg .b64 r3 = x;
}
 P0                | P1                ;
 mov.s32 r0,1      | ld.cg.s32 r0,[r1] ;
 st.cg.s32 [r1],r0 | membar.gl         ;
 membar.gl         | ld.cg.s32 r2,[r3] ;
 mov.s32 r2,1      |                   ;
 st.cg.s32 [r3],r2 |                   ;

scopeTree
(device (kernel (cta (warp P0)) (cta (warp P1))))

y: global, x: global

exists
(1:r0=1 /\ 1:r2=0)
`

const mpPTX = `PTX MP-example
"a doc string, may
span lines"
{ x=0; flag=0; P1:r0=0; P1:r1=0; }
 P0@cta 0,gpu 0          | P1@cta 1,gpu 0          ;
 st.weak x, 1            | ld.acquire.gpu r0, flag ;
 st.release.gpu flag, 1  | ld.weak r1, x           ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
`

func TestPaperExamples(t *testing.T) {
	for _, src := range []string{fig12, mpTool, mpPTX} {
		lt, err := Parse("t.litmus", []byte(src))
		require.NoError(t, err)
		requireRoundTrip(t, lt)
		t.Log(lt.String())
	}
}

func BenchmarkParse(b *testing.B) {
	src := []byte(fig12)
	b.ReportAllocs()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := Parse("t.litmus", src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	lt, err := Parse("t.litmus", []byte(fig12))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := lt.Check(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkString(b *testing.B) {
	lt, err := Parse("t.litmus", []byte(fig12))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = lt.String()
	}
}
