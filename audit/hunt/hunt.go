// Package hunt looks for what compilers do to concurrent code that has no known name
// yet: it composes tests at random, by a seed, out of bases and opportunities for a
// compiler to optimise (package cycle), audits them, and puts what is found together
// by signature.
//
// It judges nothing itself, and does not reduce or report findings to anybody.
package hunt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"optcheck/audit"
	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/litmus"
)

// Options says what to hunt with, and for how long.
type Options struct {
	// Audit is the matrix, and how audits are done; its tests are the hunt's.
	Audit audit.Options
	Bases []Base
	// Seed decides, with Bases and the results, which tests are composed.
	Seed uint64
	// Tests bounds the number of tests, For the time; 0 is no bound.
	Tests int
	For   time.Duration
	// Known names the known findings that a finding of a cell is an instance of; nil
	// knows none.
	Known func(*event.Cell, *event.Finding) []string
	// Store, if not nil, keeps the results; what it knows is not audited again.
	Store *store.Store
	// Composed, if not nil, is told of the tests of each batch, in order. Found is told of
	// each new signature, Progress of whatever has been done; one call at a time.
	Composed func([]*litmus.Test)
	Found    func(*Row) error
	Progress func(Progress)
}

// Progress says how far a hunt is.
type Progress struct {
	Tests int `json:"tests"`
	Cells int `json:"cells"`
	// Decided are the cells of which something is known.
	Decided int `json:"decided"`
	// UnderWay are cells that are done, but not looked at.
	UnderWay int     `json:"under_way,omitempty"`
	Seconds  float64 `json:"seconds"`
	New      int     `json:"new"`   // signatures without a known name
	Known    int     `json:"known"` // known findings that were seen
	// Last is when the last new signature came, in seconds of the hunt.
	Last float64 `json:"last_new_seconds"`
	// Keys are the pairs of opportunity and synchronisation that are known so far, Covered those of them that
	// the current round has tried, Round its number from 1.
	Keys    int `json:"keys"`
	Covered int `json:"covered"`
	Round   int `json:"round"`
}

// Report is what a hunt has found.
type Report struct {
	Seed uint64 `json:"seed"`
	Progress
	Rows []*Row `json:"signatures"`
	// Aside counts cells by the known findings that were set aside.
	Aside map[string]int `json:"known_cells"`
	// Failed counts cells that were not decided because a process failed or ran out of
	// time, by reason; a hunt that goes on tries them again.
	Failed map[string]int `json:"failed_cells,omitempty"`
	// OwnCPU and ToolCPU are in seconds, of this process and of the compilers.
	OwnCPU  float64 `json:"own_cpu_s"`
	ToolCPU float64 `json:"tool_cpu_s"`
	// Stopped tells that the hunt was interrupted.
	Stopped bool `json:"stopped,omitempty"`
}

// The sizes of batches: the first results come soon, and later batches fill the
// compilers' processes. Which tests a batch has depends on the batches before the
// last one: while one is looked at, the next is under way.
const (
	firstBatch = 32
	lastBatch  = 256
)

// hunter is the state of a hunt.
type hunter struct {
	o        Options
	composer *composer
	table    table
	kept     *kept
	start    time.Time

	mu     sync.Mutex // of what follows, and of calls of Found and Progress
	p      Progress
	under  int     // cells that are under way
	before float64 // seconds that earlier runs took for what is known
}

// Run hunts. When ctx ends, or the time is over, what was found so far is reported;
// only of the former there is an error.
func Run(ctx context.Context, o Options) (*Report, error) {
	if len(o.Bases) == 0 {
		return nil, errors.New("no bases to compose tests of")
	}
	if o.Known == nil {
		o.Known = func(*event.Cell, *event.Finding) []string { return nil }
	}
	h := &hunter{o: o, start: time.Now(), table: table{known: map[string]int{}, failed: map[string]int{}}}
	own, tools := audit.Usage(o.Audit.Toolchains)
	limited := ctx
	if o.For > 0 {
		c, cancel := context.WithTimeoutCause(ctx, o.For, errOver)
		defer cancel()
		limited = c
	}
	h.composer = newComposer(o.Bases, o.Seed)
	err := h.run(limited)
	if errors.Is(err, errOver) {
		err = nil
	}
	rep := &Report{
		Seed:     o.Seed,
		Progress: h.p,
		Rows:     h.table.sorted(),
		Aside:    h.table.known,
		Failed:   h.table.failed,
		Stopped:  ctx.Err() != nil,
	}
	rep.Seconds = h.seconds()
	endOwn, endTools := audit.Usage(o.Audit.Toolchains)
	rep.OwnCPU, rep.ToolCPU = (endOwn - own).Seconds(), (endTools - tools).Seconds()
	return rep, err
}

// errOver ends a hunt whose time is over.
var errOver = errors.New("the time of the hunt is over")

func (h *hunter) seconds() float64 { return h.before + time.Since(h.start).Seconds() }

