package campaign

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/litmus"
)

// Plan is a campaign as it was when it was created. It holds everything that its tasks need, so
// that all tasks see the same files, folders and program.
type Plan struct {
	ID    string   `json:"id"`    // a hash of the rest
	Tool  string   `json:"tool"`  // version of optcheck
	Build string   `json:"build"` // and its exact program
	Spec  *Spec    `json:"spec"`
	Parts []Part   `json:"parts"`
	Store string   `json:"store"`           // where the merged results go, absolute
	Known []string `json:"known,omitempty"` // absolute
	Cells int      `json:"cells"`
	// Compiler is the ID of the toolchain that compiles for the device.
	Compiler string `json:"compiler,omitempty"`
}

// Part is the part of the campaign for one vendor.
type Part struct {
	Vendor     string            `json:"vendor"`
	Toolchains []event.Toolchain `json:"toolchains"`
	Targets    []string          `json:"targets"`
	Levels     []string          `json:"levels"`
	Layouts    []string          `json:"layouts"`
	Source     string            `json:"source,omitempty"` // "" for the vendor's default
	Model      string            `json:"model,omitempty"`  // the models that judge, as the event stream names them
	Tests      int               `json:"tests"`
	Cells      int               `json:"cells"`
	Hash       string            `json:"tests_sha256"` // of the file of tests, uncompressed
}

// Campaign is a folder with a plan and the state of its tasks.
type Campaign struct {
	Dir  string // absolute
	Plan *Plan
}

// The files of a campaign's folder.
const (
	planFile    = "campaign.json"
	stateFile   = "state.json"
	lockFile    = "lock"
	programFile = "optcheck"
)

func (c *Campaign) path(parts ...string) string {
	return filepath.Join(append([]string{c.Dir}, parts...)...)
}

// Program returns the path of the program copy that executes tasks.
func (c *Campaign) Program() string { return c.path(programFile) }

// Tasks returns the number of tasks of a stage.
func (c *Campaign) Tasks(s Stage) int {
	switch {
	case s == Merge:
		return 1
	case s == Device && c.Plan.Spec.GPU == nil:
		return 0
	}
	return c.Plan.Spec.Shards
}

func testsFile(vendor string) string { return "tests." + vendor + ".jsonl.zst" }

// Test is a test with its origin. Source is its text in File, so that lines in reports are
// those of the file; "" for a test without one.
type Test struct {
	*litmus.Test
	Preset, File, Source string
}

// frozen is a test in a file of tests.
type frozen struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Preset string `json:"preset,omitempty"`
	File   string `json:"file,omitempty"`
	Text   string `json:"text"`
}

// Create creates a campaign's folder for a plan, whose parts have these tests, or opens it if
// it exists for the same plan. If the folder holds another plan that is complete, Create
// replaces it, so that a campaign can be extended; otherwise that is an error. program is the
// file that tasks run.
func Create(dir, program string, p *Plan, tests [][]Test) (*Campaign, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	c := &Campaign{Dir: dir, Plan: p}
	if err := c.noLinks(); err != nil {
		return nil, err
	}
	unlock, err := c.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	for i := range p.Parts {
		p.Parts[i].Tests = len(tests[i])
		if p.Parts[i].Hash, err = writeTests(io.Discard, tests[i]); err != nil {
			return nil, err
		}
	}
	if err := p.name(); err != nil {
		return nil, err
	}
	old, err := Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case old.Plan.ID == p.ID:
		return old, nil
	default:
		if d, err := old.Done(Task{Merge, 1}); err != nil || d == nil {
			return nil, errors.Join(err,
				fmt.Errorf("%s holds a campaign with another plan that is not complete; finish it (optcheck campaign attach), or name another folder",
					dir))
		}
	}
	return c, c.write(program, tests, old)
}

// name sets the plan's ID.
func (p *Plan) name() error {
	p.ID = ""
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	h := sha256.Sum256(data)
	p.ID = hex.EncodeToString(h[:6])
	return nil
}

