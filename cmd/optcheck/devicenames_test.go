package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/runner"
)

// TestDeviceNames: the name of a device, which a campaign file may say, is no library and no path.
func TestDeviceNames(t *testing.T) {
	for _, name := range []string{"/x.so", "/x.so:0", "cuda:-1", "cuda:0;x", "cuda:", "fake:0", "opencl:../x", "-x"} {
		require.ErrorContains(t, deviceNamed(name, &runner.Device{}), "expected cuda:N or opencl:N", name)
	}
	require.NoError(t, deviceNamed("opencl:1", &runner.Device{}))
}