// run composes, audits and looks at batches, two at a time.
func (h *hunter) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var under []*batch // way
	number, planned := 0, 0
	for {
		for len(under) < 2 && ctx.Err() == nil {
			n := min(firstBatch<<(number/2), lastBatch)
			if h.o.Tests > 0 {
				n = min(n, h.o.Tests-planned)
			}
			b := h.begin(ctx, number, n)
			if b == nil {
				break
			}
			number, planned = number+1, planned+len(b.list)
			under = append(under, b)
		}
		if len(under) == 0 {
			return context.Cause(ctx)
		}
		b := under[0]
		under = under[1:]
		<-b.done
		if err := h.look(ctx, b); err != nil {
			cancel()
			for _, b := range under {
				<-b.done
			}
			return err
		}
	}
}

// begin composes a batch of n tests and starts its audit; nil if there is none.
func (h *hunter) begin(ctx context.Context, number, n int) *batch {
	if n <= 0 {
		return nil
	}
	list := h.composer.batch(n)
	if len(list) == 0 {
		return nil
	}
	b := &batch{number: number, list: list, done: make(chan struct{})}
	o := h.o.Audit
	for _, x := range list {
		o.Tests = append(o.Tests, x.test)
	}
	if h.o.Composed != nil {
		h.o.Composed(o.Tests)
	}
	jobs := cmp.Or(o.Jobs, runtime.GOMAXPROCS(0)+1)
	o.Jobs, o.Chunk = (jobs+1)/2, chunkOf(o, jobs)
	if h.o.Store != nil {
		if h.kept == nil {
			h.kept, b.err = readKept(ctx, h.o.Store, o)
		}
		if b.err != nil {
			close(b.done)
			return b
		}
		o.Have = h.kept.has
		o.Artefacts = b.artefacts
	}
	o.Progress = func(done, _ int) { h.underWay(b, done) }
	go func() {
		defer close(b.done)
		b.err = audit.Run(ctx, o, b)
	}()
	return b
}

// underWay tells of cells that a batch has done.
func (h *hunter) underWay(b *batch, done int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.under += done - b.cellsDone
	b.cellsDone = done
	if h.o.Progress != nil {
		p := h.p
		p.UnderWay, p.Seconds = h.under, h.seconds()
		h.o.Progress(p)
	}
}

// chunkOf is the number of tests of a compiler's process, so that all cores have
// something to do.
func chunkOf(o audit.Options, jobs int) int {
	c, err := o.Config()
	if err != nil {
		return 0 // Run says so
	}
	places := max(1, c.Cells/(len(o.Tests)*max(1, len(c.Layouts))))
	return max(8, min(len(o.Tests), len(o.Tests)*places/(2*jobs)))
}

// look counts what a batch has shown and keeps it.
func (h *hunter) look(ctx context.Context, b *batch) error {
	if b.err != nil && ctx.Err() == nil {
		return b.err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.under -= b.cellsDone
	at, err := h.keep(context.WithoutCancel(ctx), b)
	if err != nil {
		return err
	}
	cells := b.cells(h.kept)
	for i, x := range b.list {
		list := cells[i]
		if len(list) == 0 {
			continue // interrupted
		}
		h.p.Tests++
		h.p.Cells += len(list)
		for j := range list {
			if !slices.Contains([]string{event.Unknown, event.Unsupported, event.Invalid}, list[j].Class) {
				h.p.Decided++
			}
			news := h.table.add(found{test: x.test, cell: &list[j], number: h.p.Tests, seconds: at}, h.o.Known)
			for _, r := range news {
				h.composer.yielded(x, r.Class == event.Miscompiled && r.Race == event.WordDataRace)
				h.p.Last = at
				if h.o.Found != nil {
					if err := h.o.Found(r); err != nil {
						return err
					}
				}
			}
		}
	}
	h.p.Seconds, h.p.New, h.p.Known = h.seconds(), len(h.table.rows), len(h.table.known)
	h.p.Keys = len(h.composer.keys)
	h.p.Covered, h.p.Round = h.composer.covered(), h.composer.round
	if h.o.Progress != nil {
		p := h.p
		p.UnderWay = h.under
		h.o.Progress(p)
	}
	return nil
}

// keep writes a batch to the store and returns when it ended, in seconds of the hunt:
// of a batch that was known, when it ended then.
func (h *hunter) keep(ctx context.Context, b *batch) (float64, error) {
	s := h.o.Store
	if s == nil {
		return h.seconds(), nil
	}
	name := fmt.Sprintf("hunt/%d/%d", h.o.Seed, b.number)
	if len(b.events) > 0 && !b.fresh() {
		if data, _, err := s.Get(ctx, name); err == nil {
			then, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
			if err == nil && then > h.seconds() {
				h.before += then - h.seconds()
			}
			return cmp.Or(then, h.seconds()), nil
		}
	}
	if err := b.write(s); err != nil {
		return 0, err
	}
	at := h.seconds()
	if b.err != nil {
		return at, nil
	}
	return at, s.Put(ctx, name, "text", fmt.Appendf(nil, "%.1f\n", at))
}
