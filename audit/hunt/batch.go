package hunt

import (
	"context"
	"errors"
	"slices"
	"strings"

	"optcheck/audit"
	"optcheck/audit/store"
	"optcheck/event"
)

// batch is a number of tests that are audited together. It is the handler of its
// audit's events and holds them until the batches before it have been looked at.
type batch struct {
	number int
	list   []*composition
	events []kernelEvent
	next   []event.Artefact // of the cell that comes next
	done   chan struct{}    // closed when the audit has ended
	err    error            // of the audit

	cellsDone int // as far as the audit has told
}

// kernelEvent is an event, of a cell with what it was compiled from.
type kernelEvent struct {
	event.Event
	artefacts []event.Artefact
}

// Handle implements report.Handler.
func (b *batch) Handle(e event.Event) error {
	x := kernelEvent{Event: e}
	if e.Cell != nil {
		c := *e.Cell
		x.Cell, x.artefacts, b.next = &c, b.next, nil
	}
	b.events = append(b.events, x)
	return nil
}

// Close implements report.Handler.
func (b *batch) Close() error { return nil }

// artefacts takes those of the next cell.
func (b *batch) artefacts(_ *event.Cell, list []event.Artefact) error {
	b.next = list
	return nil
}

// fresh reports whether any cell was audited.
func (b *batch) fresh() bool {
	return slices.ContainsFunc(b.events, func(e kernelEvent) bool { return e.Cell != nil })
}

// write writes the events to a store.
func (b *batch) write(s *store.Store) (err error) {
	if !b.fresh() {
		return nil
	}
	w := s.Writer()
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, e := range b.events {
		if e.artefacts != nil {
			if err := w.Artefacts(e.Cell, e.artefacts); err != nil {
				return err
			}
		}
		if err := w.Handle(e.Event); err != nil {
			return err
		}
	}
	return w.Flush()
}

// cells are those of each test, in a fixed order, also those that were known.
func (b *batch) cells(k *kept) [][]event.Cell {
	at := map[string]int{}
	for i, x := range b.list {
		at[x.test.Name] = i
	}
	out := make([][]event.Cell, len(b.list))
	for _, e := range b.events {
		if e.Cell != nil {
			i := at[e.Cell.Test]
			out[i] = append(out[i], *e.Cell)
		}
	}
	for i, x := range b.list {
		out[i] = append(out[i], k.of(x.test.Name)...)
		slices.SortStableFunc(out[i], func(a, b event.Cell) int { return strings.Compare(columnKey(&a), columnKey(&b)) })
	}
	return out
}

func columnKey(c *event.Cell) string {
	return strings.Join([]string{c.Toolchain, c.Target, c.Level, c.Layout}, "\x00")
}

// kept is what a store knew when a hunt began.
type kept struct {
	set   *event.Set
	tests map[string][]int // cells, by the name of the test
}

// readKept reads what a store has of the matrix of an audit.
func readKept(ctx context.Context, s *store.Store, o audit.Options) (*kept, error) {
	c, err := o.Config()
	if err != nil {
		return nil, err
	}
	k := &kept{tests: map[string][]int{}}
	if k.set, err = s.Load(ctx, store.View{Matrix: c, NoText: true}); err != nil {
		return nil, err
	}
	for i := range k.set.Cells {
		if r := &k.set.Results[k.set.Cells[i].Result]; !event.Transient(r) {
			name := k.set.Tests[k.set.Cells[i].Test].Name
			k.tests[name] = append(k.tests[name], i)
		}
	}
	return k, nil
}

// of returns the known cells of a test.
func (k *kept) of(test string) (list []event.Cell) {
	if k == nil {
		return nil
	}
	for _, i := range k.tests[test] {
		list = append(list, k.set.Cell(i))
	}
	return list
}

// has reports whether a cell is known.
func (k *kept) has(c *event.Cell) bool {
	return slices.ContainsFunc(k.of(c.Test), func(x event.Cell) bool { return x.Hash == c.Hash && columnKey(&x) == columnKey(c) })
}
