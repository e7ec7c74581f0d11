package realcode

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
	"optcheck/toolchain"
)

// TestAuditEnds: an audit hands over what was finished when its context ends, though the next cell does not look at it.
func TestAuditEnds(t *testing.T) {
	tc := releases(t, "12.4")[0]
	ctx, cancel := context.WithCancel(t.Context())
	never, cells := make(chan int), 0
	var shown sync.Map
	o := Options{Toolchains: []*toolchain.Toolchain{tc}, Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Jobs: 1,
		Code: func(c *Cell, _ *isa.Program) {
			shown.Store(c.Level, true)
			if c.Level == "O3" {
				<-never
			}
		}}
	m := module(t, "testdata/minimum.ptx")
	err := AuditAll(ctx, o, []*ptx.Module{m}, func(_ int, c *Cell) error {
		require.Equal(t, "O0", c.Level)
		_, ok := shown.Load("O0")
		require.True(t, ok)
		cells++
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, cells)
}
