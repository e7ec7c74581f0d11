package hunt

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/target"
)

// Row is a signature: what compilers did, in how many cells of how many tests, and
// the smallest test that shows it.
type Row struct {
	Class string `json:"class"`
	Level string `json:"level"` // AtO0 or Optimised
	// What says what was done, as far as it has no known name: one text of an optimised
	// cell; of a miscompiled one all that were found, for any of them may be to blame.
	What []string `json:"what"`
	// Race is the best that is known of a test that shows it, a word of
	// report.RaceWords: race-free if any test is.
	Race  string  `json:"race,omitempty"`
	Cells int     `json:"cells"`
	Tests int     `json:"tests"`
	Where []Where `json:"where,omitempty"` // in the report
	// Test is the smallest test; of those that are race-free if there are any.
	Test   string `json:"test"`
	Source string `json:"source,omitempty"` // its text; in the report
	Cell   Column `json:"cell"`             // in which it shows
	// After is the number of the test that showed it first, counted from 1, Seconds the
	// time of the hunt until then.
	After   int     `json:"after_tests"`
	Seconds float64 `json:"after_seconds"`

	// Bundle is the folder that a report was written to.
	Bundle string `json:"bundle,omitempty"`

	example *litmus.Test
	last    int // number of the last test that was counted
	places  map[event.Column]bool
}

// Column is a place in the matrix.
type Column = event.Column

// Where says where a signature was seen: of a release, the levels and targets.
type Where struct {
	Toolchain string   `json:"toolchain"`
	Levels    []string `json:"levels"`
	Targets   []string `json:"targets"`
}

// Example is the smallest test.
func (r *Row) Example() *litmus.Test { return r.example }

// table gathers what was found by signature.
type table struct {
	rows  []*Row
	known map[string]int // cells by known finding
	// failed counts cells of failed attempts (report.Transient) by reason.
	failed map[string]int
}

// found is one cell with what a table needs to know of it.
type found struct {
	test    *litmus.Test
	cell    *event.Cell
	number  int // of the test, from 1
	seconds float64
}

// add takes in a cell and returns the rows that are new. ids names the known findings
// that a finding is an instance of.
func (tb *table) add(x found, ids func(*event.Cell, *event.Finding) []string) (news []*Row) {
	c := x.cell
	switch {
	case c.HasFindings():
	case event.Transient(&c.Result):
		tb.failed[reasonShape(c.Reason)]++
		return nil
	case c.Class == event.Unknown:
		if r := tb.count(x, []string{reasonShape(c.Reason)}); r != nil {
			news = append(news, r)
		}
		return news
	default:
		return nil
	}
	aside := map[string]bool{}
	list := what(x.test, c, func(f *event.Finding, crosses bool) bool {
		if crosses {
			return false // filters do not say what may stand between accesses
		}
		known := ids(c, f)
		for _, id := range known {
			aside[id] = true
		}
		return len(known) > 0
	})
	for id := range aside {
		tb.known[id]++
	}
	sets := [][]string{list}
	if c.Class != event.Miscompiled {
		sets = slices.Collect(slices.Chunk(list, 1))
	}
	for _, set := range sets {
		if len(set) == 0 {
			continue
		}
		if r := tb.count(x, set); r != nil {
			news = append(news, r)
		}
	}
	return news
}

// count counts a cell in the row of a set of texts, or of a part of the set: then the
// rest of it is not to blame. It returns the row if it is new. Rows of which it is a
// part become one with it.
func (tb *table) count(x found, set []string) *Row {
	level := levelOf(x.cell)
	alike := func(r *Row) bool { return r.Class == x.cell.Class && r.Level == level }
	for _, r := range tb.rows {
		if alike(r) && part(r.What, set) {
			r.take(x)
			return nil
		}
	}
	row := &Row{Class: x.cell.Class, Level: level, What: set, After: x.number, Seconds: x.seconds, places: map[event.Column]bool{}}
	row.take(x)
	tb.rows = slices.DeleteFunc(tb.rows, func(r *Row) bool {
		if !alike(r) || !part(set, r.What) {
			return false
		}
		row.unite(r)
		return true
	})
	tb.rows = append(tb.rows, row)
	return row
}

