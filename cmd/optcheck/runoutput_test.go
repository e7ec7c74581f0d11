package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit/device"
	"optcheck/event"
)

// TestFormRefusedFirst: of a test whose first form is refused before a model is asked, another form is counted as any test is.
func TestFormRefusedFirst(t *testing.T) {
	var text strings.Builder
	o := &runOutput{f: &runFlags{until: "seen"}, text: &text, events: &runEvents{}, models: []string{"ptx", "ptx-async"}}
	refused := device.Result{Binary: &device.Binary{State: "unsupported"}, Histogram: event.Histogram{Test: "shfl-mp", Status: event.StatusRefused, Rate: &event.Rate{}}}
	ran := device.Result{Binary: &device.Binary{State: "validated"}, Histogram: event.Histogram{Test: "shfl-mp", Status: event.StatusDone, Validated: true, Instances: 5,
		Weak: 2, Rate: &event.Rate{}, Models: []string{"ptx", "ptx-async"}, Says: []string{device.Undecided, device.Forbidden},
		Outcomes: []event.Outcome{{Count: 2, Weak: true, Says: []string{device.Undecided, device.Forbidden}}}}}
	o.result(&refused)
	o.result(&ran)
	row := o.rows["shfl-mp"]
	require.True(t, row.validated)
	require.Equal(t, []bool{false, true}, row.bad)
	require.Equal(t, device.Forbidden, row.decided())
	o.summary()
	require.Contains(t, text.String(), "1 test: 1 validated; 1 run, 0 failed")
}

// TestRunVerdict: a run that failed, such as on a device whose process was stopped,
// is no success, however many others there are.
func TestRunVerdict(t *testing.T) {
	result := func(test, state, status, detail string, n uint64) device.Result {
		return device.Result{Binary: &device.Binary{State: state}, Histogram: event.Histogram{Test: test, Status: status,
			Detail: detail, Instances: n,
			Rate: &event.Rate{}}}
	}
	ran := result("mp", "validated", event.StatusDone, "", 1)
	refused := result("sb", "unsupported", event.StatusRefused, "unsupported: no such thing", 0)
	stopped := result("lb", "validated", event.StatusTimeout, "timeout: no answer\nstack", 0)
	lacking := result("lb", "validated", event.StatusUnsupported, "unsupported: a test on 3 devices, there are 2", 0)
	half := result("lb", "validated", event.StatusTimeout, "timeout: no answer", 1)
	for _, c := range []struct {
		name    string
		results []device.Result
		want    string
	}{
		{"ran", []device.Result{ran, refused}, ""},
		{"refused", []device.Result{refused}, "no test was run"},
		{"stopped", []device.Result{stopped}, "no test could be run"},
		{"some stopped", []device.Result{ran, stopped, stopped}, "2 runs failed"},
		{"lacking", []device.Result{lacking}, "no test was run"},
		{"some lacking", []device.Result{ran, lacking}, ""},
		{"stopped half-way", []device.Result{half}, "1 run failed"},
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
