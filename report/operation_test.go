package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestOperationChanges: one entry for each change of instructions, the weakened ones first, and
// what is not known is told.
func TestOperationChanges(t *testing.T) {
	list := OperationChanges([]Operation{
		{"membar.gl", "sm_90", "O0", "MEMBAR.CTA ; MEMBAR.SC.GPU", "MEMBAR.ALL.CTA ; MEMBAR.SC.GPU"},
		{"membar.gl", "sm_90", "O3", "MEMBAR.CTA ; MEMBAR.SC.GPU", "MEMBAR.ALL.CTA ; MEMBAR.SC.GPU"},
		{"membar.sys", "sm_90", "O3", "MEMBAR.CTA ; MEMBAR.SC.GPU", "MEMBAR.ALL.CTA ; MEMBAR.SC.GPU"},
		{"fence.sc.gpu", "sm_80", "O3", "MEMBAR.SC.GPU", "MEMBAR.SC.GPU"},
		{"ld.acquire.gpu", "sm_80", "O3", "LDG.E.STRONG.GPU ; CCTL.IVALL", "LDG.E.STRONG.GPU"},
		{"st.release.gpu", "sm_80", "O3", "MEMBAR.ALL.CTA ; STG.E.STRONG.GPU", "MEMBAR.SC.GPU ; STG.E.STRONG.GPU"},
		{"ld.mmio", "sm_80", "O3", OperationRefused, "LDG.E.MMIO.SYS"},
		{"ld.mmio", "sm_70", "O3", OperationCrashed, "LDG.E.MMIO.SYS"},
		{"ld.mmio", "sm_75", "O3", OperationCrashed, OperationCrashed},
		{"fence.proxy", "sm_80", "O3", "{MEMBAR.CTA}", OperationNothing},
		{"atom.release", "sm_90", "O3", "VOTEU.ANY ; @P MEMBAR.CTA ; @P RED.E.ADD.STRONG.GPU", "VOTEU.ANY ; @P MEMBAR.ALL.CTA ; @P RED.E.ADD.STRONG.SYS"},
		{"atom.guarded", "sm_90", "O3", "VOTEU.ANY ; @P MEMBAR.CTA", "VOTEU.ANY ; MEMBAR.CTA"},
		{"atom.other", "sm_90", "O3", "VOTEU.ANY ; MEMBAR.CTA", "VOTEU.ALL ; MEMBAR.CTA"},
		{"atom.add", "sm_80", "O3", OperationUnknown, OperationUnknown},
	})
	var got []string
	for _, c := range list {
		got = append(got, c.Meaning+" in "+c.Where())
	}
	require.Equal(t, []string{
		"weaker by the invalidation of the L1 in 1 operation: ld.acquire.gpu; sm_80 at O3",
		"another: the left release refuses it in 1 operation: ld.mmio; sm_80 at O3",
		"another: the left release crashes at it in 1 operation: ld.mmio; sm_70 at O3",
		"another: nothing is left of it in 1 operation: fence.proxy; sm_80 at O3",
		"another sequence, of which no order of strength is known in 1 operation: atom.guarded; sm_90 at O3",
		"another sequence, of which no order of strength is known in 1 operation: atom.other; sm_90 at O3",
		"another, or the same: what one side makes of it is not known in 1 operation: atom.add; sm_80 at O3",
		"stronger by the kind of the fence and the scope of the fence in 1 operation: st.release.gpu; sm_80 at O3",
		"stronger by the scope of the access and the kind of the fence in 1 operation: atom.release; sm_90 at O3",
		"equal: the access, its widest fence and the invalidation of the L1 are the same in 2 operations: membar.gl, membar.sys; sm_90 at O0 O3",
	}, got)
	x := Compare(event.NewRun(), event.NewRun(), func(*event.Cell) bool { return true })
	var b bytes.Buffer
	require.NoError(t, WriteComparison(&b, x, false))
	require.NotContains(t, b.String(), "mapping", "nobody has looked")
	x.OperationsAsked = true
	require.NoError(t, WriteComparison(&b, x, false))
	require.Contains(t, b.String(), "By the mapping, every operation becomes the same.")
}
