package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// neighbours are tests with strong accesses of neighbouring words, of which ptxas 11.8 makes one of 64 bits, and what that is. Where
// all accesses of the words are one, the model knows them; where another thread has them apart, no text says what that means.
var neighbours = []struct{ name, locations, code, class string }{
	{"both", "x=0; h=x+4;", `st.relaxed.gpu.u32 [x], 1 | ld.acquire.gpu.u32 r0, h ;
 st.release.gpu.u32 [h], 1 | ld.relaxed.gpu.u32 r1, x ;`, event.Optimised},
	{"upper", "x=0; g=x+8; h=x+12;", `st.relaxed.gpu.u32 [g], 1 | ld.acquire.gpu.u32 r0, h ;
 st.release.gpu.u32 [h], 1 | ld.relaxed.gpu.u32 r1, g ;`, event.Optimised},
	{"buffered", "x=0; h=x+4; y=0; k=y+4;", `st.relaxed.gpu.u32 [x], 1 | st.relaxed.gpu.u32 [y], 1 ;
 st.release.gpu.u32 [h], 1 | st.release.gpu.u32 [k], 1 ;
 fence.sc.gpu | fence.sc.gpu ;
 ld.acquire.gpu.u32 r0, k | ld.acquire.gpu.u32 r0, h ;
 ld.relaxed.gpu.u32 r1, y | ld.relaxed.gpu.u32 r1, x ;`, event.Optimised},
	{"vector", "x=0; h=x+4;", `st.relaxed.gpu.v2.u32 [x], {1,1} | ld.acquire.gpu.u32 r0, h ;
 | ld.relaxed.gpu.u32 r1, x ;`, event.Optimised},
	{"writer", "x=0; h=x+4;", `st.relaxed.gpu.u32 [x], 1 | ld.acquire.gpu.u32 r0, h ;
 st.release.gpu.u32 [h], 1 | fence.sc.gpu ;
 | ld.relaxed.gpu.u32 r1, x ;`, event.Changed},
	{"reader", "x=0; h=x+4;", `st.relaxed.gpu.u32 [x], 1 | ld.acquire.gpu.u32 r0, h ;
 fence.sc.gpu | ld.relaxed.gpu.u32 r1, x ;
 st.relaxed.gpu.u32 [h], 1 | ;`, event.Changed},
	{"halves", "x=0; h=x+2;", `st.relaxed.gpu.u16 [x], 1 | ld.relaxed.gpu.u16 r0, h ;
 st.relaxed.gpu.u16 [h], 1 | fence.acq_rel.gpu ;
 | ld.relaxed.gpu.u16 r1, x ;`, event.Optimised},
	{"halves-weak", "x=0; h=x+2; y=0;", `st.weak.u16 [x], 1 | ld.acquire.gpu.u32 r0, y ;
 st.weak.u16 [h], 1 | ld.weak.u16 r1, x ;
 st.release.gpu.u32 [y], 1 | ;`, event.Optimised},
	{"halves-writer", "x=0; h=x+2;", `st.relaxed.gpu.u16 [x], 1 | ld.acquire.gpu.u16 r0, h ;
 st.release.gpu.u16 [h], 1 | ld.relaxed.gpu.u16 r1, x ;`, event.Changed},
}

func TestNeighbours(t *testing.T) {
	o := Options{Toolchains: []*toolchain.Toolchain{tested.Release(t, "11.8")}, Targets: []string{"sm_80"}, Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Symbols}, KeepVerdicts: true}
	want := map[string]string{}
	for _, x := range neighbours {
		text := "PTX " + x.name + "\n{ " + x.locations + " }\n P0@cta 0, gpu 0 | P1@cta 1, gpu 0 ;\n " + x.code + "\nexists (P1:r0=1 /\\ P1:r1=0)\n"
		test, err := litmus.Parse(x.name, []byte(text))
		require.NoError(t, err)
		o.Tests, want[x.name] = append(o.Tests, test), x.class
	}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	merged := 0
	for _, c := range run.All() {
		merged++
		require.Equal(t, want[c.Test], c.Class, "%s: %s %v", c.Test, c.Reason, c.Findings)
		require.Equal(t, c.Class == event.Changed, c.Verdict.Unjudged != "", c.Test)
		require.Empty(t, c.Verdict.New, c.Test)
	}
	require.Equal(t, len(neighbours), merged)
}
