package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
)

// TestHighWord: compilers shift a word to the right and add to it in one instruction, by the high word of a product
// (IMAD.HI of Kepler) or of a shift (LEA.HI). What is stored is computed and lifted as the shift and sum that it is.
func TestHighWord(t *testing.T) {
	x, err := litmus.Parse("shifted.litmus", []byte(`GPU_PTX shifted
{
x=0; y=0;
0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y; 0:.reg .s32 r0; 0:.reg .b32 d1; 0:.reg .b32 d2;
}
 T0              ;
 ld.s32 r0,[rd0] ;
 shr.u32 d1,r0,31;
 add.s32 d2,d1,1 ;
 st.s32 [rd1],d2 ;
ScopeTree(grid(cta(warp T0)))
x: global, y: global
exists (0:r0=0)
`))
	require.NoError(t, err)
	o := Options{Tests: []*litmus.Test{x}, Toolchains: releases(t), Targets: []string{"sm_35", "sm_50", "sm_75", "sm_90"}, Levels: []string{"O3"}}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	require.NotEmpty(t, run.Cells)
	for _, c := range run.Cells {
		require.Equal(t, event.Preserved, c.Class, "%s %s %s: %s", c.Toolchain, c.Target, c.Layout, c.Reason)
	}
}
