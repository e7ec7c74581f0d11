package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/sass/hazard"
)

// inFlight is a run with a program whose machine code reads a register in flight.
func inFlight(origin string) *event.Run {
	x := &hazard.Excerpt{
		Lines: []hazard.Line{
			{At: 0x40, Control: "B------:R-:W-:-:S04", Text: "MOV R9, RZ"},
			{At: 0x50, Control: "B------:R-:W2:-:S01", Text: "LDG.E R2, [R2.64]", Source: "ld.global.u32 v, [a]", Of: 14},
			{At: 0x70, Control: "B------:R-:W-:-:S05", Text: "IMAD R7, R2, 0x3, R7", Source: "mad.lo.u32 x, v, 3, t", Of: 15},
			{At: 0x80, Control: "B------:R-:W-:-:S01", Text: "STG.E [R4.64], R7"}},
		Waits: []hazard.Wait{{From: 0, To: 2, Kind: hazard.Waits, Says: "reads R9"}, {From: 1, To: 2, Kind: hazard.Missing, Says: "reads R2: HAZARD"},
			{From: 2, To: 3, Kind: hazard.Reaches, Says: "its content decides what this does"}},
	}
	test := event.Test{Name: "k.ptx:k", Hash: "1", Dialect: event.Program, File: "k.ptx", Origin: origin, Lines: [][]int{{14}}, Columns: [][]int{{2}}, OriginLines: []int{3}}
	c := event.Cell{Test: "k.ptx:k", Hash: "1", Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: event.OwnLayout,
		Result: event.Result{Class: event.Miscompiled, Findings: []event.Finding{{Rule: "hazard-raw", Detail: "R2", Executed: true, Flight: x}}}}
	return &event.Run{Config: event.Config{Tests: 1}, Tests: []event.Test{test}, Cells: []event.Cell{c}}
}

// TestFlight: every form shows the instructions of a register in flight with their control codes, what is wrong there, and how to execute it again.
func TestFlight(t *testing.T) {
	r := inFlight("")
	lines := []string{"0050  B------:R-:W2:-:S01  LDG.E R2, [R2.64]  // 14: ld.global.u32 v, [a]", "      reads R2: HAZARD", "      its content decides what this does"}
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, r, TextOptions{}))
	text := b.String()
	b.Reset()
	require.NoError(t, WriteMarkdown(&b, r, 1<<20))
	markdown := b.String()
	b.Reset()
	require.NoError(t, WriteJUnit(&b, r, false))
	junit := b.String()
	for _, got := range []string{text, markdown} {
		for _, line := range lines {
			require.Contains(t, got, line)
		}
		require.NotContains(t, got, "MOV R9", "it waits as it should")
	}
	require.Contains(t, junit, "reads R2: HAZARD")
	require.Contains(t, markdown, "optcheck replay k.ptx@12.4.131/sm_80/O3:14")
}

// TestFlightSARIF: the way of a wrong content is a code flow, at the lines that the instructions were made of.
func TestFlightSARIF(t *testing.T) {
	type place struct {
		Location struct {
			Message          struct{ Text string }
			PhysicalLocation struct{ Region struct{ StartLine int } }
		}
	}
	read := func(r *event.Run) (list []place, replay any) {
		data := sarifOf(t, r)
		validSARIF(t, data)
		var doc struct {
			Runs []struct {
				Results []struct {
					CodeFlows  []struct{ ThreadFlows []struct{ Locations []place } }
					Properties map[string]any
				}
			}
		}
		require.NoError(t, json.Unmarshal(data, &doc))
		x := doc.Runs[0].Results[0]
		require.Len(t, x.CodeFlows, 1)
		return x.CodeFlows[0].ThreadFlows[0].Locations, x.Properties["replay"]
	}
	list, replay := read(inFlight(""))
	require.Equal(t, "optcheck replay k.ptx@12.4.131/sm_80/O3:14", replay)
	require.Len(t, list, 3)
	require.Equal(t, []int{14, 15, 14}, []int{list[0].Location.PhysicalLocation.Region.StartLine, list[1].Location.PhysicalLocation.Region.StartLine,
		list[2].Location.PhysicalLocation.Region.StartLine}, "what was made of no line is shown at that of the finding")
	require.Contains(t, list[1].Location.Message.Text, "reads R2: HAZARD")

	list, _ = read(inFlight("k.cu"))
	require.Equal(t, 3, list[1].Location.PhysicalLocation.Region.StartLine, "the PTX of CUDA C++ may be gone")
}
