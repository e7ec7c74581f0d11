package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/sass/hazard"
)

// TestFlight: an excerpt becomes lines and arrows; what an event stream must not say is left out.
func TestFlight(t *testing.T) {
	require.Nil(t, newFlightView(nil))
	x := &hazard.Excerpt{Lines: []hazard.Line{{At: 0x10, Control: "B------:R-:W0:-:S02", Text: "LDG.E R2, [R2]"},
		{At: 0x40, Control: "B------:R-:W-:-:S05", Text: "IADD3 R4, R2, <b>", Left: 2}},
		Waits: []hazard.Wait{{From: 0, To: 1, Kind: "hazard", Says: "nothing waits for it"}, {From: 0, To: 7, Kind: "waits"}, {From: -1, To: 1, Kind: "waits"}}}
	v := newFlightView(x)
	require.Len(t, v.Lines, 2)
	require.Equal(t, []string{"2 instructions left out before", "nothing waits for it"}, v.Lines[1].Tags)
	require.Equal(t, 1, strings.Count(string(v.Arrows), "fp-head"))
	got, err := execute(findingTemplate, &findingPage{Findings: []findingItem{{Flown: v}}})
	require.NoError(t, err)
	require.Contains(t, string(got), "IADD3 R4, R2, &lt;b&gt;")
	require.Contains(t, string(got), `class="fp-lost"`)
}
