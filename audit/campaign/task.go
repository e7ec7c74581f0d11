package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
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

// folder is where a task's files lie, below the campaign's.
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
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return err
	}
	if len(data) > maxState {
		return fmt.Errorf("%s: larger than %d bytes", path, maxState)
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
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
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

// Result is the store that a task has left.
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

// StoreOf is the store that a task has left, as Done tells.
func (c *Campaign) StoreOf(t Task, d *Done) string { return c.path(t.folder(), d.Store) }

// Attempt is one try at a task. Each has a store of its own, so that a try that
// was believed dead and is not cannot harm the next.
type Attempt struct {
	Task Task
	// Store is where the results go: a copy of what an earlier try has left,
	// or nothing yet.
	Store string
	// Resumed tells that Store is such a copy.
	Resumed bool
	// Last tells that no other try will follow by itself.
	Last bool

	c     *Campaign
	start time.Time
	last  time.Time
}

// ErrDone says that there is nothing to do for a task.
var ErrDone = errors.New("done already")

// Begin begins a try. It returns ErrDone if the task is done.
func (c *Campaign) Begin(t Task) (*Attempt, error) {
	d, err := c.Done(t)
	if err != nil {
		return nil, err
	}
	if d != nil {
		return nil, ErrDone
	}
	dir := c.path(t.folder())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	a := &Attempt{Task: t, c: c, start: time.Now()}
	tries, err := tries(dir)
	if err != nil {
		return nil, err
	}
	for n := 1; n <= maxTries; n++ {
		a.Store = filepath.Join(dir, tryPrefix+strconv.Itoa(n)+storeSuffix)
		f, err := os.OpenFile(filepath.Join(dir, tryPrefix+strconv.Itoa(n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(f, "%s %d %s\n", host(), os.Getpid(), a.start.UTC().Format(time.RFC3339))
		if err := f.Close(); err != nil {
			return nil, err
		}
		a.Last = n > *c.Plan.Spec.Retries
		for _, old := range slices.Backward(tries) {
			if a.Resumed = a.resume(filepath.Join(dir, tryPrefix+strconv.Itoa(old)+storeSuffix)); a.Resumed {
				break
			}
		}
		return a, nil
	}
	return nil, fmt.Errorf("%v was begun %d times", t, maxTries)
}

// tries lists the numbers of earlier tries that have a store, in order.
func tries(dir string) (out []int, err error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range names {
		s, ok1 := strings.CutPrefix(e.Name(), tryPrefix)
		s, ok2 := strings.CutSuffix(s, storeSuffix)
		if n, err := strconv.Atoi(s); ok1 && ok2 && err == nil && e.Type().IsRegular() {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// walSuffix is of the file beside a database that holds what was committed last.
const walSuffix = "-wal"

// resume copies what an earlier try has left. That is a state from which the
// database recovers, as after a loss of power, if nobody wrote to it meanwhile;
// if somebody did, or there is nothing, the try begins anew.
func (a *Attempt) resume(old string) bool {
	before, ok := stamp(old)
	if !ok {
		return false
	}
	err := errors.Join(copyFile(old, a.Store), copyFile(old+walSuffix, a.Store+walSuffix))
	if after, ok := stamp(old); err == nil && ok && after == before {
		return true
	}
	a.Discard()
	return false
}

// Discard removes the store of a try, so that it begins anew.
func (a *Attempt) Discard() {
	a.Resumed = false
	for _, s := range []string{"", walSuffix, "-shm"} {
		os.Remove(a.Store + s)
	}
}

// stamp is when a database and its log were written last, and their sizes.
func stamp(path string) (s [4]int64, ok bool) {
	for i, f := range []string{path, path + walSuffix} {
		st, err := os.Stat(f)
		switch {
		case err == nil:
			s[2*i], s[2*i+1] = st.ModTime().UnixNano(), st.Size()
		case i == 0 || !errors.Is(err, fs.ErrNotExist):
			return s, false
		}
	}
	return s, s[1]+s[3] > 0
}

// copyFile copies a file; one that is not there is no error.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// progressEvery is how often a task tells how far it is.
const progressEvery = time.Second

// Progress tells how far the task is. It may be called often, and by one
// goroutine at a time; failing to write is no error, as the work goes on.
func (a *Attempt) Progress(done, total int) {
	if now := time.Now(); now.Sub(a.last) >= progressEvery {
		a.last = now
		_ = writeJSON(a.c.path(a.Task.folder(), progressFile), Progress{Done: done, Total: total, Host: host(), At: now.UTC()})
	}
}

// Finish declares the task done. The store must be closed; hasStore tells
// whether there is one.
func (a *Attempt) Finish(cells int, hasStore bool) error {
	d := Done{Plan: a.c.Plan.ID, Cells: cells, Host: host(), Seconds: time.Since(a.start).Seconds(), End: time.Now().UTC()}
	if hasStore {
		d.Store = filepath.Base(a.Store)
		if err := syncFile(a.Store); err != nil {
			return err
		}
	}
	return writeJSON(a.c.path(a.Task.folder(), doneFile), d)
}

// syncFile makes sure that a file outlives this machine.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func host() string {
	if n := os.Getenv("SLURMD_NODENAME"); n != "" {
		return n
	}
	h, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return h
}
