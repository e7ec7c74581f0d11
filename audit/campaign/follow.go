package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"optcheck/internal/input"
)

// NewDriver returns a driver with the engine that the plan names. release frees what it holds:
// a local engine waits for its processes.
func NewDriver(c *Campaign) (d *Driver, release func(), err error) {
	switch name := c.Plan.Spec.Engine; name {
	case EngineLocal:
		l := NewLocal(c, c.Plan.Spec.Parallel)
		return &Driver{Campaign: c, Engine: l, Name: name}, l.Close, nil
	case EngineSlurm:
		s, err := NewSlurm(c)
		if err != nil {
			return nil, nil, err
		}
		return &Driver{Campaign: c, Engine: s, Name: name, Grace: 20 * time.Second}, func() {}, nil
	default:
		return nil, nil, fmt.Errorf("unknown engine %q", name)
	}
}

// Detaches reports whether tasks continue when the driver ends.
func (d *Driver) Detaches() bool { return d.Name == EngineSlurm }

// patience is how long an engine may fail to answer before Follow gives up.
const patience = 10 * time.Minute

// Follow advances a campaign at intervals until it is complete or stuck. It calls show after
// each step, and warn when the engine does not answer, as a cluster may for a while. It ends
// with ctx.
func (d *Driver) Follow(ctx context.Context, every time.Duration, show func(*Overview), warn func(error)) (*Overview, error) {
	var last *Overview
	var since time.Time
	for {
		o, err := d.Advance(ctx, true)
		switch {
		case ctx.Err() != nil:
			return last, ctx.Err()
		case err == nil:
			since = time.Time{}
			last = o
			show(o)
			if o.Complete() {
				return o, d.sweep(ctx)
			}
			if o.Stuck() {
				return o, nil
			}
		case last == nil || errors.Is(err, fs.ErrNotExist):
			return last, err
		default:
			if since.IsZero() {
				since = time.Now()
				warn(err)
			}
			if time.Since(since) > patience {
				return last, err
			}
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-time.After(every):
		}
	}
}

// Settle advances until it is known which tasks are lost. A process that is itself a task calls
// it, to leave everything submitted that is missing.
func (d *Driver) Settle(ctx context.Context) (*Overview, error) {
	for {
		o, err := d.Advance(ctx, true)
		if err != nil || !o.Unsure {
			return o, err
		}
		select {
		case <-ctx.Done():
			return o, ctx.Err()
		case <-time.After(max(d.Grace/4, 10*time.Millisecond)):
		}
	}
}

// sweep cancels what the engine still has of a complete campaign: tasks that were requeued when
// a node was lost, and were done all the same.
func (d *Driver) sweep(ctx context.Context) error {
	st, unlock, err := d.Campaign.lockState()
	if err != nil {
		return err
	}
	defer unlock()
	jobs := st.to(d.Name)
	states, err := d.Engine.Status(ctx, jobs)
	if err != nil {
		return err
	}
	jobs = slices.DeleteFunc(jobs, func(s Submission) bool {
		return !slices.ContainsFunc(s.Tasks, func(i int) bool { return states[Task{s.Stage, i}].Phase >= Waiting })
	})
	if len(jobs) == 0 {
		return nil
	}
	return d.Engine.Cancel(ctx, jobs)
}

// Cancel cancels everything in the engine and prevents it from being submitted again.
func (d *Driver) Cancel(ctx context.Context) error {
	st, unlock, err := d.Campaign.lockState()
	if err != nil {
		return err
	}
	defer unlock()
	st.Cancelled = true
	// Write the note first: otherwise the merge would submit what is being cancelled.
	return errors.Join(writeJSON(d.Campaign.path(stateFile), st), d.Engine.Cancel(ctx, st.to(d.Name)))
}

// Resume allows a cancelled campaign to continue, and lost tasks to be tried again.
func (d *Driver) Resume() error {
	st, unlock, err := d.Campaign.lockState()
	if err != nil {
		return err
	}
	defer unlock()
	st.Cancelled = false
	st.Failures, st.Reasons, st.Forgiven = nil, nil, len(st.Submissions)
	return writeJSON(d.Campaign.path(stateFile), st)
}

// Log returns the end of the newest log of a task, at most n bytes.
func (c *Campaign) Log(t Task, n int64) (file, text string) {
	files := input.Glob(c.path("logs"), fmt.Sprintf("%s-%d.*.log", t.Stage, t.Index))
	var newest time.Time
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && !st.ModTime().Before(newest) {
			newest, file = st.ModTime(), f
		}
	}
	if file == "" {
		return "", ""
	}
	f, err := input.Open(file)
	if err != nil {
		return file, ""
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > n {
		_, _ = f.Seek(-n, io.SeekEnd)
	}
	data, _ := io.ReadAll(io.LimitReader(f, n))
	return file, strings.TrimSpace(string(data))
}
