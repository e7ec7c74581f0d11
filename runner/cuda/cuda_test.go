package cuda

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"optcheck/runner"
)

func TestJITOptions(t *testing.T) {
	keys, values, err := jitOptions("-O3 -lineinfo -arch=sm_90a")
	require.NoError(t, err)
	require.Equal(t, []int32{jitLevel, jitLineInfo, jitTarget}, keys)
	require.Equal(t, []uintptr{3, 1, 65536 + 90}, values)
	keys, _, err = jitOptions("")
	require.NoError(t, err)
	require.Equal(t, []int32{jitTargetContext}, keys)
	for _, bad := range []string{"-O9", "-O", "--lineinfo", "-arch=sm_9", "-arch=compute_90"} {
		_, _, err = jitOptions(bad)
		require.ErrorIs(t, err, runner.ErrUsage, bad)
	}
}

// The layout that cuda.h has on 64-bit hosts.
func TestLaunchStructs(t *testing.T) {
	var c launchConfig
	require.EqualValues(t, 24, unsafe.Offsetof(c.shared))
	require.EqualValues(t, 32, unsafe.Offsetof(c.stream))
	require.EqualValues(t, 40, unsafe.Offsetof(c.attributes))
	require.EqualValues(t, 48, unsafe.Offsetof(c.n))
	require.EqualValues(t, 56, unsafe.Sizeof(c))
	var a launchAttribute
	require.EqualValues(t, 8, unsafe.Offsetof(a.value))
	require.EqualValues(t, 72, unsafe.Sizeof(a))
}

func TestCheckCubin(t *testing.T) {
	elf := make([]byte, 64)
	copy(elf, "\x7fELF\x02\x01")
	require.ErrorContains(t, checkCubin(elf), "not of CUDA")
	elf[18] = 190
	require.NoError(t, checkCubin(elf))
	require.Error(t, checkCubin(elf[:63]))
	require.Error(t, checkCubin(nil))
	require.Error(t, checkCubin([]byte("// text")))
}

// What a code means for the outcomes of a run: nothing unknown is harmless.
func TestKindOf(t *testing.T) {
	for code, want := range map[int32]error{
		2: runner.ErrMemory, 100: runner.ErrUnsupported, 209: runner.ErrCompile, 218: runner.ErrCompile, 222: runner.ErrCompile,
		1: runner.ErrUsage, 400: runner.ErrUsage, 500: runner.ErrUsage, 701: runner.ErrUsage,
		46: runner.ErrFault, 201: runner.ErrFault, 214: runner.ErrFault, 700: runner.ErrFault, 702: runner.ErrFault,
		715: runner.ErrFault, 719: runner.ErrFault, 999: runner.ErrFault, 12345: runner.ErrFault,
	} {
		require.True(t, errors.Is(kindOf(code), want), "code %d", code)
	}
}
