package runner

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOrder: each command waits for what stands before it on other devices, one
// beside another for what that waits for.
func TestOrder(t *testing.T) {
	var did []string
	o := &Order{Mark: func(d int) error { did = append(did, fmt.Sprintf("mark %d", d)); return nil },
		Wait: func(d, other int) error { did = append(did, fmt.Sprintf("%d waits for %d", d, other)); return nil }}
	next := func(device int, beside bool, want ...string) {
		t.Helper()
		did = nil
		require.NoError(t, o.Next(device, beside))
		require.Equal(t, want, did)
	}
	next(0, false)
	next(1, false, "mark 0", "1 waits for 0")
	next(0, false, "mark 1", "0 waits for 1")
	next(1, true) // its own work alone is before it
	next(2, true, "2 waits for 1")
	next(0, false, "mark 0", "mark 1", "mark 2", "0 waits for 1", "0 waits for 2")
	next(2, false, "mark 0", "2 waits for 0")
}
