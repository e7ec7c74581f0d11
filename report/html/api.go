package html

import (
	"optcheck/event"
	"optcheck/report"
)

// Summary is what a filter chooses, as data.
type Summary struct {
	Cells    int            `json:"cells"`
	Tests    int            `json:"tests"`    // in all, whatever the filter
	Runs     int            `json:"runs"`     // histograms, likewise
	Findings int            `json:"findings"` // groups of cells that show the same
	Classes  map[string]int `json:"classes"`
	Matrix   []ColumnCount  `json:"matrix"`
	// Facets says for each part of the filter and each of its values how many
	// cells there were if that part let all through.
	Facets map[string]map[string]int `json:"facets"`
	// Incomplete says why cells are missing, "" if all are there.
	Incomplete string `json:"incomplete,omitempty"`
	// Mixed says what runs that are shown together do not have in common.
	Mixed []string `json:"mixed,omitempty"`
}

// ColumnCount counts the cells of a toolchain, target, level and layout.
type ColumnCount struct {
	event.Column
	Classes map[string]int `json:"classes"`
}

// Summary counts the cells that a filter chooses.
func (x *Index) Summary(f Filter) *Summary {
	sel := x.Select(f)
	s := &Summary{Cells: sel.Total.Sum(), Tests: len(x.Set.Tests), Runs: len(x.Set.Histograms), Classes: classMap(&sel.Total),
		Matrix: []ColumnCount{},
		Facets: map[string]map[string]int{}, Incomplete: x.Set.Incomplete(), Mixed: x.Set.Mixed()}
	for _, n := range sel.Groups {
		if n > 0 {
			s.Findings++
		}
	}
	for i := range sel.Columns {
		if sel.Columns[i].Sum() > 0 {
			s.Matrix = append(s.Matrix, ColumnCount{x.columnWords(i), classMap(&sel.Columns[i])})
		}
	}
	for i, words := range x.words() {
		m := map[string]int{}
		for n, w := range words {
			m[w] = sel.Facets[Keys[i]][n]
		}
		s.Facets[Keys[i]] = m
	}
	return s
}

func classMap(c *Counts) map[string]int {
	m := map[string]int{}
	for i, n := range c {
		if n > 0 {
			m[event.Severities[i]] = n
		}
	}
	return m
}

// columnWords returns the parts of a column as the filter writes them.
func (x *Index) columnWords(i int) event.Column {
	c := x.columns[i]
	return event.Column{Toolchain: x.Toolchains[c.toolchain], Target: x.Targets[c.target], Level: x.Levels[c.level],
		Layout: x.Layouts[c.layout]}
}

// CellAnswer is a cell with the page that says more of it.
type CellAnswer struct {
	event.Cell
	Finding string `json:"finding,omitempty"` // the group's ID
}

// Cells returns a part of the cells that a filter chooses, in the index's
// order, and how many it chooses in all.
func (x *Index) Cells(f Filter, offset, limit int) (out []CellAnswer, total int) {
	m := x.match(f)
	for i, c := range x.cells {
		k := &x.kinds[c.kind]
		if m.fail(c, k) != 0 {
			continue
		}
		if total >= offset && len(out) < limit {
			a := CellAnswer{Cell: x.Set.Cell(i)}
			if k.group >= 0 {
				a.Finding = x.Groups.List[k.group].ID
			}
			out = append(out, a)
		}
		total++
	}
	return out, total
}

// GroupAnswer is a finding as data.
type GroupAnswer struct {
	ID       string          `json:"id"`
	Test     string          `json:"test"`
	Hash     string          `json:"hash"`
	Class    string          `json:"class"`
	Findings []event.Finding `json:"findings,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Known    []string        `json:"known,omitempty"`
	Race     string          `json:"race,omitempty"` // one of report.RaceWords
	Verdict  *event.Verdict  `json:"verdict,omitempty"`
	Cells    int             `json:"cells"`           // that the filter chooses
	Where    []event.Column  `json:"where,omitempty"` // of a single finding: at most 10,000
}

// FindingList returns a part of the findings that a filter chooses, the worst
// first, and how many it chooses in all.
func (x *Index) FindingList(f Filter, offset, limit int) (out []GroupAnswer, total int) {
	for n, cells := range x.Select(f).Groups {
		if cells == 0 {
			continue
		}
		if total >= offset && len(out) < limit {
			a := x.answer(x.Groups.List[n])
			a.Cells, a.Verdict = cells, nil
			out = append(out, a)
		}
		total++
	}
	return out, total
}

// maxWhere bounds the places of one answer.
const maxWhere = 10_000

// Finding returns one finding with its verdict and all places where it occurs.
func (x *Index) Finding(id string) (*GroupAnswer, bool) {
	g, ok := x.Groups.ByID(id)
	if !ok {
		return nil, false
	}
	a := x.answer(g)
	for _, i := range g.Cells[:min(len(g.Cells), maxWhere)] {
		a.Where = append(a.Where, x.columnWords(int(x.cells[i].column)))
	}
	return &a, true
}

func (x *Index) answer(g *report.Group) GroupAnswer {
	r, t := x.Result(g), &x.Set.Tests[g.Test]
	return GroupAnswer{ID: g.ID, Test: t.Name, Hash: t.Hash, Class: g.Class, Findings: r.Findings, Reason: r.Reason, Known: r.Known,
		Race: r.RaceWord(), Verdict: r.Verdict, Cells: len(g.Cells)}
}
