package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/report"
)

// TestWarpEdited: ptxas has one lane of a warp add for all of them and tell them what their
// atomics return. Code in which it adds or tells anything else is not the test.
func TestWarpEdited(t *testing.T) {
	x, err := litmus.Parse("combined.litmus", []byte(`PTX combined
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0                ;
 st.relaxed.gpu x, 1 | ld.acquire.gpu r0, y          ;
 st.release.gpu y, 1 | atom.relaxed.gpu.add r1, x, 3 ;
exists (P1:r0 == 1 /\ P1:r1 == 0)
`))
	require.NoError(t, err)
	for _, w := range []struct{ what, old, by string }{
		{"nothing", "", ""},
		{"one lane's operand", "IMAD R11, R6, c[0x0][0x178], RZ", "IMAD R11, RZ, c[0x0][0x178], R6"},
		{"the number of lanes and one", "IMAD R11, R6, c[0x0][0x178], RZ", "IMAD R11, R6, c[0x0][0x178], R6"},
		{"twice as much", "IMAD R11, R6, c[0x0][0x178], RZ", "IMAD R11, R6, c[0x0][0x178], c[0x0][0x178]"},
		{"the mask for the number", "POPC R6, UR6", "FLO.U32 R6, UR6"},
		{"another lane elected", "FLO.U32 R8, UR6", "POPC R8, UR6"},
		{"every lane", "@P0 ATOMG", "ATOMG"},
		{"all but one lane", "@P0 ATOMG", "@!P0 ATOMG"},
		{"not shuffled", "SHFL.IDX PT, R6, R5, R8, 0x1f", "IMAD.MOV.U32 R6, RZ, RZ, R5"},
		{"shuffled from oneself", "SHFL.IDX PT, R6, R5, R8, 0x1f", "SHFL.IDX PT, R6, R5, R5, 0x1f"},
		{"the wrong word shuffled", "SHFL.IDX PT, R6, R5, R8, 0x1f", "SHFL.IDX PT, R6, R8, R8, 0x1f"},
		{"told the same", "IMAD R6, R3, c[0x0][0x178], R6", "IMAD R6, RZ, c[0x0][0x178], R6"},
		{"told in steps of one", "IMAD R6, R3, c[0x0][0x178], R6", "IADD3 R6, R3, R6, RZ"},
		{"told in steps of another parameter", "IMAD R6, R3, c[0x0][0x178], R6", "IMAD R6, R3, c[0x0][0x17c], R6"},
		{"lanes before and oneself", "SR_LTMASK", "SR_LEMASK"},
		{"lanes after", "SR_LTMASK", "SR_GTMASK"},
		{"another lane's number", "SR_LANEID", "SR_TID.X"},
		{"the number of all lanes before", "POPC R3, R10", "POPC R3, R7"},
	} {
		t.Run(w.what, func(t *testing.T) {
			class, reason, _ := edited(t, x, "12.4", "sm_80", 1, func(lines []string) []string {
				found := w.old == ""
				for i := range lines {
					if w.old != "" && strings.Contains(lines[i], w.old) {
						lines[i], found = strings.Replace(lines[i], w.old, w.by, 1), true
					}
				}
				require.True(t, found, strings.Join(lines, "\n"))
				return lines
			})
			require.Equal(t, w.old == "", class == report.Preserved, "%s %s", class, reason)
		})
	}
}
