package campaign

import (
	"context"
	"slices"
	"time"
)

// Engine executes tasks. Job identifiers are the engine's own.
type Engine interface {
	// Submit submits the tasks of a job and returns its identifier. The tasks need not have
	// started when it returns.
	Submit(ctx context.Context, j Job) (id string, err error)
	// Status returns the states of the tasks of jobs, which are in the order of submission. For
	// a task in several jobs, it returns where the task runs or waits, if it does; otherwise
	// how it ended in the last one.
	Status(ctx context.Context, jobs []Submission) (map[Task]State, error)
	// Cancel ends jobs, including those that have not begun. A job that is over is not an
	// error.
	Cancel(ctx context.Context, jobs []Submission) error
}

// Job is a set of tasks of one stage that are submitted together.
type Job struct {
	Stage Stage
	Tasks []int // sorted
	// After lists the jobs that must have ended before, with whatever result. Each task also
	// waits for its namesake, the task of equal index in the jobs of Same, to succeed; if that
	// fails, the task is not started at all.
	After []string
	Same  []string
}

// Phase is the phase of a task in the engine.
type Phase int

// The phases. Gone means that the engine does not know the task, or no longer does.
const (
	Gone Phase = iota
	Ended
	Failed
	Waiting
	Running
)

// State is what an engine reports about a task.
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
	// Engine is the engine that issued the identifier.
	Engine string `json:"engine"`
	// Command is the command that submitted it, for people.
	Command []string `json:"command,omitempty"`
}

// has reports whether a task is in a job.
func (s *Submission) has(t Task) bool {
	return s.Stage == t.Stage && slices.Contains(s.Tasks, t.Index)
}

// latest combines the states of tasks of several jobs, given in the order of submission, as
// Engine.Status requires.
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
