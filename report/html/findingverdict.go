package html

import (
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/report"
)

// verdictView is a event.Verdict ready to be shown.
type verdictView struct {
	event.Verdict
	Terms    []string
	Outcomes []outcomeView
	More     int // outcomes not shown
	Nothing  bool
}

// outcomeView is a final state that the test and its machine code do not share.
type outcomeView struct {
	Kind    string // gained, lost, sc
	Values  []string
	Test    string
	Machine string
}

func newVerdictView(v *event.Verdict, class string) *verdictView {
	if v == nil {
		return nil
	}
	out := &verdictView{Verdict: *v}
	out.Lifted = clip(v.Lifted, maxPageText)
	add := func(kind, test, machine string, states []string) {
		for _, s := range states {
			if len(out.Outcomes) == maxPageOutcomes {
				out.More++
				continue
			}
			out.Outcomes = append(out.Outcomes, outcomeView{kind, out.values(s), test, machine})
		}
	}
	add("gained", "forbidden", "allowed", v.New)
	add("lost", "allowed", "cannot happen", v.Lost)
	sc := slices.DeleteFunc(slices.Clone(v.SCNew), func(s string) bool { return slices.Contains(v.New, s) })
	add("sc", "allowed, but not under sequential consistency", "possible even under sequential consistency", sc)
	for i := range out.Outcomes { // a later state may have named more terms
		o := &out.Outcomes[i]
		o.Values = append(o.Values, make([]string, len(out.Terms)-len(o.Values))...)
	}
	out.Nothing = len(out.Outcomes) == 0
	return out
}

// values takes a state of the form "0:r1=1; x=2;" apart, into the order of Terms.
func (v *verdictView) values(state string) []string {
	out := make([]string, len(v.Terms))
	for part := range strings.SplitSeq(state, ";") {
		term, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			continue
		}
		i := slices.Index(v.Terms, term)
		if i < 0 {
			if len(v.Terms) == 16 {
				continue
			}
			i = len(v.Terms)
			v.Terms, out = append(v.Terms, clip(term, 40)), append(out, "")
		}
		out[i] = clip(value, 40)
	}
	return out
}

// matrixView is the cells of one test in one layout, or in several whose tables
// are the same.
type matrixView struct {
	Layout  string
	Targets []string
	Rows    []matrixRow
}

type matrixRow struct {
	Toolchain, Level string
	First            bool // row of its toolchain
	Span             int  // rows of its toolchain
	Cells            []matrixCell
}

type matrixCell struct {
	Class string // "" where there is no cell
	Here  bool   // the cell shows what the page is about
}

// maxPageCells bounds the places of the matrix of one test. Real ones have some
// thousand.
const maxPageCells = 40000

// newMatrix arranges all cells of a group's test: a table for each layout. There
// is none if it would be too large.
func newMatrix(gs *report.Groups, g *report.Group) []matrixView {
	s := gs.Set
	here := map[uint32]bool{}
	for _, i := range g.Cells {
		here[i] = true
	}
	type rowKey struct{ toolchain, level string }
	type cellKey struct {
		layout string
		row    rowKey
		target string
	}
	cells := map[cellKey]matrixCell{}
	var layouts, toolchains, levels, targets []string
	for _, i := range gs.TestCells(g.Test) {
		c := &s.Columns[s.Cells[i].Column]
		layouts = append(layouts, c.Layout)
		toolchains = append(toolchains, c.Toolchain)
		levels = append(levels, c.Level)
		targets = append(targets, c.Target)
		k := cellKey{c.Layout, rowKey{c.Toolchain, c.Level}, c.Target}
		cells[k] = matrixCell{s.Results[s.Cells[i].Result].Class, here[i] || cells[k].Here}
	}
	layouts, toolchains = vocabulary(s.Config.Layouts, layouts), vocabulary(ids(s.Config.Toolchains), toolchains)
	levels, targets = vocabulary(s.Config.Levels, levels), vocabulary(s.Config.Targets, targets)
	if len(layouts)*len(toolchains)*len(levels)*len(targets) > maxPageCells {
		return nil
	}
	var out []matrixView
	for _, layout := range layouts {
		v := matrixView{Layout: layout}
		for _, t := range targets {
			if slices.ContainsFunc(toolchains, func(tc string) bool {
				return slices.ContainsFunc(levels, func(l string) bool { return cells[cellKey{layout, rowKey{tc, l}, t}].Class != "" })
			}) {
				v.Targets = append(v.Targets, t)
			}
		}
		for _, tc := range toolchains {
			begin := len(v.Rows)
			for _, l := range levels {
				r := matrixRow{Toolchain: tc, Level: l}
				any := false
				for _, t := range v.Targets {
					c := cells[cellKey{layout, rowKey{tc, l}, t}]
					any = any || c.Class != ""
					r.Cells = append(r.Cells, c)
				}
				if any {
					v.Rows = append(v.Rows, r)
				}
			}
			if len(v.Rows) > begin {
				v.Rows[begin].First, v.Rows[begin].Span = true, len(v.Rows)-begin
			}
		}
		if len(v.Rows) > 0 {
			out = append(out, v)
		}
	}
	return joinMatrix(out)
}

func ids(list []event.Toolchain) []string {
	out := make([]string, 0, len(list))
	for _, t := range list {
		out = append(out, t.ID)
	}
	return out
}
