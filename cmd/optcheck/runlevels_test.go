package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLevels(t *testing.T) {
	for text, want := range map[string][]string{"O3": {"O3"}, "O0..O3": {"O0", "O1", "O2", "O3"}, "O3,O0": {"O3", "O0"},
		"O1..O2,O2": {"O1", "O2"}} {
		f := &runFlags{level: text}
		got, err := f.levels()
		require.NoError(t, err)
		require.Equal(t, want, got, text)
		require.Equal(t, want[0], f.level)
	}
	for _, text := range []string{"", "O4", "O3..O0", "O0..", "0"} {
		_, err := (&runFlags{level: text}).levels()
		require.Error(t, err, text)
	}
}
