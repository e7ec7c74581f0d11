package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaults: a fault is at its first operation, with the others beside it; lines do not decide which it is.
func TestFaults(t *testing.T) {
	fault := func(line int, minor bool) Fault {
		return Fault{Rule: "data-race", Title: "two accesses", Kernel: "scan", Message: "nothing orders them", Minor: minor, Places: []FaultPlace{
			{File: "a b.cu", Line: line, Col: 3, Text: "st.global.u32 [x], 1", Says: "thread 0"},
			{File: "k.ptx", Text: "ld.global.u32 r, [x]", Says: "thread 1"}}}
	}
	other := fault(3, false)
	other.Rule = "endless-wait"
	var b bytes.Buffer
	require.NoError(t, WriteFaultsSARIF(&b, "1", []Fault{fault(7, false), fault(9, true), other, other}, []string{"a bound of steps"}))
	var doc struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				Level               string
				RuleIndex           int
				RuleID              string
				Message             struct{ Text string }
				PartialFingerprints map[string]string
				Locations           []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				RelatedLocations []struct{ Message struct{ Text string } }
			}
			Invocations []struct {
				ToolExecutionNotifications []struct{ Message struct{ Text string } }
			}
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	run := doc.Runs[0]
	require.Len(t, run.Tool.Driver.Rules, 2)
	for _, r := range run.Results {
		require.Equal(t, r.RuleID, run.Tool.Driver.Rules[r.RuleIndex].ID)
	}
	require.Equal(t, "a bound of steps", run.Invocations[0].ToolExecutionNotifications[0].Message.Text)
	require.Len(t, run.Results, 4)
	one, two := run.Results[0], run.Results[1]
	require.Equal(t, []string{"error", "note"}, []string{one.Level, two.Level})
	require.Equal(t, "scan: nothing orders them", one.Message.Text)
	require.Equal(t, one.PartialFingerprints, two.PartialFingerprints)
	require.Equal(t, "a%20b.cu", one.Locations[0].PhysicalLocation.ArtifactLocation.URI)
	require.Equal(t, 7, one.Locations[0].PhysicalLocation.Region.StartLine)
	require.Equal(t, "thread 1: ld.global.u32 r, [x]", one.RelatedLocations[0].Message.Text)
}
