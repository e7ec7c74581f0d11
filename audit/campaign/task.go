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

// Stage is a kind of tasks.
type Stage string

// The stages, in the order in which they depend on each other.
const (
	Shards Stage = "shard" // audit a part, and compile for the device
	Device Stage = "gpu"   // run what a shard has compiled
	Merge  Stage = "merge" // join all stores
)

// Stages are all stages.
var Stages = []Stage{Shards, Device, Merge}

// Task is one piece of work: a part of a stage, counted from 1. It can be done
// anywhere, at any time after what it depends on, and more than once.
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

// folder returns where a task's files lie, below the campaign's.
func (t Task) folder() string { return filepath.Join(string(t.Stage), fmt.Sprintf("%05d", t.Index)) }

// Done says how a task ended well.
type Done struct {
	Plan    string    `json:"plan"`  // of which plan
	Store   string    `json:"store"` // the file with its results, in the task's folder; "" for none
	Cells   int       `json:"cells"`
	Host    string    `json:"host"`
	Seconds float64   `json:"seconds"`
	End     time.Time `json:"end"`
}

// Progress is how far a task is.
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

// readJSON reads a small file; it returns fs.ErrNotExist where there is none.
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

// writeJSON replaces a file: who reads it sees the old or the new content, also
// after a crash.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return whole.WriteSynced(filepath.Dir(path), path, append(data, '\n'), 0o644)
}

// Done reads how a task ended; nil if it has not ended well under this plan.
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
		return nil, fmt.Errorf("%s: %q is no file of this folder", c.path(t.folder(), doneFile), d.Store)
	}
	return &d, nil
}

// Forget makes a task one that is not done.
func (c *Campaign) Forget(t Task) error {
	err := os.Remove(c.path(t.folder(), doneFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Result returns the store that a task has left.
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

// StoreOf returns the store that a task has left, as Done tells.
func (c *Campaign) StoreOf(t Task, d *Done) string { return c.path(t.folder(), d.Store) }
