package optcheck

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegOf: each slot of a thread's state is one register, and a register's slot is its own.
func TestRegOf(t *testing.T) {
	for i := range regMax {
		require.Equal(t, i, regIndex(regOf(i)), "%v", regOf(i))
	}
}

// TestLiftStays: of a kernel for devices nothing is lifted once a role could not be.
func TestLiftStays(t *testing.T) {
	r := &HarnessResult{LiftErr: errors.New("a role")}
	r.lift(&Checked{})
	require.Empty(t, r.Lifted)
	require.EqualError(t, r.LiftErr, "a role")
}
