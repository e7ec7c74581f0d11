package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit/chip"
)

// TestRunVerdict: a run that failed, such as on a device whose process was stopped,
// is no success, however many others there are.
func TestRunVerdict(t *testing.T) {
	ran := chip.Result{Test: "mp", Ran: true, Validated: true}
	refused := chip.Result{Test: "sb", State: "unsupported"}
	stopped := chip.Result{Test: "lb", Failure: "timeout: no answer\nstack"}
	half := chip.Result{Test: "lb", Ran: true, Failure: "timeout: no answer"}
	for _, c := range []struct {
		name    string
		results []chip.Result
		want    string
	}{
		{"ran", []chip.Result{ran, refused}, ""},
		{"refused", []chip.Result{refused}, "no test was run"},
		{"stopped", []chip.Result{stopped}, "no test could be run"},
		{"some stopped", []chip.Result{ran, stopped, stopped}, "2 runs failed"},
		{"stopped half-way", []chip.Result{half}, "1 run failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &runOutput{f: &runFlags{}, text: io.Discard, events: &runEvents{}}
			for _, r := range c.results {
				o.result(&r)
			}
			if c.want == "" {
				require.NoError(t, o.verdict())
				return
			}
			require.ErrorContains(t, o.verdict(), c.want)
		})
	}
}
