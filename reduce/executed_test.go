package reduce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/optcheck"
	"optcheck/realcode"
	"optcheck/refine"
)

// TestExecuted: a register in flight that an execution has shown is a finding of execution, as a wrong value is, and candidates are executed.
func TestExecuted(t *testing.T) {
	for _, rule := range []string{"wrong-value", optcheck.HazardRAW.ID, optcheck.HazardWAW.ID, optcheck.HazardWAR.ID} {
		found := &realcode.Finding{Rule: realcode.Rule(rule), Detail: "R2: nothing waits", Execution: &refine.Finding{}}
		f := &KernelFinding{Signature: signatureOf(nil, found)}
		require.True(t, f.Signature.Executed(), rule)
		require.Equal(t, event.Miscompiled, f.Signature.Class)
		require.Positive(t, f.runs(), rule)
		found.Execution = nil
		require.False(t, signatureOf(nil, found).Executed(), "%s: nothing was executed", rule)
	}
}