// part reports whether all of a are in b.
func part(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// take counts a cell.
func (r *Row) take(x found) {
	r.Cells++
	if r.last != x.number {
		r.last, r.Tests = x.number, r.Tests+1
	}
	at := event.Column{Toolchain: x.cell.Toolchain, Target: x.cell.Target, Level: x.cell.Level}
	r.places[at] = true
	at.Layout = x.cell.Layout
	r.offer(x.test, x.cell.RaceWord(), at)
}

// offer takes a test as the example if it is a better one.
func (r *Row) offer(t *litmus.Test, race string, at Column) {
	if r.example != nil && cmp.Or(cmp.Compare(raceRank(race), raceRank(r.Race)), smaller(t, r.example)) >= 0 {
		return
	}
	r.example, r.Race, r.Test, r.Cell = t, race, t.Name, at
}

// unite takes in what was counted in another row.
func (r *Row) unite(x *Row) {
	r.Cells, r.Tests = r.Cells+x.Cells, r.Tests+x.Tests
	if r.last == x.last {
		r.Tests--
	}
	maps.Copy(r.places, x.places)
	if x.After < r.After {
		r.After, r.Seconds = x.After, x.Seconds
	}
	r.offer(x.example, x.Race, x.Cell)
}

// raceRank orders the words: race-free first.
func raceRank(word string) int {
	if i := slices.Index(event.RaceWords(), word); i >= 0 {
		return i
	}
	return 1 // not asked: as good as not known
}

// smaller compares tests by size.
func smaller(a, b *litmus.Test) int {
	instrs := func(t *litmus.Test) (n int) {
		for i := range t.Threads {
			n += len(t.Threads[i].Body)
		}
		return n
	}
	return cmp.Or(cmp.Compare(len(a.Threads), len(b.Threads)), cmp.Compare(instrs(a), instrs(b)),
		cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
}

// classRank orders rows: what matters most first.
func classRank(class string) int {
	return slices.Index([]string{event.Miscompiled, event.Crashed, event.Unknown, event.Changed, event.Optimised}, class)
}

// sorted returns the rows as reports show them: by class, race, level, and text.
func (tb *table) sorted() []*Row {
	out := slices.Clone(tb.rows)
	for _, r := range out {
		r.Where, r.Source = whereOf(r.places), r.example.String()
	}
	slices.SortFunc(out, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(classRank(a.Class), classRank(b.Class)), cmp.Compare(raceRank(a.Race), raceRank(b.Race)),
			strings.Compare(a.Level, b.Level), slices.Compare(a.What, b.What))
	})
	return out
}

// whereOf groups places: targets with equal levels in a release go together.
func whereOf(places map[event.Column]bool) (out []Where) {
	type at struct{ toolchain, target string }
	levels := map[at][]string{}
	for c := range places {
		k := at{c.Toolchain, c.Target}
		levels[k] = append(levels[k], c.Level)
	}
	keys := slices.SortedFunc(maps.Keys(levels), func(a, b at) int {
		return cmp.Or(strings.Compare(a.toolchain, b.toolchain), target.Compare(a.target, b.target))
	})
	for _, k := range keys {
		l := slices.Sorted(slices.Values(levels[k]))
		i := slices.IndexFunc(out, func(w Where) bool { return w.Toolchain == k.toolchain && slices.Equal(w.Levels, l) })
		if i < 0 {
			out = append(out, Where{Toolchain: k.toolchain, Levels: l})
			i = len(out) - 1
		}
		out[i].Targets = append(out[i].Targets, k.target)
	}
	return out
}
