package html

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/report"
)

// View is what an overview shows of an index.
type View struct {
	Filter Filter
	// Sort is "severity" (the default), "test" or "cells"; Page counts from 1.
	Sort string
	Page int
	// Per is the number of groups on a page, perPage if it is 0.
	Per int
	// Live says that a server answers: the form of the filter and the pages of
	// the list are links then. Otherwise they need the script.
	Live bool
	// Lists are pages with all groups of a class.
	Lists []Link
}

// perPage is the number of groups on a page of the list.
const perPage = 25

// Sorts are the orders of the list of findings.
var Sorts = []string{"severity", "test", "cells"}

//go:embed overview.tmpl
var overviewText string

var overviewTemplate = template.Must(template.New("overview").Funcs(funcs).Parse(overviewText))

// Overview returns the body of the page that a report opens with.
func (x *Index) Overview(v View) (template.HTML, error) {
	sel := x.Select(v.Filter)
	o := overview{View: v, Index: x, Total: sel.Total.Sum(), Facets: x.facets(v.Filter, sel)}
	all := x.everything()
	o.Blocks, o.TooLarge = x.blocks(sel.Columns)
	o.Headline, o.Lead = x.headline(all.Total), x.lead(all)
	o.Incomplete = x.Set.Incomplete()
	for _, why := range x.Set.Mixed() {
		o.Mixed = append(o.Mixed, Short(why, 500))
	}
	for k, n := range sel.Total {
		if all.Total[k] > 0 {
			o.Classes = append(o.Classes, classCount{event.Severities[k], n, percent(n, o.Total)})
		}
	}
	slices.Reverse(o.Classes) // the good ones first, as in the key of a map
	o.List = x.List(v, sel)
	o.run()
	var b strings.Builder
	if err := overviewTemplate.Execute(&b, &o); err != nil {
		return "", fmt.Errorf("overview: %w", err)
	}
	return template.HTML(b.String()), nil
}

// overview is what overview.tmpl shows.
type overview struct {
	View
	Index        *Index
	Headline     string
	Lead         []string
	Runs         string // what ran on devices, with a page of its own
	Incomplete   string
	Mixed        []string // what runs that are shown together do not have in common
	Total        int
	Classes      []classCount
	Blocks       []block
	Facets       []facet
	List         List
	Releases     []releaseFacts
	MoreReleases int
	TooLarge     []string // parts of the matrix that are not drawn
	Facts        []fact
	Reasons      []reasonCount
	MoreWhy      int
	Problems     []string
	MoreProb     int
}

// RunsFile returns the page of what ran on devices.
func (*overview) RunsFile() string { return RunsFile }

// fact is something about the run.
type fact struct{ Name, Value string }

type classCount struct {
	Class string
	Cells int
	Share string
}

// facet is one part of the filter.
type facet struct {
	Key, Name string
	Radio     bool
	Values    []facetValue
	Chosen    int
}

type facetValue struct {
	Value, Class string
	Cells        int
	Chosen       bool
}

// maxFacet bounds the values that a part of the filter offers.
const maxFacet = 400

func (x *Index) facets(f Filter, sel *Selection) []facet {
	names := [9]string{"Class", "Rule", "Release", "Target", "Level", "Layout", "Preset", "Known", "Data race"}
	chosen := f.lists()
	var out []facet
	for i, words := range x.words() {
		c := facet{Key: Keys[i], Name: names[i], Radio: i == 7}
		for n, w := range words[:min(len(words), maxFacet)] {
			v := facetValue{Value: w, Cells: sel.Facets[Keys[i]][n]}
			switch i {
			case 0:
				v.Class = w
				v.Chosen = slices.Contains(*chosen[i], w)
			case 7:
				v.Chosen = f.Known == w
			case 8:
				v.Chosen = slices.Contains(f.Race, w)
			default:
				v.Chosen = slices.Contains(*chosen[i], w)
			}
			if v.Chosen {
				c.Chosen++
			}
			c.Values = append(c.Values, v)
		}
		if i == 0 {
			slices.Reverse(c.Values)
		}
		if len(words) > 1 {
			out = append(out, c)
		}
	}
	return out
}

