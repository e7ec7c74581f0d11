package store

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
)

// TestImportExport: a stream that is imported comes out as it was, byte for
// byte, also after the store was closed, and importing it again changes nothing.
func TestImportExport(t *testing.T) {
	at := folder(t)
	rapid.Check(t, func(t *rapid.T) {
		dir := at()
		x := stream(t, genStream(t))
		s := imported(t, dir, "a", x, x)
		require.Equal(t, string(x), ran(t, s, 1))
		require.NoError(t, s.Close())
		s, err := Open(context.Background(), filepath.Join(dir, "a"), Read)
		require.NoError(t, err)
		require.Equal(t, string(x), ran(t, s, 1))
		info, err := s.Info(context.Background())
		require.NoError(t, err)
		require.Len(t, info.Runs, 1)
		require.NoError(t, s.Close())
	})
}

// TestOrder: whatever the order in which cells come, and in how many parts, the
// store gives the same export.
func TestOrder(t *testing.T) {
	at := folder(t)
	rapid.Check(t, func(t *rapid.T) {
		dir := at()
		events := genStream(t)
		whole := imported(t, dir, "whole", stream(t, events))
		// Each part has all but some cells; together they have all.
		n := rapid.IntRange(1, 3).Draw(t, "parts")
		parts := make([][]event.Event, n)
		for _, e := range events {
			only := rapid.IntRange(0, n-1).Draw(t, "part")
			for i := range parts {
				if e.Cell == nil || i == only || rapid.Bool().Draw(t, "too") {
					parts[i] = append(parts[i], e)
				}
			}
		}
		a, b := fresh(t, dir, "a"), fresh(t, dir, "b")
		for i := range parts {
			one := imported(t, dir, "part"+string(rune('0'+i)), stream(t, parts[i]))
			_, err := a.Merge(context.Background(), one)
			require.NoError(t, err)
			require.NoError(t, one.Close())
		}
		for i := range parts {
			one, err := Open(context.Background(), filepath.Join(dir, "part"+string(rune('0'+n-1-i))), Read)
			require.NoError(t, err)
			for range 2 {
				_, err = b.Merge(context.Background(), one)
				require.NoError(t, err)
			}
			require.NoError(t, one.Close())
		}
		want := exported(t, whole, View{})
		require.Equal(t, want, exported(t, a, View{}))
		require.Equal(t, want, exported(t, b, View{}))
		for _, s := range []*Store{whole, a, b} {
			require.NoError(t, s.Close())
		}
	})
}

// TestUnfinished: a run on a device that did not end is told, until one with the same plan
// has.
func TestUnfinished(t *testing.T) {
	cfg := func(shard string) event.Event {
		return event.Event{Config: &event.Config{Schema: event.Schema, Tool: "t", Cells: 2, Shard: shard, OnDevice: &event.DeviceRun{}}}
	}
	s := fresh(t, t.TempDir(), "a.store")
	for _, x := range []struct {
		shard string
		end   *event.Stats
		want  bool
	}{
		{"1/2", nil, true}, {"1/2", &event.Stats{}, false}, {"2/2", &event.Stats{Interrupted: true}, true}, {"1/2", &event.Stats{},
			true}, {"2/2", &event.Stats{Cells: 1}, false},
	} {
		w := s.Writer()
		require.NoError(t, w.Handle(cfg(x.shard)))
		if x.end != nil {
			require.NoError(t, w.Handle(event.Event{Stats: x.end}))
		}
		require.NoError(t, w.Close())
		got, err := s.Unfinished(t.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, x.want, got)
	}
	other := cfg("1/3") // of another setting, and not at its end
	other.Config.Flags = []string{"-v"}
	w := s.Writer()
	require.NoError(t, w.Handle(other))
	require.NoError(t, w.Close())
	for setting, want := range map[int64]bool{1: false, 2: true} {
		got, err := s.Unfinished(t.Context(), setting)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.NoError(t, s.Close())
}
