package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
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
			require.Equal(t, w.old == "", class == event.Preserved, "%s %s", class, reason)
		})
	}
}

// TestWarpParted: where a branch depends on a combined atomic, the lanes that take it vote and exchange only among
// themselves. A vote of the whole warp counts lanes that do not act.
func TestWarpParted(t *testing.T) {
	x, err := litmus.Parse("parted.litmus", []byte(`GPU_PTX parted
{
x=0; y=0;
1:.reg .b64 rd0 = y; 1:.reg .b64 rd1 = x; 1:.reg .s32 r0; 1:.reg .b32 d1; 1:.reg .pred p2; 1:.reg .s32 r3;
0:.reg .b64 rd0 = x; 0:.reg .s32 r0;
}
 T0                       | T1                          ;
 atom.exch.b32 r0,[rd0],1 | atom.add.s32 r0,[rd0],0     ;
                          | and.b32 d1,r0,0x80000000    ;
                          | setp.eq.s32 p2,d1,0         ;
                          | @p2 atom.add.s32 r3,[rd1],0 ;
ScopeTree(grid(cta(warp T0) (warp T1)))
x: global, y: shared
exists (0:r0=0 /\ 1:r0=1 /\ 1:r3=0)
`))
	require.NoError(t, err)
	same := func(lines []string) []string { return lines }
	replace := func(old, by string) func([]string) []string {
		return func(lines []string) []string {
			text := strings.Join(lines, "\n")
			require.Contains(t, text, old)
			return strings.Split(strings.Replace(text, old, by, 1), "\n")
		}
	}
	for _, w := range []struct {
		what string
		edit func([]string) []string
		same bool
	}{
		{"nothing", same, true},
		{"a vote of the whole warp", func(lines []string) []string { return swap(t, lines, "@P0 BRA", "VOTEU.ANY UR6") }, false},
		{"lanes before by the lane's number", replace("LOP3.LUT R8, R8, UR6, RZ, 0xc0", "LOP3.LUT R8, R8, R8, RZ, 0xc0"), false},
		{"a lane told nothing", replace("IMAD R0, R15, c[0x0][0x180], R0", "IMAD R0, RZ, c[0x0][0x180], R0"), false},
		{"one lane's operand", replace("IMAD R11, R0, c[0x0][0x180], RZ", "IMAD R11, RZ, c[0x0][0x180], R0"), false},
	} {
		t.Run(w.what, func(t *testing.T) {
			class, reason, _ := edited(t, x, "12.4", "sm_80", 1, w.edit)
			require.Equal(t, w.same, class == event.Preserved, "%s %s", class, reason)
		})
	}
}

// swap exchanges the instructions of two lines, which contain a and b.
func swap(t *testing.T, lines []string, a, b string) []string {
	t.Helper()
	line := func(text string) int {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) })
		require.GreaterOrEqual(t, i, 0, text)
		return i
	}
	i, j := line(a), line(b)
	at := func(l string) int { return strings.Index(l, "*/") }
	x, y := lines[i], lines[j]
	lines[i], lines[j] = x[:at(x)]+y[at(y):], y[:at(y)]+x[at(x):]
	return lines
}
