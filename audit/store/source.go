package store

import (
	"context"
	"fmt"

	"optcheck/event"
)

// source reads a run in the order of its events.
type source struct {
	s      *Store
	run    int64
	uid    []byte
	config event.Config
	tests  map[int64]*event.Test
	cols   map[int64]event.Column
	bodies map[int64]*event.Result
}

// runEvent is one event of a run: kind 0 is a cell, any other a row of the table event. A row
// with many tests yields one event for each.
type runEvent struct {
	kind int
	// Fields of cells.
	seq, col, testID, body int64
	code                   any
	// Fields of other events.
	n, ref int64
	data   []byte
}

// source opens a run.
func (s *Store) source(ctx context.Context, run int64) (*source, error) {
	src := &source{s: s, run: run, tests: map[int64]*event.Test{}, cols: map[int64]event.Column{}, bodies: map[int64]*event.Result{}}
	var data []byte
	ok, err := s.row("SELECT uid, config FROM run WHERE id=?", []any{run}, &src.uid, &data)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("no run %d (optcheck store info lists them)", run)
	}
	if src.config, err = configOf(run, data); err != nil {
		return nil, err
	}
	err = s.each(ctx, "SELECT c.id, t.name, c.target, c.level, c.layout FROM col c JOIN toolchain t ON t.id=c.toolchain", nil,
		func(scan func(...any) error) error {
			var id int64
			var c event.Column
			if err := scan(&id, &c.Toolchain, &c.Target, &c.Level, &c.Layout); err != nil {
				return err
			}
			src.cols[id] = c
			return nil
		})
	return src, err
}

// configOf decodes the config of a run.
func configOf(run int64, data []byte) (c event.Config, err error) {
	if err := unmarshal(data, &c); err != nil {
		return c, errDamaged("run %d: %w", run, err)
	}
	return c, nil
}

// walk calls f for all events after the config.
func (src *source) walk(ctx context.Context, f func(runEvent) error) error {
	s := src.s
	cells, err := s.c.QueryContext(ctx, "SELECT seq, col, test, body, code, sum FROM cell WHERE run=? ORDER BY seq", src.run)
	if err != nil {
		return err
	}
	defer cells.Close()
	others, err := s.c.QueryContext(ctx, "SELECT n, pos, kind, ref, count, data FROM event WHERE run=? ORDER BY n", src.run)
	if err != nil {
		return err
	}
	defer others.Close()
	pos := int64(0) // cells so far
	// upTo passes on the cells before a position.
	upTo := func(limit int64) error {
		for (limit < 0 || pos < limit) && cells.Next() {
			var e runEvent
			var sum int64
			if err := cells.Scan(&e.seq, &e.col, &e.testID, &e.body, &e.code, &sum); err != nil {
				return err
			}
			if err := checkCell(e.seq, e.col, e.testID, e.body, e.code, src.run, sum); err != nil {
				return err
			}
			pos++
			if err := f(e); err != nil {
				return err
			}
		}
		return cells.Err()
	}
	for others.Next() {
		var e runEvent
		var at, count int64
		if err := others.Scan(&e.n, &at, &e.kind, &e.ref, &count, &e.data); err != nil {
			return err
		}
		if at < 0 || count < 1 || count > 1 && e.kind != kindTests {
			return errDamaged("event %d of run %d", e.n, src.run)
		}
		if err := upTo(at); err != nil {
			return err
		}
		for range count {
			if err := f(e); err != nil {
				return err
			}
			e.n++
			e.ref++
		}
	}
	if err := others.Err(); err != nil {
		return err
	}
	return upTo(-1)
}

// cell assembles a cell.
func (src *source) cell(e runEvent) (c event.Cell, err error) {
	t, err := src.test(e.testID)
	if err != nil {
		return c, err
	}
	k, ok := src.cols[e.col]
	if !ok {
		return c, errDamaged("cell %d is in no column", e.seq)
	}
	r := src.bodies[e.body]
	if r == nil {
		x, err := src.s.result(cellRow{body: e.body})
		if err != nil {
			return c, err
		}
		r = &x
		if len(src.bodies) > maxRemembered/10 {
			clear(src.bodies)
		}
		src.bodies[e.body] = r
	}
	c = event.Cell{Test: t.Name, Hash: t.Hash, Toolchain: k.Toolchain, Target: k.Target, Level: k.Level, Layout: k.Layout, Result: *r}
	c.Code, err = codeText(e.code)
	return c, err
}

// test reads a test.
func (src *source) test(id int64) (*event.Test, error) {
	if t := src.tests[id]; t != nil {
		return t, nil
	}
	var t event.Test
	var about, blob []byte
	ok, err := src.s.row("SELECT hash, name, about, text FROM test WHERE id=?", []any{id}, &t.Hash, &t.Name, &about, &blob)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errDamaged("no test %d", id)
	}
	if err := decodeTest(id, about, blob, &t); err != nil {
		return nil, err
	}
	if len(src.tests) > maxRemembered/10 {
		clear(src.tests)
	}
	src.tests[id] = &t
	return &t, nil
}

// listing reads a listing.
func (src *source) listing(id int64) (*event.Listing, error) {
	var code string
	var hash, blob []byte
	ok, err := src.s.row("SELECT code, hash, data FROM listing WHERE id=?", []any{id}, &code, &hash, &blob)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errDamaged("no listing %d", id)
	}
	return decodeListing(code, hash, blob)
}
