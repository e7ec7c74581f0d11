package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStatement: proofs and inputs are claimed only of kernels that are executed.
func TestStatement(t *testing.T) {
	for runs, want := range map[int]bool{0: false, 24: true} {
		s := Statement(runs)
		for _, word := range []string{"What is proved for all inputs: ", "performed each operation that writes memory, or the kernel is proved.",
			"do different things", "on 24 inputs or more, as far as a kernel could be executed, and in kernels that are proved;"} {
			if want {
				require.Contains(t, s, word)
			} else {
				require.NotContains(t, s, word)
			}
		}
		require.NotContains(t, s, "%!")
		require.Contains(t, s, "What is not claimed: a finding without such a test is no verdict.")
	}
}
