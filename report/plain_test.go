package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlain: nothing in a run makes a terminal do something, however the text is
// divided into writes.
func TestPlain(t *testing.T) {
	text := "a\x1b]0;x\x07\tb\r\u009b31m é\x7f\n"
	for n := 1; n <= len(text); n++ {
		var b bytes.Buffer
		w := &plainWriter{w: &b}
		for i := 0; i < len(text); i += n {
			part := text[i:min(i+n, len(text))]
			k, err := w.Write([]byte(part))
			require.NoError(t, err)
			require.Equal(t, len(part), k)
		}
		require.Equal(t, "a?]0;x?\tb?¤31m é?\n", b.String())
	}
	r := &Run{Cells: []Cell{{Test: "x\x1b[2J", Result: Result{Class: Unknown, Reason: "\x1b]0;y\x07"}}}}
	r.Problems = []Problem{{Kind: "tool", Detail: "\x1bc"}}
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, r, TextOptions{}))
	require.NotContains(t, b.String(), "\x1b")
}