// headline returns the result of a run in a sentence.
func (x *Index) headline(c Counts) string {
	if c.Sum() == 0 {
		if n := len(x.Set.Histograms); n > 0 {
			return plural(n, "run") + " on devices"
		}
		return "No cells"
	}
	t := x.tally(c)
	return t.Headline()
}

// tally counts the findings of the whole index, whose cells are c by class.
func (x *Index) tally(c Counts) *report.Tally {
	x.tallyOnce.Do(func() {
		cells := map[string]int{}
		for i, class := range event.Severities {
			cells[class] = c[i]
		}
		x.tallied = x.Groups.Tally(cells)
	})
	return &x.tallied
}

func are(n int) string { return plain.Form(n, "is", "are") }

func plural(n int, what string) string {
	_, what, _ = strings.Cut(plain.Count(n, what), " ")
	return plain.Number(n) + " " + what
}

// lead says in sentences what a run is of.
func (x *Index) lead(all *Selection) []string {
	if len(x.cells) == 0 {
		return nil
	}
	of := []string{plural(x.usedTests(), "test"), plural(len(x.Toolchains), "compiler release"), plural(len(x.Targets), "target"),
		plural(len(x.Levels), "level"), plural(len(x.Layouts), "layout")}
	out := []string{strings.Join(of, " × ") + ", as far as each release has the target: a cell is one of each."}
	if t := x.tally(all.Total); t.Rest() != "" {
		out = append(out, strings.ToUpper(t.Rest()[:1])+t.Rest()[1:]+".")
	}
	known, fresh := all.Facets["known"][0], all.Facets["known"][1]
	if n := known + fresh; n > 0 {
		which := "all of them known"
		switch {
		case known == 0:
			which = "all of them new"
		case fresh > 0:
			which = fmt.Sprintf("%s of the cells %s new", plain.Number(fresh), are(fresh))
		}
		out = append(out, fmt.Sprintf("%s with %s, %s.", plural(n, "cell"), plural(len(x.groups), "different finding"), which))
		out = append(out, x.races(all)...)
	}
	return out
}

// races says how many cells with findings are of tests without a data race.
func (x *Index) races(all *Selection) []string {
	n := map[string]int{}
	for i, w := range x.Races {
		n[w] = all.Facets["race"][i]
	}
	sum := n[event.WordRaceFree] + n[event.WordRaceUnknown] + n[event.WordDataRace]
	if sum == 0 {
		return nil
	}
	s := fmt.Sprintf("Of %s asked about, %s %s of tests without a data race, %s of tests with one", plural(sum, "such cell"),
		plain.Number(n[event.WordRaceFree]), are(n[event.WordRaceFree]), plain.Number(n[event.WordDataRace]))
	if k := n[event.WordRaceUnknown]; k > 0 {
		s += fmt.Sprintf("; of %s it is not known", plain.Number(k))
	}
	return []string{s + "."}
}

func (x *Index) usedTests() int { return x.known().tests }

// List is a part of the list of findings.
type List struct {
	Rows        []Row
	Groups      int // in all pages
	Cells       int // of these groups
	Page, Pages int
}

// List makes a page of the list of findings.
func (x *Index) List(v View, sel *Selection) List {
	var order []int
	l := List{}
	for n, cells := range sel.Groups {
		if cells > 0 {
			order = append(order, n)
			l.Cells += cells
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch v.Sort {
		case "test":
			return cmp.Compare(x.groups[a].test, x.groups[b].test)
		case "cells":
			return cmp.Compare(sel.Groups[b], sel.Groups[a])
		}
		return 0 // groups are sorted by severity
	})
	per := cmp.Or(v.Per, perPage)
	l.Groups, l.Pages = len(order), max(1, (len(order)+per-1)/per)
	l.Page = min(max(v.Page, 1), l.Pages)
	m := x.match(v.Filter)
	for _, n := range order[(l.Page-1)*per : min(l.Page*per, len(order))] {
		var cells []uint32
		for _, i := range x.Groups.List[n].Cells {
			if m.fail(x.cells[i], &x.kinds[x.cells[i].kind]) == 0 {
				cells = append(cells, i)
			}
		}
		l.Rows = append(l.Rows, x.row(n, cells))
	}
	return l
}

