package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/spec"
	"optcheck/toolchain"
)

// job is one compiler invocation's worth of cells: the tests of a chunk in all layouts for one
// toolchain, target and level.
type job struct {
	tc     *toolchain.Toolchain
	road   pipeline.Pipeline
	target string
	level  string
	chunk  *chunk // nil where only the place in the matrix matters
}

// chunk is a slice of the tests. The matrix is processed chunk by chunk, so that memory does
// not grow with the number of tests, and a killed run loses only part of one chunk.
type chunk struct {
	first         int      // number of its first test
	names, hashes []string // of its tests
	packed        *Packed  // where the tests are; nil if they are in memory

	mu      sync.Mutex
	tests   []*litmus.Test       // in canonical form; nil while nobody needs them
	emitted map[string]*emission // by source
	left    map[string]int       // unfinished jobs by source
}

// defaultChunk is the number of tests in a chunk, enough to fill a compiler process with
// kernels.
const defaultChunk = 512

// Shard is part I of N of a matrix, counted from 1; the zero value is the whole matrix.
type Shard struct{ I, N int }

// String returns "i/n", or "" for the whole matrix.
func (s Shard) String() string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.I, s.N)
}

// jobsPerShard is the minimum number of jobs per shard, so that shards take about equally long
// although compilers differ in speed.
const jobsPerShard = 4

// plan lists the jobs of the matrix, or of the requested shard, sorted by chunk, toolchain,
// target and level. It depends on the options alone: shards planned on different machines make
// up the matrix.
func (o *Options) plan() ([]job, error) {
	tests := o.count()
	if tests == 0 {
		return nil, errors.New("no tests to audit")
	}
	if len(o.Layouts) == 0 {
		o.Layouts = spec.Layouts
	}
	o.Layouts = pipeline.Once(o.Layouts)
	if s := o.Shard; s != (Shard{}) && (s.I < 1 || s.I > s.N) {
		return nil, fmt.Errorf("shard %v: must be i/n with 1 <= i <= n", s)
	}
	places, err := o.jobs()
	if err != nil {
		return nil, err
	}
	size := cmp.Or(o.Chunk, defaultChunk)
	if want := jobsPerShard * o.Shard.N; want > len(places) {
		// With fewer places, chunks must be smaller.
		chunks := min((want+len(places)-1)/len(places), tests)
		size = min(size, (tests+chunks-1)/chunks)
	}
	var jobs []job
	for first := 0; first < tests; first += size {
		c := o.chunk(first, min(size, tests-first))
		for _, j := range places {
			j.chunk = c
			jobs = append(jobs, j)
		}
	}
	return o.Shard.of(jobs), nil
}

// Config describes the whole matrix, whatever the shard, like the first event of an audit.
func (o Options) Config() (*event.Config, error) {
	o.Shard = Shard{}
	jobs, err := o.plan()
	if err != nil {
		return nil, err
	}
	return o.config(o.cells(jobs))
}

// count returns the number of tests.
func (o *Options) count() int {
	if o.Packed != nil {
		return o.Packed.Len()
	}
	return len(o.Tests)
}

// chunk returns n tests, beginning with number first.
func (o *Options) chunk(first, n int) *chunk {
	if p := o.Packed; p != nil {
		c := newChunk(nil, first)
		c.packed, c.names, c.hashes = p, p.names[first:first+n], p.hashes[first:first+n]
		return c
	}
	return newChunk(o.Tests[first:first+n], first)
}

func newChunk(tests []*litmus.Test, first int) *chunk {
	c := &chunk{first: first, emitted: map[string]*emission{}, left: map[string]int{}}
	for _, t := range tests {
		// Results are stored under the hash: what it leaves out must not affect them.
		c.tests = append(c.tests, t.Canonical())
		c.names, c.hashes = append(c.names, t.Name), append(c.hashes, t.Hash())
	}
	return c
}

// open makes sure that the tests are in memory. They stay there until the last job of the chunk
// ends.
func (c *chunk) open() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tests != nil {
		return nil
	}
	list, err := c.packed.unpack(c.first, len(c.names))
	c.tests = testsOf(list)
	return err
}

// of deals the jobs to the shards like cards after shuffling: neighbours, which differ in their
// level, cost about the same, and a plain deal would give all jobs of one level to one shard.
func (s Shard) of(jobs []job) []job {
	if s.N <= 1 {
		return jobs
	}
	rank := make([]uint64, len(jobs))
	order := make([]int, len(jobs))
	for i, j := range jobs {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %s", j.chunk.first, j.tc.ID, j.target, j.level))
		rank[i], order[i] = binary.BigEndian.Uint64(sum[:]), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	var mine []int
	for k, i := range order {
		if k%s.N == s.I-1 {
			mine = append(mine, i)
		}
	}
	slices.Sort(mine)
	out := make([]job, len(mine))
	for k, i := range mine {
		out[k] = jobs[i]
	}
	return out
}

// cells returns the number of cells of some jobs.
func (o *Options) cells(jobs []job) (n int) {
	for _, j := range jobs {
		n += len(j.chunk.names) * len(o.Layouts)
	}
	return n
}

// cell returns the place of a job's cell, undecided.
func (o *Options) cell(j job, i int) event.Cell {
	n := len(o.Layouts)
	return event.Cell{Test: j.chunk.names[i/n], Hash: j.chunk.hashes[i/n], Toolchain: j.tc.ID, Target: j.target,
		Level: j.level, Layout: o.Layouts[i%n].String(), Result: event.Result{Class: event.Unknown, Reason: "not reached"}}
}

// emission returns the kernels of a chunk for a source, which are made once.
func (c *chunk) emission(key string, fill func(*emission)) *emission {
	c.mu.Lock()
	e := c.emitted[key]
	if e == nil {
		e = &emission{}
		c.emitted[key] = e
	}
	c.mu.Unlock()
	e.once.Do(func() { fill(e) })
	return e
}

// begin records that a job will be worked on.
func (c *chunk) begin(source string) { c.left[source]++ }

// end records that a job of the chunk has ended. After the last job that uses its kernels these
// are freed, after the last job of the chunk also its tests.
func (c *chunk) end(source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left[source]--; c.left[source] > 0 {
		return
	}
	delete(c.emitted, source)
	delete(c.left, source)
	if len(c.left) == 0 && c.packed != nil {
		c.tests = nil
	}
}
