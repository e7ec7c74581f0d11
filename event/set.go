package event

import (
	"crypto/sha256"
	"encoding/json"
	"iter"
	"slices"
)

// Set is the cells of one or several runs in memory, with everything that
// repeats kept once: a cell is three numbers. It is what reports of many cells
// are made from; a million cells take some tens of megabytes, and a scan over
// all of them a few milliseconds. It is a Handler, and is not safe for
// concurrent use while it grows.
//
// A second config begins another run, which is united with those before it: equal
// cells are one, cells that contradict each other are an error. Close makes one
// whole of several runs.
type Set struct {
	Config   Config
	Tests    []Test
	Columns  []Column
	Results  []Result
	Cells    []Ref
	Listings map[string]*Listing
	Problems []Problem
	// Histograms are what devices did.
	Histograms []Histogram
	Stats      *Stats // nil for several runs, unless one of them did not end

	// FindingsOnly forgets the listings of preserved cells: only comparisons need them.
	FindingsOnly bool

	last    *Listing // with FindingsOnly, until the cell that it comes before
	tests   map[string]uint32
	columns map[Column]uint32
	results map[string]uint32

	announced int // events of tests of the first run
	union     *union
}

// Column is a place in the matrix without the test.
type Column struct {
	Toolchain string `json:"toolchain"`
	Target    string `json:"target"`
	Level     string `json:"level"`
	Layout    string `json:"layout"`
}

// Ref is a cell: indices into Tests, Columns and Results.
type Ref struct{ Test, Column, Result uint32 }

// NewSet returns an empty Set.
func NewSet() *Set {
	return &Set{Listings: map[string]*Listing{}, tests: map[string]uint32{}, columns: map[Column]uint32{}, results: map[string]uint32{}}
}

// Handle takes in one event.
func (s *Set) Handle(e Event) error {
	switch {
	case e.Config != nil:
		return s.begin(e.Config)
	case e.Test != nil:
		s.handleTest(e.Test)
	case e.Cell != nil:
		if l := s.last; l != nil && e.Cell.HasFindings() && e.Cell.Code == l.Code {
			s.Listings[l.Code] = l
		}
		s.last = nil
		return s.addCell(e.Cell)
	case e.Listing != nil && s.FindingsOnly:
		s.last = e.Listing
	case e.Listing != nil:
		s.Listings[e.Listing.Code] = e.Listing
	case e.Problem != nil:
		if s.union == nil || !s.union.repeated(kindProblem, e.Problem) {
			s.Problems = append(s.Problems, *e.Problem)
		}
	case e.Histogram != nil:
		if s.union == nil || !s.union.repeated(kindHistogram, e.Histogram) {
			s.Histograms = append(s.Histograms, *e.Histogram)
		}
	case e.Stats != nil:
		if s.union == nil {
			s.Stats = e.Stats
		} else {
			s.union.parts[len(s.union.parts)-1].stats = e.Stats
		}
	}
	return nil
}

func (s *Set) handleTest(t *Test) {
	n := len(s.Tests)
	i := s.AddTest(*t)
	if s.union == nil {
		s.announced++
		return
	}
	p := s.union.parts[len(s.union.parts)-1]
	p.tests.add(i)
	if p.told[kindTest]++; len(s.Tests) > n {
		p.fresh++
	}
}

// testKey tells tests apart: equal tests may have several names.
func testKey(name, hash string) string { return name + "\x00" + hash }

// AddTest takes in a test and returns its index. What an earlier cell told of it
// is completed.
func (s *Set) AddTest(t Test) uint32 {
	k := testKey(t.Name, t.Hash)
	i, ok := s.tests[k]
	if !ok {
		i = uint32(len(s.Tests))
		s.tests[k] = i
		s.Tests = append(s.Tests, t)
	} else if s.Tests[i].Text == "" {
		s.Tests[i] = t
	}
	return i
}

// AddColumn takes in a column and returns its index.
func (s *Set) AddColumn(c Column) uint32 { return intern(s.columns, &s.Columns, c, c) }

// AddResult takes in a result and returns its index. key identifies it: the
// same key is taken for the same result.
func (s *Set) AddResult(key string, r Result) uint32 { return intern(s.results, &s.Results, key, r) }

// intern takes a value into a list, unless its key is known, and returns its index.
func intern[K comparable, V any](known map[K]uint32, list *[]V, key K, v V) uint32 {
	i, ok := known[key]
	if !ok {
		i = uint32(len(*list))
		known[key] = i
		*list = append(*list, v)
	}
	return i
}

// ref takes in what a cell consists of.
func (s *Set) ref(c *Cell) Ref {
	data, _ := json.Marshal(&c.Result) // of texts and numbers: it cannot fail
	key := sha256.Sum256(data)         // shorter than what it stands for
	t, ok := s.tests[testKey(c.Test, c.Hash)]
	if !ok {
		t = s.AddTest(Test{Name: c.Test, Hash: c.Hash}) // a stream of an older schema
	}
	return Ref{t, s.AddColumn(Column{c.Toolchain, c.Target, c.Level, c.Layout}), s.AddResult(string(key[:]), c.Result)}
}

func (s *Set) addCell(c *Cell) error {
	ref := s.ref(c)
	if s.union != nil {
		return s.unite(c, ref)
	}
	s.Cells = append(s.Cells, ref)
	return nil
}

// Cell returns cell i in full. What it points to is shared.
func (s *Set) Cell(i int) Cell {
	r := s.Cells[i]
	t, c := &s.Tests[r.Test], &s.Columns[r.Column]
	return Cell{Test: t.Name, Hash: t.Hash, Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout,
		Result: s.Results[r.Result]}
}

// All yields the cells in full, in order.
func (s *Set) All() iter.Seq2[int, Cell] {
	return func(yield func(int, Cell) bool) {
		for i := range s.Cells {
			if !yield(i, s.Cell(i)) {
				return
			}
		}
	}
}

// Run returns the set as a Run, whose cells share what they point to.
func (s *Set) Run() *Run {
	r := s.Lean()
	r.set, r.Cells = nil, make([]Cell, 0, len(s.Cells))
	for _, c := range s.All() {
		r.Cells = append(r.Cells, c)
	}
	return r
}

// Lean returns the set as a Run that reads its cells out of the set, which must
// not change any more: a cell takes 12 bytes instead of more than 200. Run.Cells is
// empty; Len, At and All have them.
func (s *Set) Lean() *Run {
	r := &Run{Config: s.Config, Tests: s.Tests, Listings: s.Listings, Problems: s.Problems, Histograms: s.Histograms, Stats: s.Stats, set: s}
	// Streams of older schemas tell nothing of a test but its name.
	untold := func(t Test) bool { return t.Dialect == "" && t.Text == "" }
	if slices.ContainsFunc(r.Tests, untold) {
		r.Tests = slices.DeleteFunc(slices.Clone(r.Tests), untold)
	}
	return r
}

// Set returns the tests and cells of a run as a Set: the one that it reads its cells out of, else a new one.
func (r *Run) Set() *Set {
	if r.set != nil {
		return r.set
	}
	s := NewSet()
	for _, t := range r.Tests {
		s.AddTest(t)
	}
	for i := range r.Cells {
		s.Cells = append(s.Cells, s.ref(&r.Cells[i]))
	}
	return s
}

// Full returns a run that has its cells in Cells.
func (r *Run) Full() *Run {
	if r.set == nil {
		return r
	}
	out := *r
	out.set, out.Cells = nil, make([]Cell, 0, r.Len())
	for _, c := range r.All() {
		out.Cells = append(out.Cells, *c)
	}
	return &out
}
