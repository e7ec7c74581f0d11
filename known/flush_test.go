package known

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// flusher is a handler that can write what it has.
type flusher struct {
	event.Handler
	err error
}

func (f flusher) Flush() error { return f.err }

// TestFlush: what a handler gathers is written when its next one can write it.
func TestFlush(t *testing.T) {
	failure := errors.New("failure")
	require.NoError(t, Handler{Next: event.NewRun()}.Flush())
	require.NoError(t, Handler{Next: flusher{}}.Flush())
	require.ErrorIs(t, Handler{Next: flusher{err: failure}}.Flush(), failure)
}
