package event

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"optcheck/internal/plain"
	"optcheck/internal/toolname"
)

// Run is a whole stream in memory.
type Run struct {
	Config   Config
	Tests    []Test
	Cells    []Cell // none of them in a run of Set.Lean: All has them always
	Listings map[string]*Listing
	Problems []Problem
	// Histograms are what devices did, in the order of the stream.
	Histograms []Histogram
	Stats      *Stats

	// AllowUnknown is how many cells may be undecided where all is to be done; it is the reader's choice.
	AllowUnknown int
	// FailOn is which cells make the run fail; that, too, is the reader's choice. "" is FailNew.
	FailOn FailOn

	// set, if not nil, has the cells in the place of Cells.
	set *Set
}

// Len returns the number of cells.
func (r *Run) Len() int {
	if r.set != nil {
		return len(r.set.Cells)
	}
	return len(r.Cells)
}

// At returns cell i.
func (r *Run) At(i int) Cell {
	if r.set != nil {
		return r.set.Cell(i)
	}
	return r.Cells[i]
}

// All yields the cells in order. Each is only there until the next one comes: who
// keeps one must copy it.
func (r *Run) All() iter.Seq2[int, *Cell] {
	return func(yield func(int, *Cell) bool) {
		for i := range r.Cells {
			if !yield(i, &r.Cells[i]) {
				return
			}
		}
		if r.set == nil {
			return
		}
		var c Cell
		for i := range r.set.Cells {
			if c = r.set.Cell(i); !yield(i, &c) {
				return
			}
		}
	}
}

// NewRun returns an empty Run, which is a Handler too.
func NewRun() *Run { return &Run{Listings: map[string]*Listing{}} }

// Handle stores one event.
func (r *Run) Handle(e Event) error {
	switch {
	case e.Config != nil:
		r.Config = *e.Config
	case e.Test != nil:
		r.Tests = append(r.Tests, *e.Test)
	case e.Cell != nil:
		r.Cells = append(r.Cells, *e.Cell)
	case e.Listing != nil:
		r.Listings[e.Listing.Code] = e.Listing
	case e.Problem != nil:
		r.Problems = append(r.Problems, *e.Problem)
	case e.Histogram != nil:
		r.Histograms = append(r.Histograms, *e.Histogram)
	case e.Stats != nil:
		r.Stats = e.Stats
	}
	return nil
}

// Close implements Handler.
func (r *Run) Close() error { return nil }

// Replay passes the run's events to a handler and closes it.
func (r *Run) Replay(h Handler) error {
	if err := h.Handle(Event{Config: &r.Config}); err != nil {
		return err
	}
	for i := range r.Tests {
		if err := h.Handle(Event{Test: &r.Tests[i]}); err != nil {
			return err
		}
	}
	shown := map[string]bool{}
	for i := range r.Problems {
		if err := h.Handle(Event{Problem: &r.Problems[i]}); err != nil {
			return err
		}
	}
	for _, c := range r.All() {
		if l := r.Listings[c.ListingKey()]; l != nil && !shown[l.Code] {
			shown[l.Code] = true
			if err := h.Handle(Event{Listing: l}); err != nil {
				return err
			}
		}
		if err := h.Handle(Event{Cell: c}); err != nil {
			return err
		}
	}
	for i := range r.Histograms {
		if err := h.Handle(Event{Histogram: &r.Histograms[i]}); err != nil {
			return err
		}
	}
	if r.Stats != nil {
		if err := h.Handle(Event{Stats: r.Stats}); err != nil {
			return err
		}
	}
	return h.Close()
}

// Classes counts the cells of a run by class.
func (r *Run) Classes() map[string]int {
	n := map[string]int{}
	for _, c := range r.All() {
		n[c.Class]++
	}
	return n
}

// Count counts the cells of a run; changed are all whose machine code differs
// from the test, whatever a model says of them. Classes has the others, too.
func (r *Run) Count() (preserved, changed, unsupported, unknown int) {
	n := r.Classes()
	return n[Preserved], n[Changed] + n[Optimised] + n[Miscompiled], n[Unsupported], n[Unknown]
}

// WithoutKnown returns a copy of a run without the cells of known findings.
func (r *Run) WithoutKnown() *Run {
	out := *r
	out.Cells = slices.DeleteFunc(slices.Clone(r.Cells), func(c Cell) bool { return len(c.Known) > 0 })
	if s := r.set; s != nil {
		part := *s
		part.Cells = slices.DeleteFunc(slices.Clone(s.Cells), func(c Ref) bool { return len(s.Results[c.Result].Known) > 0 })
		out.set = &part
	}
	out.Config.Cells -= r.Len() - out.Len()
	return &out
}

func (r *Run) toolchains() (ids []string) {
	for _, t := range r.Config.Toolchains {
		ids = append(ids, t.ID)
	}
	return ids
}

// Only returns the part of a run that belongs to one toolchain, by a name that stands for no other one of the run.
func (r *Run) Only(toolchain string) (*Run, error) {
	var ids []string
	for _, t := range r.Config.Toolchains {
		if t.ID == toolchain {
			ids = []string{t.ID}
			break
		}
		if toolname.ID(toolchain, t.ID) {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) != 1 {
		return nil, fmt.Errorf("%q means %s of the run (%s)", toolchain, plain.Count(len(ids), "toolchain"), strings.Join(r.toolchains(), ", "))
	}
	out := NewRun()
	out.Config = r.Config
	out.Config.Toolchains = nil
	for _, t := range r.Config.Toolchains {
		if t.ID == ids[0] {
			out.Config.Toolchains = append(out.Config.Toolchains, t)
		}
	}
	for _, c := range r.All() {
		if c.Toolchain == ids[0] {
			out.Cells = append(out.Cells, *c)
		}
	}
	out.Listings = r.Listings
	return out, nil
}
