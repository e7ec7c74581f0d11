package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

func TestPlacements(t *testing.T) {
	r := event.NewRun()
	add := func(test, one, across, status string, weak uint64, homes ...int) {
		h := event.Histogram{Test: test, Setting: "sync", Status: status, Validated: true, Instances: 1000, Weak: weak, Says: []string{across},
			Placement: &event.Placement{Threads: []int{0, 1}, OneDevice: one, Locations: map[string]int{"x": homes[0], "y": homes[1]}}}
		if across == "forbidden" && weak > 0 {
			h.Outcomes = []event.Outcome{{Count: weak, Weak: true, Effect: "hardware, forbidden"}}
		}
		r.Histograms = append(r.Histograms, h)
	}
	add("mp+gpu@01", "forbidden", "allowed", event.StatusDone, 0, 0, 0)
	add("mp+gpu@01", "forbidden", "allowed", event.StatusDone, 49, 1, 0)
	add("mp+sys@01", "forbidden", "forbidden", event.StatusDone, 0, 0, 1)
	add("sb+sys@01", "forbidden", "forbidden", event.StatusDone, 3, 0, 1)
	add("lb+gpu@01", "forbidden", "allowed", event.StatusDone, 0, 0, 1)
	add("lb+gpu@01", "forbidden", "allowed", event.StatusTimeout, 7, 1, 1)
	var b strings.Builder
	require.NoError(t, WritePlacements(&b, r))
	require.Equal(t, `4 divided tests, 5 runs of 5000 instances.

Forbidden by the model, and seen: 1 test
- sb+sys@01: weak 3, forbidden 3 of 1000

Forbidden on one device, allowed and seen across devices (scopes too narrow): 1 test
- mp+gpu@01: weak 49, forbidden 0 of 2000

Forbidden on one device, allowed across devices, not seen: 1 test
- lb+gpu@01: weak 0, forbidden 0 of 1000

Runs that failed, from which nothing follows: lb+gpu@01 sync: timeout

Weak per 100,000 by the devices of x y

| test | one device | across | 00 | 01 | 10 |
|---|---|---|---|---|---|
| mp+gpu@01 | forbidden | allowed | 0 | – | 4.9e+03 |
| mp+sys@01 | forbidden | forbidden | – | 0 | – |
| sb+sys@01 | forbidden | forbidden | – | 300 | – |
| lb+gpu@01 | forbidden | allowed | – | 0 | – |
`, b.String())
	require.ErrorContains(t, WritePlacements(&b, event.NewRun()), "no run on several devices")
}