// write fills the folder. The plan comes last: without it, there is no campaign.
func (c *Campaign) write(program string, tests [][]Test, old *Campaign) error {
	for i, part := range c.Plan.Parts {
		f, err := input.Create(c.path(testsFile(part.Vendor)))
		if err != nil {
			return err
		}
		z, err := zstd.NewWriter(f)
		if err != nil {
			return err
		}
		_, err = writeTests(z, tests[i])
		if err = errors.Join(err, z.Close(), f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	// All machines run this very program to the end.
	if err := copyFile(program, c.Program(), 0o755); err != nil {
		return err
	}
	if err := os.Remove(c.path(stateFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if old != nil && old.Plan.Spec.Shards != c.Plan.Spec.Shards {
		// The shards are divided differently: their results are useless.
		for _, s := range []Stage{Shards, Device} {
			if err := os.RemoveAll(c.path(string(s))); err != nil {
				return err
			}
		}
	}
	return writeJSON(c.path(planFile), c.Plan)
}

// noCampaign is the error for a path that is not a campaign folder.
type noCampaign struct {
	dir string
	err error
}

func (e *noCampaign) Error() string {
	return e.dir + " is not a campaign folder (optcheck campaign run FILE makes one)"
}

func (e *noCampaign) Unwrap() error { return e.err }

// Open opens a campaign's folder. If it does not exist, the error is fs.ErrNotExist.
func Open(dir string) (*Campaign, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := &Campaign{Dir: dir, Plan: &Plan{}}
	if err := readJSON(c.path(planFile), c.Plan); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil, &noCampaign{dir, err}
		}
		return nil, err
	}
	if err := c.noLinks(); err != nil {
		return nil, err
	}
	id := c.Plan.ID
	if c.Plan.Spec == nil || c.Plan.name() != nil || c.Plan.ID != id {
		return nil, fmt.Errorf("%s: damaged: its content does not have the plan's ID", c.path(planFile))
	}
	if c.Plan.Spec.Retries == nil {
		return nil, fmt.Errorf("%s: damaged", c.path(planFile))
	}
	return c, nil
}

// ownNames are the names of what is written in a campaign's folder.
var ownNames = regexp.MustCompile(`^(` + programFile + `(\.new)?|` + planFile + `|` + stateFile + `|` + lockFile +
	`|logs|shard|gpu|merge|job-.*\.sh|tests\..*)$`)

// noLinks checks that nothing that is written in the folder leads out of it: somebody else may have
// filled it.
func (c *Campaign) noLinks() error { return onlyFiles(c.Dir, ownNames.MatchString) }

// onlyFiles checks that what a folder has under some names are files and folders.
func onlyFiles(dir string, own func(name string) bool) error {
	entries, err := input.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if own(e.Name()) && !e.IsDir() && !e.Type().IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder: in the folder of a campaign nothing is followed; remove it",
				filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// lock prevents other processes from changing the state, including those on other machines if
// the file system supports that.
func (c *Campaign) lock() (unlock func(), err error) {
	f, err := input.Update(c.path(lockFile), 0o644)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(end), errors.Is(err, unix.EINTR):
			continue
		}
		f.Close()
		return nil, fmt.Errorf("%s: %w (is another optcheck at work on this campaign?)", c.path(lockFile), err)
	}
}

// writeTests writes tests as JSON lines and returns the hash of what it wrote.
func writeTests(w io.Writer, tests []Test) (string, error) {
	h := sha256.New()
	b := bufio.NewWriter(io.MultiWriter(w, h))
	enc := json.NewEncoder(b)
	for _, t := range tests {
		if t.Source == "" {
			t.Source = t.String()
		}
		if err := enc.Encode(frozen{t.Name, t.Hash(), t.Preset, t.File, t.Source}); err != nil {
			return "", err
		}
	}
	if err := b.Flush(); err != nil {
		return "", err
	}
	return sum(h), nil
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// maxTests bounds the tests of a part, in bytes.
const maxTests = 8 << 30

// Tests reads the tests of a part.
func (c *Campaign) Tests(p *Part) ([]Test, error) {
	var tests []Test
	err := c.EachTest(p, func(t Test, _ string) error {
		tests = append(tests, t)
		return nil
	})
	return tests, err
}

// EachTest calls yield for the tests of a part with their hashes, in order. The tests are known
// to be those of the plan only if it returns nil.
func (c *Campaign) EachTest(p *Part, yield func(t Test, hash string) error) error {
	name := c.path(testsFile(p.Vendor))
	f, err := input.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	h := sha256.New()
	dec := json.NewDecoder(io.TeeReader(io.LimitReader(z, maxTests), h))
	n := 0
	for ; ; n++ {
		var one frozen
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t, err := litmus.Parse(cmp.Or(one.File, one.Name), []byte(one.Text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if t.Hash() != one.Hash {
			return fmt.Errorf("%s: test %s is not the one that was frozen", name, one.Name)
		}
		if err := yield(Test{t, one.Preset, one.File, one.Text}, one.Hash); err != nil {
			return err
		}
	}
	if sum(h) != p.Hash || n != p.Tests {
		return fmt.Errorf("%s: damaged: these are not the tests of the plan", name)
	}
	return nil
}
