package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"optcheck/event"
)

// Kinds of events in the table event.
const (
	kindTests = iota + 1
	kindListing
	kindProblem
	kindHistogram
	kindStats
	kindArtefacts // not an event
)

// testKey identifies a test: equal tests may have several names.
type testKey struct{ name, hash string }

// item is an event that waits to be written.
type item struct {
	kind int // 0 for a cell
	// Fields of cells.
	test testKey
	col  event.Column
	body digest
	code string
	// Fields of other events; for tests, an index into Writer.newTests.
	data []byte
	list *event.Listing
	text *event.Test
	n    int64 // the number of the event in its run, from 1; 0 for the next one
	arts []event.Artefact
}

// body is a result without its code.
type body struct {
	class string
	data  []byte
}

// Writer receives the events of runs and writes them to a store. It is a report.Handler: Flush
// writes everything handled before it in one transaction, or nothing. A config event begins a
// run.
type Writer struct {
	s       *Store
	uid     []byte // of the next run, if it is not a new one
	run     int64  // 0 before the first flush of a run
	config  *event.Config
	setting int64
	begun   bool

	items  []item
	bodies map[digest]body // of items, unless they are known to be stored
	limit  int

	cells, events int64 // of this run: written, or skipped because they existed
	number        int64 // of the next event, see item.n
	skip          int64 // events of the run that are there already
	known         *known
	added         Counts

	epoch  int64
	ids    ids
	failed bool // a Flush has returned an error
}

// Counts says what a writer did.
type Counts struct {
	Cells    int64 // new ones
	Repeated int64 // that existed already
	Replaced int64 // for which only a failed attempt existed
	Runs     int64
}

// ids caches row numbers of what has been written.
type ids struct {
	tests map[testKey]int64
	cols  map[event.Column]int64
	tools map[string]int64
	body  map[digest]int64
}

func newIDs() ids {
	return ids{tests: map[testKey]int64{}, cols: map[event.Column]int64{}, tools: map[string]int64{}, body: map[digest]int64{}}
}

// maxRemembered bounds the number of cached row numbers.
const maxRemembered = 1_000_000

// maxPending bounds the number of waiting events; beyond it they are written unasked.
const maxPending = 4_000

// Writer returns a writer to the store.
func (s *Store) Writer() *Writer {
	return &Writer{s: s, bodies: map[digest]body{}, limit: maxPending, ids: newIDs(), epoch: -1}
}

// Added returns what has been written so far.
func (w *Writer) Added() Counts { return w.added }

// Handle takes one event.
func (w *Writer) Handle(e event.Event) error {
	if e.Config != nil {
		return w.begin(e.Config)
	}
	if w.config == nil {
		return errors.New("event before the config of its run")
	}
	it, err := w.item(e)
	if err != nil {
		return err
	}
	it.n = w.number
	w.items = append(w.items, it)
	if len(w.items) >= w.limit {
		return w.Flush()
	}
	return nil
}

// item copies an event, because its sender may change it afterwards.
func (w *Writer) item(e event.Event) (it item, err error) {
	switch {
	case e.Cell != nil:
		return w.cellItem(e.Cell)
	case e.Test != nil:
		t := *e.Test
		return item{kind: kindTests, text: &t}, nil
	case e.Listing != nil:
		it = item{kind: kindListing, list: e.Listing}
		it.data, err = marshal(e.Listing)
	case e.Problem != nil:
		it = item{kind: kindProblem}
		it.data, err = marshal(e.Problem)
	case e.Histogram != nil:
		it = item{kind: kindHistogram}
		it.data, err = marshal(e.Histogram)
	case e.Stats != nil:
		it = item{kind: kindStats}
		it.data, err = marshal(e.Stats)
	default:
		err = errors.New("event of no kind")
	}
	return it, err
}

func (w *Writer) cellItem(c *event.Cell) (item, error) {
	r := c.Result
	r.Code = ""
	data, err := marshal(&r)
	if err != nil {
		return item{}, fmt.Errorf("cell of %s: %w", c.Test, err)
	}
	d := digestOf(data)
	if _, ok := w.ids.body[d]; !ok {
		w.bodies[d] = body{r.Class, data}
	}
	return item{test: testKey{c.Test, c.Hash}, col: event.Column{Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout},
		body: d, code: c.Code}, nil
}

// Artefacts receives the artefacts of a cell whose event follows.
func (w *Writer) Artefacts(c *event.Cell, list []event.Artefact) error {
	if w.config == nil {
		return errors.New("artefacts before the config of their run")
	}
	w.items = append(w.items, item{kind: kindArtefacts, test: testKey{c.Test, c.Hash}, code: c.Code, arts: list,
		col: event.Column{Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout}})
	return nil
}

// begin begins a run.
func (w *Writer) begin(c *event.Config) error {
	if err := w.Flush(); err != nil {
		return err
	}
	cfg := *c
	w.config, w.run, w.begun = &cfg, 0, true
	w.cells, w.events, w.skip = 0, 0, 0
	w.ids.cols, w.ids.tools = map[event.Column]int64{}, map[string]int64{}
	if w.uid == nil {
		w.uid = make([]byte, 16)
		if _, err := rand.Read(w.uid); err != nil {
			return err
		}
	}
	return w.Flush() // so that others see that there is a run
}

// Flush writes what has been handled.
func (w *Writer) Flush() error {
	if len(w.items) == 0 && !w.begun {
		return nil
	}
	c := w.commit()
	err := w.s.update(context.Background(), c.write)
	if err != nil {
		// Row numbers of this transaction are void.
		w.ids, w.epoch, w.failed = newIDs(), -1, true
		if errors.Is(err, ErrConflict) {
			return err
		}
		return w.s.fail(err)
	}
	w.items, w.bodies, w.begun = w.items[:0], map[digest]body{}, false
	w.run, w.setting, w.cells, w.events = c.run, c.setting, c.cells, c.events
	w.added.Cells += c.n.Cells
	w.added.Repeated += c.n.Repeated
	w.added.Replaced += c.n.Replaced
	w.added.Runs += c.n.Runs
	if len(w.ids.body) > maxRemembered || len(w.ids.tests) > maxRemembered {
		w.ids = newIDs()
	}
	return nil
}

// Close writes what is left. The store stays open.
func (w *Writer) Close() error {
	if w.failed {
		return nil // the error was returned before
	}
	return w.Flush()
}

// now returns the present time in seconds.
func now() int64 { return time.Now().Unix() }
