package main

import (
	"bufio"
	"fmt"
	"html/template"
	"io"

	"optcheck/audit"
	"optcheck/depgen"
	"optcheck/internal/input"
	"optcheck/mapping"
	"optcheck/report/html"
)

// tableFlags name the files of tables that get pages of their own.
type tableFlags struct {
	deps, mapping string
	programs      []string
}

// given tells whether there are any.
func (f *tableFlags) given() bool { return f.deps != "" || f.mapping != "" || len(f.programs) > 0 }

// pages are the pages of tables, those that were asked for.
func (f *tableFlags) pages() ([]html.ExtraPage, error) {
	var out []html.ExtraPage
	if f.deps != "" {
		cells, err := readTableFile(f.deps, audit.ReadDeps)
		if err != nil {
			return nil, fmt.Errorf("--deps: %w", err)
		}
		body, err := survivalPage(cells)
		if err != nil {
			return nil, err
		}
		out = append(out, html.ExtraPage{File: html.DependenciesFile, Title: "Dependencies", Body: body})
	}
	if f.mapping != "" {
		cells, err := readTableFile(f.mapping, mapping.Read)
		if err != nil {
			return nil, fmt.Errorf("--mapping: %w", err)
		}
		body, err := mappingPage(cells)
		if err != nil {
			return nil, err
		}
		out = append(out, html.ExtraPage{File: html.MappingFile, Title: "Mapping", Body: body})
	}
	if len(f.programs) > 0 {
		body, err := programsPage(f.programs)
		if err != nil {
			return nil, fmt.Errorf("--programs: %w", err)
		}
		out = append(out, html.ExtraPage{File: html.ProgramsFile, Title: "Programs", Body: body})
	}
	return out, nil
}

func readTableFile[T any](file string, read func(string, io.Reader) ([]T, error)) ([]T, error) {
	fh, err := input.Open(file)
	if err != nil {
		return nil, err
	}
	defer fh.Close()
	b := bufio.NewReader(fh)
	if err := input.SkipMark(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return read(file, b)
}

func survivalPage(cells []audit.DepCell) (template.HTML, error) {
	list := make([]html.Dependency, 0, len(cells))
	for _, c := range cells {
		list = append(list, html.Dependency(c))
	}
	var schemes []html.Scheme
	for _, s := range depgen.Schemes {
		schemes = append(schemes, html.Scheme{Name: s.Name, Title: s.Title, Explain: s.Explain})
	}
	return html.SurvivalBody(list, schemes)
}

func mappingPage(cells []mapping.Cell) (template.HTML, error) {
	var rows []html.MappingRow
	for _, r := range mapping.Rows(cells) {
		rows = append(rows, html.MappingRow(r))
	}
	var changes []html.MappingChange
	for _, c := range mapping.ChangeRows(cells) {
		changes = append(changes, html.MappingChange{Op: c.Op, From: c.From, To: c.To, Where: c.Where, Left: c.Left, Right: c.Right})
	}
	return html.MappingBody(rows, changes)
}
