package audit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
)

// TestAtomBehindGuard: ptxas combines an atomic of a warp also where only some of its lanes
// come to, and multiplies its operand by their number. That is the test's operand; the
// token, or another parameter, in its place is not.
func TestAtomBehindGuard(t *testing.T) {
	x, err := litmus.Parse("guarded.litmus", []byte(`PTX guarded
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0              ;
 st.relaxed.gpu x, 1 | ld.acquire.gpu r0, y        ;
 st.release.gpu y, 1 | bne r0, 1, END              ;
                     | atom.relaxed.gpu.add r1, x, 3 ;
                     | END:                        ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
`))
	require.NoError(t, err)
	class, reason, _ := edited(t, x, "12.4", "sm_80", 1, nil)
	require.Equal(t, event.Preserved, class, reason)
	edits := 0
	for _, by := range []int64{0, 4, -4} { // itself, the token after it, the parameter before it
		class, reason, _ = edited(t, x, "12.4", "sm_80", 1, func(lines []string) []string {
			for i, l := range lines {
				at := strings.Index(l, "IMAD")
				if at < 0 || !strings.Contains(l, ", RZ ;") || strings.Contains(l, "IMAD.MOV") {
					continue // not the product with the number of lanes
				}
				edits++
				lines[i] = moved(t, l, by)
			}
			return lines
		})
		require.Equal(t, by == 0, class == event.Preserved, "%d: %s", by, reason)
	}
	require.Equal(t, 3, edits)
}

var inBank = regexp.MustCompile(`c\[0x0\]\[0x[0-9a-f]+\]`)

// moved reads another parameter: the one that stands some bytes after.
func moved(t *testing.T, line string, by int64) string {
	t.Helper()
	require.Regexp(t, inBank, line)
	return inBank.ReplaceAllStringFunc(line, func(s string) string {
		var off int64
		_, err := fmt.Sscanf(s, "c[0x0][0x%x]", &off)
		require.NoError(t, err)
		return fmt.Sprintf("c[0x0][0x%x]", off+by)
	})
}
