package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"time"
)

// state records what was submitted and what became of it. It is changed only under the
// campaign's lock.
type state struct {
	Submissions []Submission      `json:"submissions"`
	Failures    map[string]int    `json:"failures,omitempty"` // by task
	Reasons     map[string]string `json:"reasons,omitempty"`  // of the last failure
	// Forgiven is the number of submissions whose failures do not count.
	Forgiven  int  `json:"forgiven,omitempty"`
	Cancelled bool `json:"cancelled,omitempty"`
}

// jobID is what engines name jobs by: Slurm's numbers, and those of Local. They become arguments of
// Slurm's commands.
var jobID = regexp.MustCompile(`^[0-9]+(-[0-9a-f]+-[0-9]+)?$`)

func (c *Campaign) readState() (*state, error) {
	st := &state{}
	if err := readJSON(c.path(stateFile), st); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, s := range st.Submissions {
		if !jobID.MatchString(s.ID) || !slices.Contains(Stages, s.Stage) {
			return nil, fmt.Errorf("%s: damaged: %q is no job of a campaign", c.path(stateFile), s.ID)
		}
	}
	if st.Failures == nil {
		st.Failures = map[string]int{}
	}
	if st.Reasons == nil {
		st.Reasons = map[string]string{}
	}
	return st, nil
}

// lockState reads the state and prevents others from changing it until unlock is called.
func (c *Campaign) lockState() (st *state, unlock func(), err error) {
	if unlock, err = c.lock(); err != nil {
		return nil, nil, err
	}
	if st, err = c.readState(); err != nil {
		unlock()
		return nil, nil, err
	}
	return st, unlock, nil
}

// to lists the submissions to an engine.
func (st *state) to(engine string) (out []Submission) {
	for _, s := range st.Submissions {
		if s.Engine == engine {
			out = append(out, s)
		}
	}
	return out
}

// of lists the submissions to an engine that contain a task in open.
func (st *state) of(engine string, open map[Task]bool) []Submission {
	return slices.DeleteFunc(st.to(engine), func(s Submission) bool {
		return !slices.ContainsFunc(s.Tasks, func(i int) bool { return open[Task{s.Stage, i}] })
	})
}

// Driver advances a campaign: it looks at what is done and at the engine, and submits what is
// missing. Several drivers of one campaign do not disturb each other.
type Driver struct {
	Campaign *Campaign
	Engine   Engine
	Name     string // the engine's name
	// Grace is how long a task may be missing from the engine before it counts as lost: what it
	// wrote last may still be on its way through a shared file system.
	Grace time.Duration
	// Self is the task that this process performs, if any.
	Self *Task

	gone map[Task]time.Time
}

// Advance determines the state of the campaign and, with submit, submits the tasks that are
// neither done nor with the engine. Tasks that fail more often than the plan allows are lost,
// and then nothing is merged.
func (d *Driver) Advance(ctx context.Context, submit bool) (*Overview, error) {
	c := d.Campaign
	st, unlock, err := c.lockState()
	if err != nil {
		return nil, err
	}
	defer unlock()
	v := &view{d: d, st: st, open: map[Task]bool{}, done: map[Task]*Done{}}
	if err := v.look(ctx); err != nil {
		return nil, err
	}
	if st.Cancelled && !d.Detaches() && len(v.engine) > 0 {
		// Another process cannot reach the tasks of this process's engine.
		if err := d.Engine.Cancel(ctx, st.of(d.Name, v.open)); err != nil {
			return nil, err
		}
	}
	if submit && !st.Cancelled {
		if err := os.MkdirAll(c.path("logs"), 0o755); err != nil {
			return nil, err
		}
		err = errors.Join(v.submit(ctx), writeJSON(c.path(stateFile), st))
		if err != nil {
			return nil, err
		}
	}
	return v.overview(), nil
}

// view is the campaign as seen by one call of Advance.
type view struct {
	d      *Driver
	st     *state
	open   map[Task]bool // not done
	done   map[Task]*Done
	engine map[Task]State
	unsure bool
}

// look reads what is done, and asks the engine about the rest.
func (v *view) look(ctx context.Context) error {
	c := v.d.Campaign
	for _, s := range Stages {
		for i := 1; i <= c.Tasks(s); i++ {
			t := Task{s, i}
			d, err := c.Done(t)
			if err != nil {
				return err
			}
			if v.done[t] = d; d == nil {
				v.open[t] = true
			}
		}
	}
	var err error
	if jobs := v.st.of(v.d.Name, v.open); len(jobs) > 0 {
		if v.engine, err = v.d.Engine.Status(ctx, jobs); err != nil {
			return err
		}
	}
	if v.d.gone == nil {
		v.d.gone = map[Task]time.Time{}
	}
	return nil
}

// submitted reports whether a task was ever submitted to an engine.
func (v *view) submitted(t Task) bool {
	return slices.ContainsFunc(v.st.Submissions, func(s Submission) bool { return s.has(t) })
}

