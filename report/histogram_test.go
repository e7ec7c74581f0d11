package report

import (
	"bytes"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

func histogram(test, setting string, weak uint64) event.Histogram {
	h := event.Histogram{Test: test, Setting: setting, Status: event.StatusDone, Validated: true, Terms: []string{"1:r0"}, Instances: 1000, Weak: weak,
		Rate: &event.Rate{Rate: float64(weak) / 1000, Low: float64(weak) / 2000, High: float64(weak) / 500}}
	h.Outcomes = []event.Outcome{{Values: []int64{0}, Count: 1000 - weak}}
	if weak > 0 {
		h.Outcomes = append(h.Outcomes, event.Outcome{Values: []int64{1}, Count: weak, Weak: true, Effect: "hardware, forbidden"})
	} else {
		h.Rate.Excluded = 0.003
	}
	return h
}

func TestPlot(t *testing.T) {
	list := []event.Histogram{histogram("mp", "none", 3), histogram("mp", "stress", 30), histogram("sb", "none", 0), histogram("sb", "stress", 500)}
	var one, two, raster bytes.Buffer
	require.NoError(t, WritePlot(&one, "svg", list))
	require.NoError(t, WritePlot(&two, "svg", list))
	require.Equal(t, one.String(), two.String())
	for _, s := range []string{"<svg", "stress", ">mp<", ">sb<", "not seen", "95"} {
		require.Contains(t, one.String(), s)
	}
	require.NoError(t, WritePlot(&raster, "png", list))
	_, err := png.Decode(&raster)
	require.NoError(t, err)

	hung := histogram("lb", "none", 0)
	hung.Status, hung.Rate.Excluded = event.StatusTimeout, 0
	require.ErrorContains(t, WritePlot(&one, "svg", []event.Histogram{hung}), "nothing to plot")
	require.ErrorContains(t, WritePlot(&one, "pdf", list), "unknown format")
	one.Reset()
	require.NoError(t, WritePlot(&one, "svg", append(list, hung)))
	require.NotContains(t, one.String(), ">lb<")
}

// Histograms that contradict themselves are refused when read.
func TestHistogramCheck(t *testing.T) {
	good := histogram("mp", "none", 3)
	require.NoError(t, good.Check())
	good.Rate = &event.Rate{Low: 0, Rate: 0, High: 1, Excluded: 1}
	require.NoError(t, good.Check(), "the bounds themselves")
	good.Rate = &event.Rate{Low: 1, Rate: 1, High: 1}
	require.NoError(t, good.Check())
	for name, spoil := range map[string]func(*event.Histogram){
		"values":    func(h *event.Histogram) { h.Terms = nil },
		"instances": func(h *event.Histogram) { h.Instances++ },
		"weak":      func(h *event.Histogram) { h.Weak-- },
		"overflow":  func(h *event.Histogram) { h.Outcomes[0].Count = ^uint64(0) },
		"below":     func(h *event.Histogram) { h.Rate.Low = -0.1 },
		"low":       func(h *event.Histogram) { h.Rate.Low = 0.5 },
		"rate":      func(h *event.Histogram) { h.Rate.Rate = 0.9 },
		"high":      func(h *event.Histogram) { h.Rate.High = 1.1 },
		"excluded":  func(h *event.Histogram) { h.Rate.Excluded = -0.1 },
		"more":      func(h *event.Histogram) { h.Rate.Excluded = 1.1 },
		"unseen":    func(h *event.Histogram) { h.Unseen[0].Values = h.Unseen[0].Values[1:] },
	} {
		h := histogram("mp", "none", 3)
		h.Rate = &event.Rate{Low: 0.1, Rate: 0.2, High: 0.3, Excluded: 0.01}
		h.Unseen = []event.Unseen{{Values: slices.Clone(h.Outcomes[0].Values)}}
		require.NoError(t, h.Check())
		spoil(&h)
		require.Error(t, h.Check(), name)
		var b bytes.Buffer
		w := event.NewJSONLines(&b)
		require.NoError(t, w.Handle(event.Event{Config: &event.Config{Schema: event.Schema}}))
		require.NoError(t, w.Handle(event.Event{Histogram: &h}))
		require.NoError(t, w.Close())
		require.ErrorContains(t, event.Read("f", &b, event.NewRun().Handle), "f:2: bad histogram", name)
	}
}

func TestHistogramText(t *testing.T) {
	r := event.NewRun()
	hung := histogram("lb", "none", 0)
	hung.Status, hung.Detail, hung.Rate.Excluded = event.StatusTimeout, "device hung\nmore", 0
	refused := event.Histogram{Test: "coRR", Status: event.StatusRefused, Detail: "merged"}
	loose := histogram("sb", "stress", 7)
	loose.Validated = false
	r.Histograms = []event.Histogram{histogram("mp", "none", 0), hung, refused, loose}
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, r, TextOptions{}))
	text := b.String()
	require.Contains(t, text, "rate above 0.003 excluded")
	require.Contains(t, text, "timeout: device hung")
	require.Contains(t, text, "refused: merged")
	require.Contains(t, text, "sb (not validated)")
	require.Contains(t, text, "sb: 1:r0=1;, 7 times: hardware, forbidden")
	require.Equal(t, 1, strings.Count(text, "excluded"), "a hang excludes nothing")
}
