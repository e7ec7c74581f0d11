package html

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"optcheck/event"
	"optcheck/report"
)

var shortTemplate = template.Must(template.New("short").Funcs(funcs).Parse(`<h1>{{short .Title 400}}</h1>
<p>{{class .Result.Class}} in {{plural (len .Cells) "cell"}}</p>
<p class="small muted">The report has many findings, and this page is a short one to keep it small.</p>
{{with .Result.Reason}}<p>{{short . 2000}}</p>{{end}}
<ul>{{range .Findings}}<li><b>{{short .Rule 60}}</b> {{short .Place 160}} {{short .Detail 2000}}</li>{{end}}</ul>
{{with .Listing}}<pre>{{visible .}}</pre>{{end}}
{{with .Verdict}}<pre>{{visible .}}</pre>{{end}}
<h2>Where</h2><ul>{{range .Places}}<li>{{short .String 2000}}</li>{{end}}</ul>
{{with .Test.Text}}<h2>Test</h2><pre>{{visible .}}</pre>{{end}}`))

// ShortFinding returns the body of a group's page in plain words, some thousand bytes:
// for reports with more findings than one wants to carry around.
func (x *Index) ShortFinding(g *report.Group) (template.HTML, error) {
	s, r := x.Set, x.Result(g)
	var cells []*event.Cell
	for _, i := range g.Cells {
		c := s.Cell(int(i))
		cells = append(cells, &c)
	}
	var listing, verdict, out bytes.Buffer
	if l := s.Listings[cells[0].Code]; l != nil {
		if err := report.WriteListing(&listing, l, r.Findings); err != nil {
			return "", err
		}
	}
	if r.Verdict != nil {
		report.WriteVerdict(&verdict, r.Verdict)
	}
	var found []shownFinding
	for i := range r.Findings {
		found = append(found, placed(&s.Tests[g.Test], &r.Findings[i]))
	}
	err := shortTemplate.Execute(&out, map[string]any{"Title": s.Tests[g.Test].Title(), "Findings": found, "Test": s.Tests[g.Test], "Result": r, "Cells": cells,
		"Listing": strings.TrimRight(listing.String(), "\n"), "Verdict": verdict.String(), "Places": report.Places(cells)})
	if err != nil {
		return "", fmt.Errorf("page of %q: %w", Short(s.Tests[g.Test].Name, 80), err)
	}
	return template.HTML(out.String()), nil
}
