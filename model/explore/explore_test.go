package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// counters is a machine of n counters that count to most, each in its own time.
type counters struct{ n, most int }

func (c counters) Start() (string, error) { return string(make([]byte, c.n)), nil }
func (c counters) Key(s string) string    { return s }
func (c counters) Moves(s string, yield func(string, func() Step) error) error {
	for i := range c.n {
		if int(s[i]) == c.most {
			continue
		}
		b := []byte(s)
		b[i]++
		if err := yield(string(b), func() Step { return Step{i, fmt.Sprint(b[i])} }); err != nil {
			return err
		}
	}
	return nil
}

// alike are counters that nobody can tell apart.
type alike struct{ counters }

func (alike) Key(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

func TestRun(t *testing.T) {
	ends := 0
	n, err := Run(t.Context(), counters{2, 4}, 25, func(s string, schedule func() []Step) error {
		ends++
		require.Equal(t, "\x04\x04", s)
		require.Len(t, schedule(), 8)
		require.Equal(t, Step{0, "1"}, schedule()[0])
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 25, n)
	require.Equal(t, 1, ends)
}

// TestSymmetry: of two states that are images of each other one is visited.
func TestSymmetry(t *testing.T) {
	n, err := Run(t.Context(), alike{counters{2, 4}}, 100, func(string, func() []Step) error { return nil })
	require.NoError(t, err)
	require.Equal(t, 15, n)
}

// TestNoAnswer: a bound, an interruption and an error are no answers, ErrStop is one.
func TestNoAnswer(t *testing.T) {
	none := func(string, func() []Step) error { return nil }
	_, err := Run(t.Context(), counters{2, 4}, 24, none)
	require.ErrorIs(t, err, ErrLimit)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	_, err = Run(ctx, counters{2, 4}, 25, none)
	require.ErrorIs(t, err, why)
	_, err = Run(t.Context(), counters{2, 4}, 25, func(string, func() []Step) error { return why })
	require.ErrorIs(t, err, why)
	_, err = Run(t.Context(), counters{2, 4}, 25, func(string, func() []Step) error { return ErrStop })
	require.NoError(t, err)
}
