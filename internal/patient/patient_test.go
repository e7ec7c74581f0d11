package patient

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLimits: a trial is repeated with longer limits until it does not fail, and
// ends where it fails.
func TestLimits(t *testing.T) {
	var limits []time.Duration
	Limits(t, 20*time.Second, func(t *Trial, limit time.Duration) {
		limits = append(limits, limit)
		assert.Greater(t, limit, 20*time.Second)
		require.Greater(t, limit, 80*time.Second)
		limits = append(limits, 0)
	})
	require.Equal(t, []time.Duration{20 * time.Second, 80 * time.Second, 2 * time.Minute, 0}, limits)
	require.Panics(t, func() { trial(func(*Trial) { panic("of the test") }) })
	require.Contains(t, trial(func(t *Trial) { require.True(t, false, "why") }), "why")
}

// TestLimitsFail: what fails with every limit fails the test.
func TestLimitsFail(t *testing.T) {
	var f fatal
	require.PanicsWithValue(t, &f, func() { Limits(&f, time.Hour, func(t *Trial, _ time.Duration) { require.Fail(t, "always") }) })
	require.True(t, f.failed)
}

// fatal notes that a test has failed.
type fatal struct {
	testing.TB
	failed bool
}

func (f *fatal) Helper() {}

func (f *fatal) Fatalf(string, ...any) { f.failed = true; panic(f) }
