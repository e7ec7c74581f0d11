package campaign

import (
	"context"
	"slices"
	"time"
)

// Engine works on tasks. Job identifiers are the engine's own words.
type Engine interface {
	// Submit hands over the tasks of a job and returns its identifier. They
	// need not have been started when it returns.
	Submit(ctx context.Context, j Job) (id string, err error)
	// Status tells the state of the tasks of some jobs, which are in the order of
	// their submission. Of a task that is in several of them, it tells where it
	// runs or waits, if it does; otherwise how it ended in the last one.
	Status(ctx context.Context, jobs []Submission) (map[Task]State, error)
	// Cancel ends jobs, also those that have not begun. Jobs that are over are
	// no error.
	Cancel(ctx context.Context, jobs []Submission) error
}

// Job is what is submitted at once: tasks of one stage.
type Job struct {
	Stage Stage
	Tasks []int // sorted
	// After are the jobs that must have ended before, however they ended. Each
	// task also waits for its namesake, the task of equal index in the jobs of
	// Same, to end well; if that fails, it is not started at all.
	After []string
	Same  []string
}

// Phase is where the engine has a task.
type Phase int

// The phases. Gone is a task that the engine does not know, or no more.
const (
	Gone Phase = iota
	Ended
	Failed
	Waiting
	Running
)

// State is what an engine says of a task.
type State struct {
	Phase  Phase
	Reason string // why it waits or failed, in the engine's words
	Host   string
}

// Submission is a job that was submitted.
type Submission struct {
	ID    string    `json:"id"`
	Stage Stage     `json:"stage"`
	Tasks []int     `json:"tasks"`
	At    time.Time `json:"at"`
	// Engine is whose identifier it is.
	Engine string `json:"engine"`
	// Command is how it was submitted, for people.
	Command []string `json:"command,omitempty"`
}

// has reports whether a task is in a job.
func (s *Submission) has(t Task) bool {
	return s.Stage == t.Stage && slices.Contains(s.Tasks, t.Index)
}

// latest joins what is known of the tasks of several jobs, in the order of their
// submission, as Engine.Status wants it.
func latest(jobs []map[Task]State) map[Task]State {
	out := map[Task]State{}
	for _, states := range jobs {
		for t, s := range states {
			if s.Phase >= Waiting && s.Phase >= out[t].Phase || s.Phase < Waiting && out[t].Phase < Waiting {
				out[t] = s
			}
		}
	}
	return out
}