// live reports whether a task need not be submitted: the engine has it, or had it until a
// moment ago.
func (v *view) live(t Task) bool {
	switch p := v.engine[t].Phase; {
	case v.d.Self != nil && *v.d.Self == t:
		return false // and about to end
	case p == Waiting || p == Running:
		delete(v.d.gone, t)
		return true
	case p == Failed || !v.submitted(t):
		delete(v.d.gone, t)
		return false
	}
	since, known := v.d.gone[t]
	if !known {
		since = time.Now()
		v.d.gone[t] = since
	}
	if time.Since(since) < v.d.Grace {
		v.unsure = true
		return true
	}
	return false
}

// lost reports whether a task has failed too often.
func (v *view) lost(t Task) bool {
	return v.st.Failures[t.String()] > *v.d.Campaign.Plan.Spec.Retries
}

// fail records the failure of a task that was submitted and is neither done nor with the
// engine.
func (v *view) fail(t Task) {
	if !slices.ContainsFunc(v.st.Submissions[min(v.st.Forgiven, len(v.st.Submissions)):], func(s Submission) bool { return s.has(t) }) {
		return
	}
	delete(v.d.gone, t)
	v.st.Failures[t.String()]++
	r := v.engine[t].Reason
	if r == "" {
		r = "ended without a result"
	}
	v.st.Reasons[t.String()] = r
}

// submit submits what is missing: shards, then runs on devices, each after its shard, then the
// merge after everything.
func (v *view) submit(ctx context.Context) error {
	c := v.d.Campaign
	missing := map[Stage][]int{}
	for _, s := range []Stage{Shards, Device} {
		for i := 1; i <= c.Tasks(s); i++ {
			t, shard := Task{s, i}, Task{Shards, i}
			if !v.open[t] || v.live(t) || v.lost(t) {
				continue
			}
			if s == Shards || !v.open[shard] {
				v.fail(t)
			}
			if v.lost(t) || v.lost(shard) {
				continue
			}
			missing[s] = append(missing[s], i)
		}
		if len(missing[s]) == 0 {
			continue
		}
		for _, j := range v.jobs(s, missing[s]) {
			if err := v.job(ctx, j); err != nil {
				return err
			}
		}
	}
	return v.merge(ctx, len(missing) > 0)
}

// jobs groups tasks into jobs: one, or, for runs on devices, one for each job that their shards
// are in.
func (v *view) jobs(s Stage, tasks []int) (out []Job) {
	at := map[string]int{}
	for _, i := range tasks {
		shard, same := Task{Shards, i}, ""
		if s == Device && v.open[shard] {
			same = v.last(shard)
		}
		k, ok := at[same]
		if !ok {
			k = len(out)
			at[same] = k
			out = append(out, Job{Stage: s})
			if same != "" {
				out[k].Same = []string{same}
			}
		}
		out[k].Tasks = append(out[k].Tasks, i)
	}
	return out
}

// last returns the job with which a task was last submitted; "" for none.
func (v *view) last(t Task) string {
	for _, s := range slices.Backward(v.st.Submissions) {
		if s.Engine == v.d.Name && s.has(t) {
			return s.ID
		}
	}
	return ""
}

// merge submits the merge, unless one already waits for everything.
func (v *view) merge(ctx context.Context, more bool) error {
	t := Task{Merge, 1}
	if !v.open[t] {
		return nil
	}
	var after []string
	before := 0
	for _, s := range []Stage{Shards, Device} {
		for i := 1; i <= v.d.Campaign.Tasks(s); i++ {
			o := Task{s, i}
			if !v.open[o] {
				continue
			}
			before++
			if v.lost(o) {
				return nil // there will be nothing to merge
			}
			if id := v.last(o); id != "" && !slices.Contains(after, id) {
				after = append(after, id)
			}
		}
	}
	if !more && (v.live(t) || v.lost(t)) {
		return nil
	}
	if more {
		if err := v.cancelMerges(ctx); err != nil {
			return err
		}
	} else if before == 0 {
		v.fail(t)
		if v.lost(t) {
			return nil
		}
	}
	return v.job(ctx, Job{Stage: Merge, Tasks: []int{1}, After: after})
}

// cancelMerges cancels queued merges that do not wait for everything.
func (v *view) cancelMerges(ctx context.Context) error {
	if v.d.Self != nil && v.d.Self.Stage == Merge {
		return nil // this very process
	}
	var old []Submission
	for _, s := range v.st.Submissions {
		if s.Stage == Merge && s.Engine == v.d.Name {
			old = append(old, s)
		}
	}
	if len(old) == 0 {
		return nil
	}
	return v.d.Engine.Cancel(ctx, old)
}

// job submits one job and records it at once.
func (v *view) job(ctx context.Context, j Job) error {
	id, err := v.d.Engine.Submit(ctx, j)
	if err != nil {
		return fmt.Errorf("%s tasks could not be submitted: %w", j.Stage, err)
	}
	v.st.Submissions = append(v.st.Submissions, Submission{ID: id, Stage: j.Stage, Tasks: j.Tasks, At: time.Now().UTC(), Engine: v.d.Name})
	if v.engine == nil {
		v.engine = map[Task]State{}
	}
	for _, i := range j.Tasks {
		v.engine[Task{j.Stage, i}] = State{Phase: Waiting}
	}
	return writeJSON(v.d.Campaign.path(stateFile), v.st)
}
