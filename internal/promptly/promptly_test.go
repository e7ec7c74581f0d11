package promptly

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDo: the result of work is handed over, and work that does not end is left behind.
func TestDo(t *testing.T) {
	failed := errors.New("failed")
	n, err := Do(t.Context(), func() (int, error) { return 1, failed })
	require.Equal(t, 1, n)
	require.Equal(t, failed, err)
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan int)
	n, err = Do(ctx, func() (int, error) {
		cancel()
		return <-never, nil
	})
	require.Zero(t, n)
	require.ErrorIs(t, err, context.Canceled)
}
