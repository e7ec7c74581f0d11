package verify

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWitness: what the two threads of a race did, in the run that showed it first: what reads from what, what meets, and the race.
func TestWitness(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   []string
	}{
		{"flag_plain", []string{"W parameter 1=0x2a", "W parameter 0=0x1", "R parameter 0=0x1", "R parameter 1=0x2a", "rf: b→c", "race: a→d"}},
		{"flag_block", []string{"W parameter 1=0x2a", "fence", "W parameter 0=0x1", "R parameter 0=0x1", "fence", "R parameter 1=0x2a", "rf: c→d", "race: a→f"}},
		{"reduce_unsynced", []string{"W s+32=", "W s=", "R s+32=", "race: "}},
		{"copy_early", []string{"copy", "commit", "wait for copies", "barrier", "barrier", "R s+132=", "syncbar: d→i", "race: a→j"}},
		{"warp_unsynced", []string{"W s+4=0x1", "R s+4=0x1", "race: "}},
	} {
		r, err := Kernel(module(t, "testdata/kernels.ptx"), c.kernel, &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{64, 1, 1}}, Unmended: true, Executions: true})
		require.NoError(t, err)
		require.NotEmpty(t, r.Found)
		rest := r.Found[0].Record
		for _, w := range c.want {
			_, after, ok := strings.Cut(rest, w)
			require.Truef(t, ok, "%s: no %q in order in\n%s", c.kernel, w, r.Found[0].Record)
			rest = after
		}
		var b bytes.Buffer
		require.NoError(t, r.Found[0].Execution.SVG(&b))
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
