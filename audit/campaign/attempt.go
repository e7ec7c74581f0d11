package campaign

import (
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

	"optcheck/internal/input"
	"optcheck/internal/whole"
)

// Attempt is one attempt at a task. Each has a store of its own, so that an attempt that is
// wrongly believed dead cannot harm the next.
type Attempt struct {
	Task Task
	// Store is the file for the results: a copy of what an earlier attempt has left, or not yet
	// existing.
	Store string
	// Resumed reports whether Store is such a copy.
	Resumed bool
	// Last reports that no further attempt follows automatically.
	Last bool

	c     *Campaign
	start time.Time
	last  time.Time
}

// ErrDone is returned for a task that is done.
var ErrDone = errors.New("done already")

// Begin begins an attempt. It returns ErrDone if the task is done.
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
	if st, err := os.Lstat(dir); err != nil || !st.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s is not a folder", dir))
	}
	if err := onlyFiles(dir, func(string) bool { return true }); err != nil {
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

// tries lists the numbers of earlier attempts that have a store, in order.
func tries(dir string) (out []int, err error) {
	names, err := input.ReadDir(dir)
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

// walSuffix is the suffix of the file beside a database that holds the latest commits.
const walSuffix = "-wal"

// resume copies what an earlier attempt has left. If nobody wrote to it meanwhile, the database
// recovers from that state, as after a power failure. Otherwise, or if there is nothing, the
// attempt starts from scratch.
func (a *Attempt) resume(old string) bool {
	before, ok := stamp(old)
	if !ok {
		return false
	}
	err := errors.Join(copyFile(old, a.Store, 0o644), copyFile(old+walSuffix, a.Store+walSuffix, 0o644))
	if after, ok := stamp(old); err == nil && ok && after == before {
		return true
	}
	a.Discard()
	return false
}

// Discard removes the store of an attempt, so that it starts from scratch.
func (a *Attempt) Discard() {
	a.Resumed = false
	for _, s := range []string{"", walSuffix, "-shm"} {
		os.Remove(a.Store + s)
	}
}

// stamp returns the modification times and sizes of a database and its log.
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

// copyFile copies a file; a missing file is not an error.
func copyFile(from, to string, perm os.FileMode) error {
	in, err := input.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := whole.Create(to, perm)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Place()
}

// progressEvery is the interval at which a task reports its progress.
const progressEvery = time.Second

// Progress reports the progress of the task. It may be called often, by one goroutine at a
// time; failing to write is no error, as the work goes on.
func (a *Attempt) Progress(done, total int) {
	if now := time.Now(); now.Sub(a.last) >= progressEvery {
		a.last = now
		_ = writeJSON(a.c.path(a.Task.folder(), progressFile), Progress{Done: done, Total: total, Host: host(), At: now.UTC()})
	}
}

// Finish declares the task done. The store must be closed; hasStore reports whether there is
// one.
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

// syncFile makes sure that a file survives a crash of this machine.
func syncFile(path string) error {
	f, err := input.Open(path)
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
