package html

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// Dependency is one entry of the survival matrix of manufactured dependencies,
// as optcheck deps prints it.
type Dependency struct {
	Scheme, Kind, Into, Space        string
	Bits                             int
	Toolchain, Target, Level, Layout string
	Fate                             string // kept, removed, unsupported, unknown
	Detail                           string
}

// Scheme is a way to manufacture a dependency.
type Scheme struct{ Name, Title, Explain string }

//go:embed survival.tmpl
var survivalText string

var survivalTemplate = template.Must(template.New("survival").Funcs(funcs).Parse(survivalText))

// SurvivalBody returns the page that says which dependencies survive which compiler.
func SurvivalBody(list []Dependency, schemes []Scheme) (template.HTML, error) {
	p := survivalPage{Schemes: schemes, Cells: len(list)}
	for _, k := range []string{"address", "data", "control"} {
		if t := newFateTable(list, k, schemes); len(t.Rows) > 0 {
			p.Kinds = append(p.Kinds, t)
		}
	}
	p.Mixed, p.More = mixedFates(list)
	return execute(survivalTemplate, p)
}

type survivalPage struct {
	Schemes []Scheme
	Cells   int
	Kinds   []fateTable
	Mixed   []mixedFate
	More    int
}

// fateTable is the fates of the dependencies of one kind: schemes by compilers
// and levels.
type fateTable struct {
	Kind    string
	Columns []fateColumn
	Rows    []fateRow
}

// fateColumn is a toolchain with its levels.
type fateColumn struct {
	Toolchain string
	Levels    []string
}

type fateRow struct {
	Scheme, Title string
	Cells         []fate
}

// fate counts what became of the dependencies of one cell of the table, over
// targets, layouts and accesses.
type fate struct{ Kept, Removed, Unknown, Unsupported int }

func (f *fate) add(s string) {
	switch s {
	case "kept":
		f.Kept++
	case "removed":
		f.Removed++
	case "unsupported":
		f.Unsupported++
	default:
		f.Unknown++
	}
}

// Class returns the class of cells that looks as good or bad.
func (f fate) Class() string {
	switch {
	case f.Unknown > 0:
		return "unknown"
	case f.Kept+f.Removed == 0:
		return "unsupported"
	case f.Removed == 0:
		return "preserved"
	case f.Kept == 0:
		return "miscompiled"
	}
	return "changed"
}

// Text says it in words.
func (f fate) Text() string {
	all := f.Kept + f.Removed + f.Unknown
	s := ""
	switch {
	case all == 0 && f.Unsupported > 0:
		return "– unsupported"
	case all == 0:
		return ""
	case f.Kept == all:
		s = "✓ kept"
	case f.Removed == all:
		s = "✗ removed"
	case f.Kept > 0:
		s = fmt.Sprintf("≠ kept %s of %s", plain.Number(f.Kept), plain.Number(all))
	case f.Removed > 0:
		s = fmt.Sprintf("✗ removed %s of %s", plain.Number(f.Removed), plain.Number(all))
	}
	if f.Unknown > 0 {
		s = strings.TrimPrefix(fmt.Sprintf("%s, ? %s unknown", s, plain.Number(f.Unknown)), ", ")
	}
	return s
}

// Bounds of the survival matrix: schemes, and columns.
const (
	maxSchemes = 100
	maxColumns = 64
	maxMixed   = 400
)

func newFateTable(list []Dependency, kind string, schemes []Scheme) fateTable {
	t := fateTable{Kind: kind}
	type key struct{ scheme, toolchain, level string }
	fates := map[key]*fate{}
	var names []string
	columns := 0
	for _, d := range list {
		if d.Kind != kind {
			continue
		}
		if !slices.Contains(names, d.Scheme) && len(names) < maxSchemes {
			names = append(names, d.Scheme)
		}
		i := slices.IndexFunc(t.Columns, func(c fateColumn) bool { return c.Toolchain == d.Toolchain })
		if columns < maxColumns && i < 0 {
			i, t.Columns = len(t.Columns), append(t.Columns, fateColumn{Toolchain: d.Toolchain})
		}
		if i >= 0 && columns < maxColumns && !slices.Contains(t.Columns[i].Levels, d.Level) {
			t.Columns[i].Levels = append(t.Columns[i].Levels, d.Level)
			columns++
		}
		k := key{d.Scheme, d.Toolchain, d.Level}
		if fates[k] == nil {
			fates[k] = &fate{}
		}
		fates[k].add(d.Fate)
	}
	for i := range t.Columns {
		slices.Sort(t.Columns[i].Levels)
	}
	slices.SortFunc(t.Columns, func(a, b fateColumn) int { return natural(a.Toolchain, b.Toolchain) })
	for _, n := range names {
		r := fateRow{Scheme: n}
		for _, s := range schemes {
			if s.Name == n {
				r.Title = s.Title
			}
		}
		for _, c := range t.Columns {
			for _, l := range c.Levels {
				f := fates[key{n, c.Toolchain, l}]
				if f == nil {
					f = &fate{}
				}
				r.Cells = append(r.Cells, *f)
			}
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// mixedFate is where a dependency is not kept that is kept elsewhere.
type mixedFate struct {
	Fate, What, Where, Layout string
	Targets                   []string
	Detail                    string
}

// mixedFates lists where dependencies went that the same compiler keeps at the
// same level for other targets, layouts or accesses.
func mixedFates(list []Dependency) (out []mixedFate, more int) {
	type row struct{ toolchain, level, scheme, kind string }
	kept := map[row]bool{}
	for _, d := range list {
		if d.Fate == "kept" {
			kept[row{d.Toolchain, d.Level, d.Scheme, d.Kind}] = true
		}
	}
	at := map[string]int{}
	for _, d := range list {
		if d.Fate != "removed" && d.Fate != "unknown" || !kept[row{d.Toolchain, d.Level, d.Scheme, d.Kind}] {
			continue
		}
		m := mixedFate{Fate: d.Fate, What: fmt.Sprintf("%s dependency by %s into %s.%s%d", d.Kind, d.Scheme, d.Into, d.Space, d.Bits),
			Where: d.Toolchain + " -" + d.Level, Layout: d.Layout, Detail: d.Detail}
		k := strings.Join([]string{m.Fate, m.What, m.Where, m.Layout}, "\x00")
		i, ok := at[k]
		if !ok {
			if len(out) == maxMixed {
				more++
				continue
			}
			i = len(out)
			at[k], out = i, append(out, m)
		}
		if len(out[i].Targets) < 100 && !slices.Contains(out[i].Targets, d.Target) {
			out[i].Targets = append(out[i].Targets, d.Target)
		}
	}
	return out, more
}
