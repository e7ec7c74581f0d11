package litmus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { requireRoundTrip(t, genTest(t)) })
}

// Check judges whatever can be built, without a panic, and says the same of a
// test and of its printed form.
func TestCheckOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lt := genTest(t)
		again, err := Parse("printed", []byte(lt.String()))
		require.NoError(t, err)
		a, b := lt.Check(), again.Check()
		require.Equal(t, a == nil, b == nil, "%v\n%v", a, b)
		for i := range lt.Threads {
			th := &lt.Threads[i]
			for j := range th.Body {
				th.AddrLoc(&th.Body[j])
			}
		}
	})
}

func TestCloneIsDeepAndHashStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lt := genTest(t)
		text, hash := lt.String(), lt.Hash()
		c := lt.Clone()
		require.Equal(t, hash, c.Hash())
		for i := range c.Threads {
			for j := range c.Threads[i].Body {
				in := &c.Threads[i].Body[j]
				in.Dst = "changed"
				if in.Guard != nil {
					in.Guard.Neg = !in.Guard.Neg
				}
				for k := range in.Src {
					in.Src[k] = Const(77)
				}
			}
			for j := range c.Threads[i].Regs {
				c.Threads[i].Regs[j].Init = Const(77)
			}
		}
		c.Locations[0].Init++
		require.Equal(t, text, lt.String())
		require.NotEqual(t, hash, c.Hash())

		again, err := Parse("printed", []byte(text))
		require.NoError(t, err)
		require.Equal(t, hash, again.Hash())
	})
}

func TestHash(t *testing.T) {
	parse := func(src string) *Test {
		lt, err := Parse("t", []byte(src))
		require.NoError(t, err)
		return lt
	}
	want := parse(fig12).Hash()
	require.Len(t, want, 32)
	same := strings.NewReplacer("SB", "other", "T0", "P0", "T1", "P1", "[r1],r0", "[r1], r0 (* c *)",
		"x: shared, y: global", "y: global; x: shared").Replace(fig12)
	require.Equal(t, want, parse(same).Hash())
	require.Equal(t, want, parse(strings.Replace(fig12, "SB\n", "SB\n\"doc\"\nCycle=Fre PodWR\n", 1)).Hash())
	require.Equal(t, want, parse(strings.Replace(fig12, "y: global", "", 1)).Hash(), "global is the default")
	for _, change := range [][2]string{
		{"1:r2=0", "1:r2=1"}, {"exists", "~exists"}, {"r0,1 ", "r0,2 "}, {".cg", ".cs"}, {"x: shared", "x: global"},
		{"(warp T0) (warp T1)", "(warp T0)) (cta (warp T1)"}, {"exists", "locations [x;] exists"}, {".s32 r2;", ".u32 r2;"},
	} {
		require.NotEqual(t, want, parse(strings.Replace(fig12, change[0], change[1], 1)).Hash(), "%v", change)
	}
}

// FuzzParse: whatever the bytes, Parse ends without panic, and what it accepts
// prints and parses to the same test; Check and Hash take it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{fig12, mpTool, mpPTX, "", "GPU_PTX x{}", "PTX x\n{ y @ generic aliases x; P0:r0=x; }\nP0@cta 0,cluster 1,gpu 2;\nLC00:;\natom.acq_rel.sys.cas r0, x, 0, 0x80000000;\nbeq r0, 1, LC00;bar.cta.sync 1, 2, 3;\nforall (not (x=1) \\/ P0:r0 != -3 /\\ true)",
		"GPU_PTX a\n\"d\"\nK=v\n{x;[y]=2;0:r0;}\n0|1;\n@!p0 ld.mmio.relaxed.sys.global.u32 %r1,[rd1-4]|;\n(device(kernel(cta 0 1)))\nlocations [x;0:r1]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		lt, err := Parse("fuzz", src)
		if err != nil {
			require.Nil(t, lt)
			require.Contains(t, err.Error(), "fuzz:")
			return
		}
		requireRoundTrip(t, lt)
		_ = lt.Check()
		require.Len(t, lt.Hash(), 32)
	})
}
