package opencl

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Devices can be listed on many threads from the first call on; in a process
// of its own, because there is only one first call.
func TestDevicesInParallel(t *testing.T) {
	if os.Getenv("OPTCHECK_TEST_PARALLEL") == "" {
		c := exec.Command(os.Args[0], "-test.run", "^TestDevicesInParallel$")
		c.Env = append(os.Environ(), "OPTCHECK_TEST_PARALLEL=1")
		out, err := c.CombinedOutput()
		require.NoErrorf(t, err, "%.2000s", out)
		return
	}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() { _, _ = New().Devices(context.Background()) })
	}
	group.Wait()
}
