package html

import (
	"context"
	_ "embed"
	"html/template"
	"slices"
	"strings"

	"optcheck/event"
)

// Bounds of the list of kernels.
const (
	maxKernels        = 5000
	maxKernelReleases = 16
)

//go:embed kernelindex.tmpl
var kernelIndexText string

var kernelIndexTemplate = template.Must(template.New("kernels").Funcs(funcs).Parse(kernelIndexText))

// kernelIndex is what kernelindex.tmpl shows.
type kernelIndex struct {
	Releases       []string
	Files          []kernelFile
	Classes, Rules []string
	More           int
}

type kernelFile struct {
	Name    string
	Kernels []kernelRow
}

// kernelRow is a kernel in the list.
type kernelRow struct {
	Name, Href     string
	Classes, Rules []string
	Cells          [][]classCount // by release
}

// Joined is a list as the filter reads it.
func (kernelRow) Joined(list []string) string { return strings.Join(list, "|") }

// Index returns the page that lists the kernels by file, with what each release makes of them.
func (ks *Kernels) Index(link func(*Kernel) string) (template.HTML, error) {
	p := kernelIndex{Releases: ks.x.Toolchains}
	if len(p.Releases) > maxKernelReleases {
		p.Releases = p.Releases[:maxKernelReleases]
	}
	list := ks.List
	if p.More = len(list) - maxKernels; p.More > 0 {
		list = list[:maxKernels]
	}
	for i := range list {
		k := &list[i]
		if n := len(p.Files); n == 0 || p.Files[n-1].Name != k.File {
			p.Files = append(p.Files, kernelFile{Name: k.File})
		}
		f := &p.Files[len(p.Files)-1]
		row := ks.row(k, len(p.Releases))
		row.Href = link(k)
		f.Kernels = append(f.Kernels, row)
		p.Classes, p.Rules = join(p.Classes, row.Classes), join(p.Rules, row.Rules)
	}
	return execute(kernelIndexTemplate, p)
}

func join(list, more []string) []string {
	for _, w := range more {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

func (ks *Kernels) row(k *Kernel, releases int) kernelRow {
	x := ks.x
	row := kernelRow{Name: k.Name}
	counts := make([]Counts, releases)
	for _, i := range x.Groups.TestCells(k.test) {
		r := &x.Set.Results[x.Set.Cells[i].Result]
		row.Classes = join(row.Classes, []string{r.Class})
		if len(r.Findings) > 0 {
			row.Rules = join(row.Rules, ruleNames(r))
		}
		if at := x.columns[x.cells[i].column].toolchain; at < releases {
			counts[at][classIndex(r.Class)]++
		}
	}
	for _, c := range counts {
		var cells []classCount
		for class, n := range c {
			if n > 0 {
				cells = append(cells, classCount{Class: event.Severities[class], Cells: n})
			}
		}
		row.Cells = append(row.Cells, cells)
	}
	return row
}

// KernelFileName is the file of a kernel's page.
func KernelFileName(k *Kernel) string { return "kernel-" + k.ID + ".html" }

// KernelPages returns the pages of the kernels of an index: none if it has no programs.
func KernelPages(ctx context.Context, x *Index, h FindingHooks) []ExtraPage {
	ks := NewKernels(x)
	if len(ks.List) == 0 {
		return nil
	}
	out := []ExtraPage{{File: KernelsFile, Title: "Kernels", Make: func() (template.HTML, error) { return ks.Index(KernelFileName) }}}
	for i := range ks.List[:min(len(ks.List), maxKernels)] {
		k := &ks.List[i]
		out = append(out, ExtraPage{File: KernelFileName(k), Title: k.Name, Under: KernelsFile,
			Make: func() (template.HTML, error) { return ks.Body(ctx, k, h, PageOf) }})
	}
	return out
}
