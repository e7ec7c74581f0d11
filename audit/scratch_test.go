package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
)

// scratch has two atomics on shared memory, which Kepler does in lock loops
// whose predicated instructions use the same scratch registers.
const scratch = `GPU_PTX S+atom.cas-po-atom.cas+cg-membar.sys-cg-p0:p1-xsys
{
x=0; y=0;
0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y; 0:.reg .s32 r0; 0:.reg .s32 r1;
1:.reg .b64 rd0 = y; 1:.reg .b64 rd1 = x; 1:.reg .s32 r0;
}
 T0                        | T1                 ;
 atom.cas.b32 r0,[rd0],1,2 | ld.cg.s32 r0,[rd0] ;
 atom.cas.b32 r1,[rd1],0,1 | membar.sys         ;
                           | st.cg.s32 [rd1],1  ;
ScopeTree(grid(cta(warp T0) (warp T1)))
x: shared, y: shared
exists (0:r0=1 /\ 0:r1=0 /\ 1:r0=1 /\ x=2)
`

// TestScratchRegisters: what a predicated instruction reads depends on what was
// defined under the same predicate, not on what the register held before. The
// second atomic would seem to depend on the first otherwise.
func TestScratchRegisters(t *testing.T) {
	test, err := litmus.Parse("scratch.litmus", []byte(scratch))
	require.NoError(t, err)
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), Options{Tests: []*litmus.Test{test}, Toolchains: releases(t)[:2], Targets: []string{"sm_35"}}, run))
	require.NotEmpty(t, run.Cells)
	for i := range run.Cells {
		require.Contains(t, []string{event.Preserved, event.Optimised}, run.Cells[i].Class, "%+v", run.Cells[i])
		for _, f := range run.Cells[i].Findings {
			// Kepler's invalidation may stand after the store of the other thread.
			require.Equal(t, optcheck.FenceWeakened.ID, f.Rule, "%+v", run.Cells[i])
			require.Equal(t, 1, f.Thread)
		}
	}
	require.Empty(t, run.Problems)
}
