package main

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// endless is what takes for ever to be read and does not look at its context.
type endless struct {
	auditee
	begun context.CancelFunc
}

func (e endless) memory() int64 { return -1 }

func (e endless) read(context.Context) error {
	e.begun()
	select {}
}

// TestReadingEnds: an audit ends with its context while it reads.
func TestReadingEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	env := &environment{ctx: ctx, settings: settings{failOn: "never"}, getenv: func(string) string { return "" }, stdout: io.Discard, stderr: io.Discard}
	require.ErrorIs(t, runAudit(ctx, env, &auditFlags{format: "text"}, endless{begun: cancel}), context.Canceled)
}
