package report

import (
	"bytes"
	"encoding/json"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func histogram(test, setting string, weak uint64) Histogram {
	h := Histogram{Test: test, Setting: setting, Status: StatusDone, Validated: true, Terms: []string{"1:r0"}, Instances: 1000, Weak: weak,
		Rate: &Rate{Rate: float64(weak) / 1000, Low: float64(weak) / 2000, High: float64(weak) / 500}}
	h.Outcomes = []Outcome{{Values: []int64{0}, Count: 1000 - weak}}
	if weak > 0 {
		h.Outcomes = append(h.Outcomes, Outcome{Values: []int64{1}, Count: weak, Weak: true, Effect: "hardware, forbidden"})
	} else {
		h.Rate.Excluded = 0.003
	}
	return h
}

func TestPlot(t *testing.T) {
	list := []Histogram{histogram("mp", "none", 3), histogram("mp", "stress", 30), histogram("sb", "none", 0), histogram("sb", "stress", 500)}
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
	hung.Status, hung.Rate.Excluded = StatusTimeout, 0
	require.ErrorContains(t, WritePlot(&one, "svg", []Histogram{hung}), "nothing to plot")
	require.ErrorContains(t, WritePlot(&one, "pdf", list), "unknown format")
	one.Reset()
	require.NoError(t, WritePlot(&one, "svg", append(list, hung)))
	require.NotContains(t, one.String(), ">lb<")
}

// Histograms that contradict themselves are refused when read.
func TestHistogramCheck(t *testing.T) {
	good := histogram("mp", "none", 3)
	require.NoError(t, good.Check())
	good.Rate = &Rate{Low: 0, Rate: 0, High: 1, Excluded: 1}
	require.NoError(t, good.Check(), "the bounds themselves")
	good.Rate = &Rate{Low: 1, Rate: 1, High: 1}
	require.NoError(t, good.Check())
	for name, spoil := range map[string]func(*Histogram){
		"values":    func(h *Histogram) { h.Terms = nil },
		"instances": func(h *Histogram) { h.Instances++ },
		"weak":      func(h *Histogram) { h.Weak-- },
		"overflow":  func(h *Histogram) { h.Outcomes[0].Count = ^uint64(0) },
		"below":     func(h *Histogram) { h.Rate.Low = -0.1 },
		"low":       func(h *Histogram) { h.Rate.Low = 0.5 },
		"rate":      func(h *Histogram) { h.Rate.Rate = 0.9 },
		"high":      func(h *Histogram) { h.Rate.High = 1.1 },
		"excluded":  func(h *Histogram) { h.Rate.Excluded = -0.1 },
		"more":      func(h *Histogram) { h.Rate.Excluded = 1.1 },
		"unseen":    func(h *Histogram) { h.Unseen[0].Values = h.Unseen[0].Values[1:] },
	} {
		h := histogram("mp", "none", 3)
		h.Rate = &Rate{Low: 0.1, Rate: 0.2, High: 0.3, Excluded: 0.01}
		h.Unseen = []Unseen{{Values: slices.Clone(h.Outcomes[0].Values)}}
		require.NoError(t, h.Check())
		spoil(&h)
		require.Error(t, h.Check(), name)
		var b bytes.Buffer
		w := NewJSONLines(&b)
		require.NoError(t, w.Handle(Event{Config: &Config{Schema: Schema}}))
		require.NoError(t, w.Handle(Event{Histogram: &h}))
		require.NoError(t, w.Close())
		require.ErrorContains(t, Read("f", &b, NewRun().Handle), "f:2: bad histogram", name)
	}
}

func TestHistogramText(t *testing.T) {
	r := NewRun()
	hung := histogram("lb", "none", 0)
	hung.Status, hung.Detail, hung.Rate.Excluded = StatusTimeout, "device hung\nmore", 0
	refused := Histogram{Test: "coRR", Status: StatusRefused, Detail: "merged"}
	loose := histogram("sb", "stress", 7)
	loose.Validated = false
	r.Histograms = []Histogram{histogram("mp", "none", 0), hung, refused, loose}
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

// Nobody makes a reader hold more outcomes than a harness has bins.
func TestManyOutcomes(t *testing.T) {
	line := func(n int) string {
		return `{"outcomes":[` + strings.Repeat(`{"values":[],"count":0},`, n-1) + `{"values":[],"count":0}]}`
	}
	var h Histogram
	require.NoError(t, json.Unmarshal([]byte(line(maxBins)), &h))
	require.Len(t, h.Outcomes, maxBins)
	require.ErrorContains(t, json.Unmarshal([]byte(line(maxBins+1)), new(Histogram)), "more than 65536 outcomes")
	require.Error(t, json.Unmarshal([]byte(`{"outcomes":{}}`), new(Histogram)))
}