// releaseFacts is a compiler release of the run.
type releaseFacts struct {
	ID, Build, PTX string
	Targets, Cells int
}

type reasonCount struct {
	Reason string
	Cells  int
}

// Bounds of what the overview lists.
const (
	maxReasons  = 40
	maxReleases = 100
	maxProblems = 100
)

// run collects what the run is.
func (o *overview) run() {
	x := o.Index
	s, c := x.Set, &x.Set.Config
	fact := func(name, value string) {
		if value != "" {
			o.Facts = append(o.Facts, fact{name, Short(value, 300)})
		}
	}
	fact("Tool", "optcheck "+c.Tool)
	fact("Build", c.Build)
	fact("Marker encoding", fmt.Sprintf("version %d", c.Spec))
	fact("Kernels", c.Source)
	if c.Plain {
		fact("Markers", "none: kernels without markers")
	}
	fact("Further flags", strings.Join(c.Flags, " "))
	cells := x.everything().Total.Sum() > 0
	if cells {
		fact("Models", cmp.Or(c.Model, "none was asked"))
	}
	fact("Judged by", strings.Join(x.models(), ", "))
	fact("Shard", c.Shard)
	if cells {
		fact("Machine code", plural(x.codes, "different code"))
	}
	if n := len(s.Histograms); n > 0 {
		o.Runs = "What " + plural(n, "run") + " on devices showed"
	}
	if st := s.Stats; st != nil {
		fact("Cost", fmt.Sprintf("%s, %s, %.1f s; CPU: compilers and disassemblers %.1f s, optcheck %.1f s",
			plural(st.Kernels, "kernel"), plural(st.Processes, "process"), st.Wall, st.ToolCPU, st.OwnCPU))
	}
	if x.Duplicates > 0 {
		o.Problems = append(o.Problems, plural(x.Duplicates, "cell")+" came more than once with different results; the last one is shown")
	}
	for _, p := range s.Problems[:min(len(s.Problems), maxProblems)] {
		o.Problems = append(o.Problems, Short(p.String(), 500))
	}
	o.MoreProb = len(s.Problems) - min(len(s.Problems), maxProblems)
	o.releases()
	o.reasons()
}

// models returns the models that verdicts name.
func (x *Index) models() []string { return x.known().models }

func (o *overview) releases() {
	x := o.Index
	all := make([]releaseFacts, len(x.Toolchains))
	last := make([]int, len(all))
	for i := range all {
		all[i].ID, last[i] = x.Toolchains[i], -1
	}
	at := positions(x.Toolchains)
	for _, tc := range x.Set.Config.Toolchains {
		if i, ok := at[handle(tc.ID)]; ok {
			all[i].Build, all[i].PTX = Short(tc.Build, 120), Short(tc.MaxPTX, 20)
		}
	}
	columns := x.everything().Columns
	for i, c := range x.columns {
		r := &all[c.toolchain]
		r.Cells += columns[i].Sum()
		if c.target != last[c.toolchain] {
			r.Targets++
			last[c.toolchain] = c.target
		}
	}
	o.MoreReleases = max(0, len(all)-maxReleases)
	o.Releases = all[:len(all)-o.MoreReleases]
}

// reasons counts why cells are unsupported.
func (o *overview) reasons() {
	o.Reasons = o.Index.known().reasons
	if k := len(o.Reasons) - maxReasons; k > 0 {
		o.Reasons, o.MoreWhy = o.Reasons[:maxReasons], k
	}
}
