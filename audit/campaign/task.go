package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/whole"
)

// Stage is a kind of task.
type Stage string

// The stages, in the order in which they depend on each other.
const (
	Shards Stage = "shard" // audit a part, and compile for the device
	Device Stage = "gpu"   // run what a shard has compiled
	Merge  Stage = "merge" // join all stores
)

// Stages are all stages.
var Stages = []Stage{Shards, Device, Merge}

// Task is one piece of work: a part of a stage, counted from 1. It can be executed anywhere, at
// any time after what it depends on, and more than once.
type Task struct {
	Stage Stage `json:"stage"`
	Index int   `json:"index"`
}

func (t Task) String() string {
	if t.Stage == Merge {
		return string(t.Stage)
	}
	return fmt.Sprintf("%s %d", t.Stage, t.Index)
}

// folder returns the folder of a task's files, relative to the campaign's.
func (t Task) folder() string { return filepath.Join(string(t.Stage), fmt.Sprintf("%05d", t.Index)) }

// Done is the record of a successful task.
type Done struct {
	Plan    string    `json:"plan"`  // of which plan
	Store   string    `json:"store"` // the file with its results, in the task's folder; "" for none
	Cells   int       `json:"cells"`
	Host    string    `json:"host"`
	Seconds float64   `json:"seconds"`
	End     time.Time `json:"end"`
}

// Progress is the progress of a task.
type Progress struct {
	Done  int       `json:"done"`
	Total int       `json:"total"`
	Host  string    `json:"host"`
	At    time.Time `json:"at"`
}

// The files of a task.
const (
	doneFile     = "done.json"
	progressFile = "progress.json"
	tryPrefix    = "try-"
	storeSuffix  = ".db"
)

// maxTries bounds how often a task can begin.
const maxTries = 10000

// maxState bounds small files of the campaign's folder, in bytes.
const maxState = 64 << 20

// readJSON reads a small file; the error is fs.ErrNotExist if there is none.
func readJSON(path string, into any) error {
	data, err := input.ReadFile(path, maxState)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeJSON replaces a file atomically: a reader sees the old or the new content, also after a
// crash.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return whole.WriteSynced(filepath.Dir(path), path, append(data, '\n'), 0o644)
}

// Done returns the record of a task; nil if it has not succeeded under this plan.
func (c *Campaign) Done(t Task) (*Done, error) {
	var d Done
	err := readJSON(c.path(t.folder(), doneFile), &d)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case d.Plan != c.Plan.ID:
		return nil, nil
	case d.Store != "" && d.Store != filepath.Base(d.Store):
		return nil, fmt.Errorf("%s: %q is not a file of this folder", c.path(t.folder(), doneFile), d.Store)
	}
	return &d, nil
}

// Forget marks a task as not done.
func (c *Campaign) Forget(t Task) error {
	err := os.Remove(c.path(t.folder(), doneFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Result returns the store of a finished task.
func (c *Campaign) Result(t Task) (string, error) {
	d, err := c.Done(t)
	if err == nil && d == nil {
		err = fmt.Errorf("%v is not done", t)
	}
	if err != nil {
		return "", err
	}
	return c.StoreOf(t, d), nil
}

// StoreOf returns the store that d names for a task.
func (c *Campaign) StoreOf(t Task, d *Done) string { return c.path(t.folder(), d.Store) }
