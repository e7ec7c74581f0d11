package device

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus/herdlog"
	"optcheck/report"
	"optcheck/runner"
	"optcheck/runner/drive"
)

// measured is what becomes of a run of mp, ended by err, with so many weak
// outcomes and unexpected values.
func measured(t *testing.T, weak, unexpected uint64, err error) *event.Histogram {
	mp := tests(t, "mp")[0]
	h := runner.NewHistogram(mp)
	require.NoError(t, h.Add([]int64{1, 1}, 1000000-weak))
	require.NoError(t, h.Add([]int64{1, 0}, weak))
	j, e := NewJudge("ptx")
	require.NoError(t, e)
	var out *event.Histogram
	c := &series{device: TestedDevice(runner.Device{Backend: "cuda", Name: "H200", Driver: "580"}),
		o: Options{Seed: 7, Compiler: &Compiler{Target: "sm_90", Level: "O3"}, Emit: func(r *Result) { out = &r.Histogram }}}
	b := &Binary{Test: mp, Validated: true, Image: newImage(runner.Image{Kind: runner.ImageCubin, Data: []byte("cubin")})}
	verdict := j.Binary(t.Context(), b)
	r := c.empty(b, verdict)
	r.set = drive.Setting{Incantations: drive.Stress | drive.Random}
	r.Setting = r.set.String()
	r.fill(&drive.Outcome{Histogram: h, Other: unexpected, Elapsed: 2 * time.Second, Last: runner.State{Temperature: 40}}, verdict)
	if err != nil {
		r.fail(err)
	}
	c.emit(t.Context(), r)
	return out
}

// An event survives the stream, prints, and makes a log that is read.
func TestEvent(t *testing.T) {
	h := measured(t, 30, 0, nil)
	require.NoError(t, h.Check())
	require.EqualValues(t, 1000000, h.Instances)
	require.EqualValues(t, 30, h.Weak)
	require.InEpsilon(t, 3e-5, h.Rate.Rate, 1e-12)
	require.Less(t, h.Rate.Low, 3e-5)
	require.Greater(t, h.Rate.High, 3e-5)
	require.InEpsilon(t, 15, h.Rate.PerSecond, 1e-12)
	require.Zero(t, h.Rate.Excluded)
	require.Len(t, h.Image, 64)

	var stream bytes.Buffer
	w := event.NewJSONLines(&stream)
	require.NoError(t, w.Handle(event.Event{Config: &event.Config{Schema: event.Schema}}))
	require.NoError(t, w.Handle(event.Event{Histogram: h}))
	require.NoError(t, w.Close())
	run := event.NewRun()
	require.NoError(t, event.Read("stream", &stream, run.Handle))
	require.Equal(t, []event.Histogram{*h}, run.Histograms)
	var text bytes.Buffer
	require.NoError(t, report.WriteText(&text, run, report.TextOptions{}))
	require.Regexp(t, `mp +H200 +stress\+random +1000000 +30 +3 +2\.02–4\.28 +100\.0 %`, text.String())

	var log bytes.Buffer
	log.Write(LogBlock(h).Append(nil))
	require.Contains(t, log.String(), "Device H200, driver 580")
	n := 0
	require.NoError(t, herdlog.Read("log", &log, func(l *herdlog.Test) error {
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
	for err, want := range map[error]string{nil: event.StatusDone, runner.ErrTimeout: event.StatusTimeout,
		runner.ErrFault: event.StatusFault} {
		h := measured(t, 0, 0, err)
		require.Equal(t, want, h.Status)
		if err == nil {
			require.InEpsilon(t, 2.9957e-6, h.Rate.Excluded, 1e-4)
			require.NotEmpty(t, h.Unseen)
		} else {
			require.Zero(t, h.Rate.Excluded, err)
			require.Empty(t, h.Unseen)
		}
		require.Zero(t, measured(t, 0, 1, err).Rate.Excluded)
	}
	require.Nil(t, rate(&event.Histogram{}, 1), "no instances, no statistics")
}

// Without randomised threads the instances of a warp count as one: 30 weak ones are at
// most one block.
func TestBlocks(t *testing.T) {
	for set, want := range map[drive.Incantations]uint64{drive.None: 32, drive.Stress | drive.Sync: 32, drive.Random: 1, drive.All: 1} {
		r := &Result{set: drive.Setting{Incantations: set}}
		require.Equal(t, want, r.block(), set.String())
		r.unit = 4096
		require.EqualValues(t, 4096, r.block(), "asked for")
	}
	h := &event.Histogram{Status: event.StatusDone, Instances: 3200, Weak: 64}
	r := rate(h, 32)
	require.InEpsilon(t, 0.02, r.Rate, 1e-12)
	require.Equal(t, runner.RateInterval(2, 100), runner.Interval{Low: r.Low, High: r.High})
	h.Weak = 0
	require.Equal(t, runner.Excluded(100), rate(h, 32).Excluded)
}
