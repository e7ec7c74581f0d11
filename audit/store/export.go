package store

import (
	"context"

	"optcheck/event"
)

// Export passes the cells of a view to a handler, as one run in canonical order (toolchain,
// target, level, test, layout). Tests come first, and a listing precedes the first cell that
// has it. Two stores with the same cells yield the same events, in whatever order they were
// filled. The handler is not closed.
func (s *Store) Export(ctx context.Context, v View, h event.Handler) error {
	set, err := s.Load(ctx, v)
	if err != nil {
		return err
	}
	if v.Keep != nil {
		keep, err := v.Keep(set)
		if err != nil {
			return err
		}
		set = set.Keep(keep)
	}
	return Replay(ctx, set, h)
}

// Replay passes the events of a set to a handler in canonical order, without
// statistics.
func Replay(ctx context.Context, set *event.Set, h event.Handler) error {
	if err := h.Handle(event.Event{Config: &set.Config}); err != nil {
		return err
	}
	order := Canonical(set)
	has := make([]bool, len(set.Tests))
	for _, r := range set.Cells {
		has[r.Test] = true
	}
	for _, i := range testOrder(set) {
		if has[i] && set.Tests[i].Text != "" {
			if err := h.Handle(event.Event{Test: &set.Tests[i]}); err != nil {
				return err
			}
		}
	}
	for i := range set.Problems {
		if err := h.Handle(event.Event{Problem: &set.Problems[i]}); err != nil {
			return err
		}
	}
	shown := map[string]bool{}
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		c := set.Cell(i)
		if l := set.Listings[c.ListingKey()]; l != nil && !shown[l.Code] {
			shown[l.Code] = true
			if err := h.Handle(event.Event{Listing: l}); err != nil {
				return err
			}
		}
		if err := h.Handle(event.Event{Cell: &c}); err != nil {
			return err
		}
	}
	for i := range set.Histograms {
		if err := h.Handle(event.Event{Histogram: &set.Histograms[i]}); err != nil {
			return err
		}
	}
	return nil
}

// ExportRun passes the events of one run to a handler, in the order in which they arrived: an
// imported stream comes out unchanged. Cells that the store had before are not among them. The
// handler is not closed.
func (s *Store) ExportRun(ctx context.Context, run int64, h event.Handler) error {
	return s.fail(s.read(ctx, func() error { return s.exportRun(ctx, run, h) }))
}

func (s *Store) exportRun(ctx context.Context, run int64, h event.Handler) error {
	if err := s.checkRows(ctx); err != nil {
		return err
	}
	src, err := s.source(ctx, run)
	if err != nil {
		return err
	}
	if err := h.Handle(event.Event{Config: &src.config}); err != nil {
		return err
	}
	return src.walk(ctx, func(e runEvent) error {
		switch {
		case e.kind == 0:
			c, err := src.cell(e)
			if err != nil {
				return err
			}
			return h.Handle(event.Event{Cell: &c})
		case e.kind == kindTests:
			t, err := src.test(e.ref)
			if err != nil {
				return err
			}
			return h.Handle(event.Event{Test: t})
		case e.kind == kindListing:
			x, err := src.listing(e.ref)
			if err != nil {
				return err
			}
			return h.Handle(event.Event{Listing: x})
		}
		ev, err := decodeEvent(e.kind, e.data)
		if err != nil {
			return errDamaged("event %d of run %d: %w", e.n, run, err)
		}
		return h.Handle(ev)
	})
}
