package verify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLate: what has no time left is unknown, and nothing of it is made up.
func TestLate(t *testing.T) {
	m := module(t, "testdata/kernels.ptx")
	r, err := Kernel(m, "flag_plain", &Options{Until: time.Now().Add(-time.Second)})
	require.NoError(t, err)
	require.Equal(t, []string{errLate.Error()}, r.Unknown)
	require.Empty(t, r.Found)
	require.False(t, r.Every)
	require.Zero(t, r.Steps)
	r, err = Kernel(m, "flag_plain", &Options{Until: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	require.Empty(t, r.Unknown)
	require.NotEmpty(t, r.Found)
}
