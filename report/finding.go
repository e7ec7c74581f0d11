package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"optcheck/event"
)

// Group is one finding, as all reports list and count it: the cells of one test,
// in whichever releases, targets, levels and layouts, that show the same. Class,
// broken rules, new outcomes and known findings agree.
type Group struct {
	// ID names the page of the finding. It depends on what is found alone, so that a link
	// stays valid when cells are added; it is safe as the name of a file.
	ID    string
	Test  uint32 // index into the set's tests
	Class string
	Cells []uint32 // indices into the set's cells, in order
}

// Groups are the findings of a set and where all cells of each test lie.
type Groups struct {
	Set *event.Set
	// List is ordered by severity, then new ones before known ones, tests without a
	// data race before others, then by test.
	List []*Group

	byID  map[string]*Group
	start []uint32 // of each test in cells
	cells []uint32 // all cells, by test
	of    map[uint32][]*Group
}

// ByID returns the group of a page.
func (g *Groups) ByID(id string) (*Group, bool) {
	x, ok := g.byID[id]
	return x, ok
}

// OfTest lists the groups of a test, in the order of List.
func (g *Groups) OfTest(test uint32) []*Group { return g.of[test] }

// TestCells lists all cells of a test, in order.
func (g *Groups) TestCells(test uint32) []uint32 { return g.cells[g.start[test]:g.start[test+1]] }

// severity returns the place of a class in Severities; a class that this version does
// not know is as bad as an undecided one.
func severity(class string) int {
	if i := slices.Index(event.Severities, class); i >= 0 {
		return i
	}
	return slices.Index(event.Severities, event.Unknown)
}

// NewGroups finds the groups of a set: cells that have findings or could not be
// decided.
func NewGroups(s *event.Set) *Groups {
	g := &Groups{Set: s, byID: map[string]*Group{}, of: map[uint32][]*Group{}}
	g.sortCells()
	sigs := resultSignatures(s.Results)
	type key struct{ test, sig uint32 }
	groups := map[key]*Group{}
	for i, c := range s.Cells {
		sig := sigs.of[c.Result]
		if sig == 0 {
			continue
		}
		k := key{c.Test, sig}
		x := groups[k]
		if x == nil {
			t := &s.Tests[c.Test]
			x = &Group{Test: c.Test, Class: s.Results[c.Result].Class, ID: groupID(t, sigs.text[sig])}
			groups[k], g.byID[x.ID] = x, x
			g.List = append(g.List, x)
		}
		x.Cells = append(x.Cells, uint32(i))
	}
	slices.SortStableFunc(g.List, func(a, b *Group) int {
		x, y := g.Result(a), g.Result(b)
		return cmp.Or(cmp.Compare(severity(a.Class), severity(b.Class)), min(len(x.Known), 1)-min(len(y.Known), 1), x.RaceRank()-y.RaceRank(),
			cmp.Compare(s.Tests[a.Test].Name, s.Tests[b.Test].Name), cmp.Compare(a.ID, b.ID))
	})
	for _, x := range g.List {
		g.of[x.Test] = append(g.of[x.Test], x)
	}
	return g
}

// Result returns what the cells of a group show: that of the first of them.
func (g *Groups) Result(x *Group) *event.Result {
	return &g.Set.Results[g.Set.Cells[x.Cells[0]].Result]
}

// InFull returns the cells of a group in full.
func (g *Groups) InFull(x *Group) []*event.Cell {
	out := make([]*event.Cell, len(x.Cells))
	for i, at := range x.Cells {
		c := g.Set.Cell(int(at))
		out[i] = &c
	}
	return out
}

// GroupsOf lists the findings of a run.
func GroupsOf(r *event.Run) *Groups { return NewGroups(r.Set()) }

// sortCells puts the cells into the order of their tests.
func (g *Groups) sortCells() {
	s := g.Set
	g.start = make([]uint32, len(s.Tests)+1)
	for _, c := range s.Cells {
		g.start[c.Test+1]++
	}
	for i := 1; i < len(g.start); i++ {
		g.start[i] += g.start[i-1]
	}
	at := slices.Clone(g.start)
	g.cells = make([]uint32, len(s.Cells))
	for i, c := range s.Cells {
		g.cells[at[c.Test]] = uint32(i)
		at[c.Test]++
	}
}

// signatures number what results say; 0 is for results that have no page.
type signatures struct {
	of   []uint32 // by result
	text []string
}

func resultSignatures(results []event.Result) signatures {
	out := signatures{of: make([]uint32, len(results)), text: []string{""}}
	number := map[string]uint32{}
	for i := range results {
		r := &results[i]
		text := r.Says()
		if text == "" {
			continue
		}
		for _, k := range r.Known {
			text += "\x00" + k
		}
		n, ok := number[text]
		if !ok {
			n = uint32(len(out.text))
			number[text] = n
			out.text = append(out.text, text)
		}
		out.of[i] = n
	}
	return out
}

// groupID is 80 bits of a hash: short enough for a link, long enough to be
// unique among millions.
func groupID(t *event.Test, signature string) string {
	h := sha256.Sum256([]byte(t.Name + "\x00" + t.Hash + "\x00" + signature))
	return hex.EncodeToString(h[:10])
}
