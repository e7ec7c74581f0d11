package toolchain

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// TestTrustMessages: the units that messages point at fail with their own
// messages, in two processes; a crash is still isolated.
func TestTrustMessages(t *testing.T) {
	tc := fake(t, patient.Long)
	job := fakeJob(20)
	job.TrustMessages = true
	bad := []int{3, 4, 17}
	for _, i := range bad {
		job.Units[i].Text += "\n// fake: refuse"
	}
	res, err := tc.Compile(context.Background(), job)
	require.NoError(t, err)
	checkPartition(t, res, 20, bad)
	assert.Equal(t, int64(2), tc.Stats().Processes)
	for _, i := range bad {
		e := res.Failed[i].(*Error)
		assert.ErrorIs(t, e, ErrCompile)
		assert.Equal(t, job.Units[i].Name, e.Input)
		assert.Equal(t, []Diagnostic{{Line: 4, Severity: "error", Message: "refused by unit"}}, e.Diagnostics)
	}
	job.Units[9].Text += "\n// fake: crash"
	res, err = tc.Compile(context.Background(), job)
	require.NoError(t, err)
	checkPartition(t, res, 20, []int{3, 4, 9, 17})
	assert.ErrorIs(t, res.Failed[9], ErrInfrastructure)
}

// TestTrustMessagesReal: real compilers' messages lead to the units that are
// refused alone, and to no others.
func TestTrustMessagesReal(t *testing.T) {
	for _, tc := range real(t) {
		job := Job{Target: "sm_60", Level: "O0", Header: header("7.0", "sm_60"), Units: kernels(12)}
		for i := 0; i < 12; i += 5 {
			spoil(&job.Units[i], i/5)
		}
		exact, err := tc.Compile(t.Context(), job)
		require.NoError(t, err)
		job.TrustMessages = true
		trusting, err := tc.Compile(t.Context(), job)
		require.NoError(t, err)
		require.NotEmpty(t, exact.Failed)
		for u, e := range exact.Failed {
			require.Error(t, trusting.Failed[u])
			require.Equal(t, e.(*Error).Diagnostics, trusting.Failed[u].(*Error).Diagnostics)
		}
		require.Len(t, trusting.Failed, len(exact.Failed))
	}
}
