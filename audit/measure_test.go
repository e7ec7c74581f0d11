package audit

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/report"
	"optcheck/runner"
)

func measured(t *testing.T, weak uint64) *Measured {
	mp, ok := corpus.Lookup("mp")
	require.True(t, ok)
	h := runner.NewHistogram(mp)
	require.NoError(t, h.Add([]int64{1, 1}, 1000000-weak))
	require.NoError(t, h.Add([]int64{1, 0}, weak))
	return &Measured{Test: mp, Histogram: h, Status: report.StatusDone, Elapsed: 2 * time.Second, Image: []byte("cubin"),
		Device: runner.Device{Backend: "cuda", Name: "H200", Driver: "580"}, After: runner.State{Temperature: 40}}
}

// An event survives the stream, prints, and makes a log that is read.
func TestMeasuredEvent(t *testing.T) {
	h := measured(t, 30).Event()
	h.Setting, h.Seed, h.Validated = "stress+sync", 7, true
	require.EqualValues(t, 1000000, h.Instances)
	require.EqualValues(t, 30, h.Weak)
	require.InEpsilon(t, 3e-5, h.Rate.Rate, 1e-12)
	require.Less(t, h.Rate.Low, 3e-5)
	require.Greater(t, h.Rate.High, 3e-5)
	require.InEpsilon(t, 15, h.Rate.PerSecond, 1e-12)
	require.Zero(t, h.Rate.Excluded)
	require.Len(t, h.Image, 64)

	var stream bytes.Buffer
	w := report.NewJSONLines(&stream)
	require.NoError(t, w.Handle(report.Event{Config: &report.Config{Schema: report.Schema}}))
	require.NoError(t, w.Handle(report.Event{Histogram: h}))
	require.NoError(t, w.Close())
	run := report.NewRun()
	require.NoError(t, report.Read("stream", &stream, run.Handle))
	require.Equal(t, []report.Histogram{*h}, run.Histograms)
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text, run, report.TextOptions{}))
	require.Regexp(t, `mp +H200 +stress\+sync +1000000 +30 +3 +2\.02–4\.28 +100\.0 %`, text.String())

	var log bytes.Buffer
	require.NoError(t, LogBlock(h).Write(&log))
	require.Contains(t, log.String(), "Device H200, driver 580")
	n := 0
	require.NoError(t, model.ReadLog("log", &log, func(l *model.LogTest) error {
		n++
		require.Equal(t, "mp", l.Name)
		require.Len(t, l.States, 2)
		require.EqualValues(t, 30, l.States[0].Count)
		require.True(t, l.States[0].Mark)
		return nil
	}))
	require.Equal(t, 1, n)
}

// What was not seen excludes a rate only if the run ended well and every
// instance was understood.
func TestExcludedOnlyAfterGoodRuns(t *testing.T) {
	for status, good := range map[string]bool{report.StatusDone: true, report.StatusInterrupted: true, report.StatusTimeout: false, report.StatusFault: false} {
		m := measured(t, 0)
		m.Status = status
		h := m.Event()
		if good {
			require.InEpsilon(t, 2.9957e-6, h.Rate.Excluded, 1e-4, status)
		} else {
			require.Zero(t, h.Rate.Excluded, status)
		}
		m.Unexpected = 1
		require.Zero(t, m.Event().Rate.Excluded)
	}
	m := measured(t, 0)
	m.Histogram = runner.NewHistogram(m.Test)
	require.Nil(t, m.Event().Rate, "no instances, no statistics")
}
