package html

import (
	"context"
	_ "embed"
	"html/template"
	"strings"
)

// MappingRow is a line of the mapping tables: what an operation becomes, and
// where; Class is what is said of that, "" for nothing.
type MappingRow struct {
	Op, Group, Machine, Where string
	Releases, Targets         []string
	Class                     string
}

// Joined is a list as the filter reads it.
func (MappingRow) Joined(list []string) string { return strings.Join(list, "|") }

// MappingChange is an operation that a release maps differently from the one
// before it.
type MappingChange struct{ Op, From, To, Where, Left, Right string }

//go:embed mappingpage.tmpl
var mappingText string

var mappingTemplate = template.Must(template.New("mapping").Funcs(funcs).Parse(mappingText))

// Bounds of the mapping tables.
const (
	maxMappingRows    = 20_000
	maxMappingChanges = 5_000
)

// MappingBody returns the page of the mapping tables. Rows of one operation follow
// each other, and so do the operations of one group.
func MappingBody(rows []MappingRow, changes []MappingChange) (template.HTML, error) {
	var p mappingPage
	if n := len(rows) - maxMappingRows; n > 0 {
		rows, p.More = rows[:maxMappingRows], n
	}
	if n := len(changes) - maxMappingChanges; n > 0 {
		changes, p.MoreChanges = changes[:maxMappingChanges], n
	}
	for _, r := range rows {
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Name != r.Group {
			p.Groups = append(p.Groups, mappingGroup{Name: r.Group})
		}
		g := &p.Groups[len(p.Groups)-1]
		if n := len(g.Ops); n == 0 || g.Ops[n-1].Op != r.Op {
			g.Ops = append(g.Ops, mappingOp{Op: r.Op})
		}
		o := &g.Ops[len(g.Ops)-1]
		o.Rows = append(o.Rows, r)
		p.Releases, p.Targets = join(p.Releases, r.Releases), join(p.Targets, r.Targets)
		if r.Class != "" {
			p.Classes = join(p.Classes, []string{r.Class})
		}
	}
	for _, c := range changes {
		if n := len(p.Changes); n == 0 || p.Changes[n-1].Left != c.Left || p.Changes[n-1].Right != c.Right {
			p.Changes = append(p.Changes, mappingChanges{Left: c.Left, Right: c.Right})
		}
		g := &p.Changes[len(p.Changes)-1]
		g.List = append(g.List, c)
	}
	return execute(mappingTemplate, p)
}

type mappingPage struct {
	Groups            []mappingGroup
	Changes           []mappingChanges
	More, MoreChanges int
	// What rows can be chosen by.
	Releases, Targets, Classes []string
}

type mappingGroup struct {
	Name string
	Ops  []mappingOp
}

type mappingOp struct {
	Op   string
	Rows []MappingRow
}

type mappingChanges struct {
	Left, Right string
	List        []MappingChange
}

// WriteMapping makes a folder with the page of the mapping tables. The folder is as Write wants it.
func WriteMapping(ctx context.Context, dir string, body template.HTML) error {
	return writeAlone(ctx, dir, "Mapping", &Page{Title: "What each operation becomes", Body: body})
}
