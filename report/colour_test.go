package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestColoured: colours change nothing but themselves, however the text is cut.
func TestColoured(t *testing.T) {
	text := "2 new miscompilations\n\nMISCOMPILED: mp\n  known: k\nnothing\nlast"
	for cut := 1; cut < len(text); cut++ {
		var b strings.Builder
		w := Coloured(&b)
		for part := text; part != ""; part = part[min(cut, len(part)):] {
			_, err := w.Write([]byte(part[:min(cut, len(part))]))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.Equal(t, "\x1b[1m2 new miscompilations\x1b[0m\n\n\x1b[1;31mMISCOMPILED:\x1b[0m mp\n\x1b[2m  known:\x1b[0m k\nnothing\nlast", b.String())
	}
}
