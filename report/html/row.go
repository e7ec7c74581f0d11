package html

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/report"
)

// Bounds of what a list shows of one group.
const (
	maxName   = 160 // characters of a test's name
	maxDetail = 240
	maxShown  = 3 // findings
)

// Row is a group as lists show it.
type Row struct {
	Class    string
	Test     string
	Href     string // relative to the root
	Findings []shownFinding
	More     int // findings not shown
	Reason   string
	Where    []string
	Cells    int
	Known    []string
	Race     string // one of report.RaceWords, or ""
}

// PageOf returns the file of a group's page, relative to the root.
func PageOf(g *report.Group) string { return "f/" + g.ID + ".html" }

// row makes the row of group n, of whose cells those listed are meant.
func (x *Index) row(n int, cells []uint32) Row {
	g := x.Groups.List[n]
	r, t := x.Result(g), &x.Set.Tests[g.Test]
	shown := shownFindings(t, r)
	return Row{Class: r.Class, Test: Short(t.Title(), maxName), Href: PageOf(g), Findings: shown,
		More:   len(r.Findings) - len(shown),
		Reason: Short(r.Reason, maxDetail), Where: x.where(cells), Cells: len(cells), Known: knownNames(r), Race: r.RaceWord()}
}

// shownFinding is a finding as lists show it. At tells it from others of its rule: "T1 #0", or the line of its author.
type shownFinding struct{ Rule, Place, At, Detail, Stage string }

// shownFindings returns the findings that lists show, cut to what fits: each where its author finds it.
func shownFindings(t *event.Test, r *event.Result) (out []shownFinding) {
	for i := range r.Findings[:min(len(r.Findings), maxShown)] {
		f := placed(t, &r.Findings[i])
		out = append(out, shownFinding{Short(f.Rule, 60), Short(f.Place, maxName), Short(f.At, maxName), Short(f.Detail, maxDetail), Short(f.Stage, 40)})
	}
	return out
}

// placed is a finding where it stands: in a file of its author's, or in a thread of a test.
func placed(t *event.Test, f *event.Finding) shownFinding {
	if t.Dialect == event.Program {
		x := t.Tell(f)
		return shownFinding{f.Rule, x.Place, x.Place, x.Text, ""}
	}
	out := shownFinding{Rule: f.Rule, At: fmt.Sprintf("T%d #%d", f.Thread, f.Access), Detail: f.Full(), Stage: f.Stage}
	if f.Thread >= 0 {
		out.Place = fmt.Sprintf("T%d", f.Thread)
	}
	return out
}

func knownNames(r *event.Result) []string {
	var out []string
	for _, k := range r.Known[:min(len(r.Known), maxShown)] {
		out = append(out, Short(k, 60))
	}
	return out
}

// where says in a few words where cells lie: the toolchains, and the targets,
// levels and layouts. It names all that occur, not which combinations do.
func (x *Index) where(cells []uint32) []string {
	var has [4][]bool
	for d, words := range x.dimensions() {
		has[d] = make([]bool, len(words))
	}
	for _, i := range cells {
		c := x.columns[x.cells[i].column]
		has[0][c.toolchain], has[1][c.target], has[2][c.level], has[3][c.layout] = true, true, true, true
	}
	labels := x.labels()
	in := []string{ranges(labels[1], has[1], "targets"), ranges(labels[2], has[2], "levels")}
	if !slices.Equal(x.Layouts, []string{event.OwnLayout}) {
		in = append(in, ranges(labels[3], has[3], "layouts"))
	}
	return []string{ranges(labels[0], has[0], "releases"), strings.Join(in, " · ")}
}

// dimensions returns the words that columns consist of.
func (x *Index) dimensions() [4][]string {
	return [4][]string{x.Toolchains, x.Targets, x.Levels, x.Layouts}
}

// labels returns the dimensions as pages write them. The name that all toolchains
// share is left out.
func (x *Index) labels() [4][]string {
	d := x.dimensions()
	d[0] = slices.Clone(d[0])
	shared := ""
	for i, t := range d[0] {
		name, _, ok := strings.Cut(t, " ")
		if !ok || i > 0 && name != shared || strings.Contains(t, " + ") { // of a pair, both names count
			return d
		}
		shared = name
	}
	for i, t := range d[0] {
		d[0][i] = strings.TrimPrefix(t, shared+" ")
	}
	return d
}

// ranges writes the words that occur: all of many as their number, three and
// more neighbours as a range.
func ranges(words []string, has []bool, what string) string {
	if len(words) > 2 && !slices.Contains(has, false) {
		return "all " + plain.Number(len(words)) + " " + what
	}
	var parts []string
	for i := 0; i < len(words); i++ {
		if !has[i] {
			continue
		}
		j := i
		for j+1 < len(words) && has[j+1] {
			j++
		}
		if j-i < 2 {
			j = i
			parts = append(parts, words[i])
		} else {
			parts = append(parts, words[i]+" … "+words[j])
		}
		i = j
	}
	return strings.Join(parts, ", ")
}
