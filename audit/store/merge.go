package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"optcheck/event"
)

// Import imports an event stream, completely or not at all. name is for messages. Importing the
// same stream again changes nothing.
func (s *Store) Import(ctx context.Context, name string, r io.Reader) (Counts, error) {
	// A stream is identified by its content, which is known only at its end: the run gets its
	// name then.
	w := s.Writer()
	sum := sha256.New()
	var conflict error
	err := s.update(ctx, func() error {
		n := 0
		err := event.Read(name, io.TeeReader(r, sum), func(e event.Event) error {
			if n++; n%1000 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if e.Config != nil && n > 1 {
				return fmt.Errorf("%s: a second config in event %d: streams are merged one by one", name, n)
			}
			err := w.Handle(e)
			if errors.Is(err, ErrConflict) {
				conflict = err
			}
			return err
		})
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return err
		}
		fresh, err := s.nameRun(w.run, sum.Sum(nil)[:16])
		if !fresh {
			w.added.Runs = 0
		}
		return err
	})
	if err != nil {
		if conflict == nil && errors.Is(err, ErrConflict) {
			conflict = err
		}
		if conflict != nil {
			return Counts{}, fmt.Errorf("%s: %w", name, conflict)
		}
		return Counts{}, s.fail(err)
	}
	return w.added, nil
}

// nameRun names an imported run. If the stream was imported before, that run remains, and cells
// that had been removed since become part of it.
func (s *Store) nameRun(run int64, uid []byte) (fresh bool, err error) {
	var old int64
	ok, err := s.row("SELECT id FROM run WHERE uid=?", []any{uid}, &old)
	if err != nil {
		return false, err
	}
	if !ok {
		_, err = s.exec("UPDATE run SET uid=?1, sum=optcheck_sum('run', ?1, setting, config, started, seen, cells, events) WHERE id=?2", uid, run)
		return true, err
	}
	for _, q := range []string{"UPDATE cell SET run=?1, sum=optcheck_sum('cell', col, test, body, code, ?1) WHERE run=?2",
		"DELETE FROM event WHERE ?!=0 AND run=?", "DELETE FROM run WHERE ?!=0 AND id=?"} {
		if _, err := s.exec(q, old, run); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Merge adds the runs of another store, all of them or none. Merging the same store again
// changes nothing, and the order of several stores does not matter.
func (s *Store) Merge(ctx context.Context, from *Store) (Counts, error) {
	a, _ := os.Stat(s.path) // a file that is gone is the same as none
	b, _ := os.Stat(from.path)
	if os.SameFile(a, b) {
		return Counts{}, fmt.Errorf("%s cannot be merged into itself", from.path)
	}
	w := s.Writer()
	err := from.read(ctx, func() error {
		return s.update(ctx, func() error {
			if err := from.checkRows(ctx); err != nil {
				return from.fail(err)
			}
			var runs []int64
			err := from.each(ctx, "SELECT id FROM run ORDER BY id", nil, func(scan func(...any) error) error {
				runs = append(runs, 0)
				return scan(&runs[len(runs)-1])
			})
			if err != nil {
				return from.fail(err)
			}
			for _, run := range runs {
				if err := w.copyRun(ctx, from, run); err != nil {
					return err
				}
			}
			return s.copyArtefacts(ctx, from)
		})
	})
	if err != nil {
		if errors.Is(err, ErrConflict) {
			return Counts{}, fmt.Errorf("%s: %w", from.path, err)
		}
		return Counts{}, s.fail(err)
	}
	return w.added, nil
}

// copyRun writes the events of a run of another store. A run that exists already gets what it
// lacks.
func (w *Writer) copyRun(ctx context.Context, from *Store, run int64) error {
	src, err := from.source(ctx, run)
	if err != nil {
		return from.fail(err)
	}
	w.uid = src.uid
	if err := w.Handle(event.Event{Config: &src.config}); err != nil {
		return err
	}
	n := 0
	err = src.walk(ctx, func(e runEvent) error {
		if n++; n%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return w.copyEvent(src, e)
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// copyEvent writes an event of a run of another store. Events keep their numbers, since GC has
// removed events of some runs.
func (w *Writer) copyEvent(src *source, e runEvent) error {
	if e.kind != 0 {
		w.number = e.n + 1
		defer func() { w.number = 0 }() // what is written later has numbers of its own
	}
	switch e.kind {
	case 0:
		c, err := src.cell(e)
		if err != nil {
			return src.s.fail(err)
		}
		return w.Handle(event.Event{Cell: &c})
	case kindTests:
		t, err := src.test(e.ref)
		if err != nil {
			return src.s.fail(err)
		}
		return w.Handle(event.Event{Test: t})
	case kindListing:
		x, err := src.listing(e.ref)
		if err != nil {
			return src.s.fail(err)
		}
		return w.Handle(event.Event{Listing: x})
	}
	ev, err := decodeEvent(e.kind, e.data)
	if err != nil {
		return src.s.fail(errDamaged("event %d of run %d: %w", e.n, src.run, err))
	}
	return w.Handle(ev)
}
