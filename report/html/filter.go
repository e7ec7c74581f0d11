package html

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Filter chooses cells. An empty list chooses all; several values of one list
// choose the cells that have one of them. The zero value chooses everything.
type Filter struct {
	Class, Rule, Release, Target, Level, Layout, Preset []string
	// Known is "known", "new" or empty: of cells that have findings or could not
	// be decided, those that are or are not instances of known findings.
	Known string
	// Text is words that must all occur in the name of the test or in what was
	// found.
	Text string
}

// Keys are the names of a filter's parts in addresses.
var Keys = []string{"class", "rule", "release", "target", "level", "layout", "preset", "known", "q"}

// maxFilterText bounds the text of a filter in characters.
const maxFilterText = 200

// ParseFilter reads a filter from the parameters of an address. Other
// parameters are left alone; values that no cell has choose none.
func ParseFilter(v url.Values) (Filter, error) {
	f := Filter{Known: v.Get("known"), Text: strings.TrimSpace(v.Get("q"))}
	for i, l := range f.lists() {
		*l = v[Keys[i]]
	}
	if f.Known != "" && f.Known != "known" && f.Known != "new" {
		return f, fmt.Errorf("known=%q: must be known or new", Short(f.Known, 40))
	}
	if len(f.Text) > 4*maxFilterText {
		return f, fmt.Errorf("q has %d bytes, at most %d are looked for", len(f.Text), 4*maxFilterText)
	}
	return f, nil
}

// Values are the parameters of an address that ParseFilter reads back.
func (f Filter) Values() url.Values {
	v := url.Values{}
	for i, l := range f.lists() {
		if len(*l) > 0 {
			v[Keys[i]] = *l
		}
	}
	if f.Known != "" {
		v.Set("known", f.Known)
	}
	if f.Text != "" {
		v.Set("q", f.Text)
	}
	return v
}

// lists are the parts of a filter that are lists, in the order of Keys.
func (f *Filter) lists() []*[]string {
	return []*[]string{&f.Class, &f.Rule, &f.Release, &f.Target, &f.Level, &f.Layout, &f.Preset}
}

// The parts of a filter as bits, in the order of Keys.
const (
	failClass = 1 << iota
	failRule
	failRelease
	failTarget
	failLevel
	failLayout
	failPreset
	failKnown
	failText
)

// Counts are numbers of cells by class, in the order of Severities.
type Counts [6]int

// Sum is the number of all cells.
func (c *Counts) Sum() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// Selection is what a filter chooses.
type Selection struct {
	Total   Counts
	Columns []Counts // by column of the index
	Groups  []int    // cells of each group
	// Facets says for each value of a part of the filter how many cells there
	// were if that part let all through; keys as in Keys.
	Facets map[string][]int
}

// Select counts the cells that a filter chooses.
func (x *Index) Select(f Filter) *Selection {
	s := &Selection{Columns: make([]Counts, len(x.columns)), Groups: make([]int, len(x.groups)), Facets: map[string][]int{}}
	for i, words := range x.words() {
		s.Facets[Keys[i]] = make([]int, len(words))
	}
	m := x.match(f)
	facets := make([][]int, len(x.words()))
	for i := range facets {
		facets[i] = s.Facets[Keys[i]]
	}
	for _, c := range x.cells {
		k := &x.kinds[c.kind]
		fail := m.fail(c, k)
		if fail == 0 {
			s.Total[k.class]++
			s.Columns[c.column][k.class]++
			if k.group >= 0 {
				s.Groups[k.group]++
			}
		}
		x.addFacets(facets, c, k, fail)
	}
	return s
}

// words are the values of the filter's parts, in the order of Keys.
func (x *Index) words() [8][]string {
	return [8][]string{Severities, x.Rules, x.Toolchains, x.Targets, x.Levels, x.Layouts, x.Presets, knownWords}
}

var knownWords = []string{"known", "new"}

// addFacets counts a cell for all values that would choose it.
func (x *Index) addFacets(facets [][]int, c cell, k *kind, fail int) {
	if fail&(fail-1) != 0 {
		return // more than one part lets it out
	}
	col := x.columns[c.column]
	add := func(part, value int) {
		if fail&^(1<<part) == 0 {
			facets[part][value]++
		}
	}
	add(0, int(k.class))
	add(2, col.toolchain)
	add(3, col.target)
	add(4, col.level)
	add(5, col.layout)
	add(6, int(x.presets[c.test]))
	if k.group < 0 {
		return
	}
	g := &x.groups[k.group]
	for _, r := range g.rules {
		add(1, r)
	}
	if g.known {
		add(7, 0)
	} else {
		add(7, 1)
	}
}

// matcher says which parts of a filter let a cell out.
type matcher struct {
	column, preset, test, group []int
	plain                       [6]int // of cells without a group, by class
}

func (m *matcher) fail(c cell, k *kind) int {
	f := m.column[c.column] | m.preset[c.test]
	if k.group >= 0 {
		return f | m.group[k.group]
	}
	return f | m.plain[k.class] | m.test[c.test]
}

func (x *Index) match(f Filter) *matcher {
	m := &matcher{}
	out := func(list []string, word string, bit int) int {
		if len(list) == 0 || slices.Contains(list, word) {
			return 0
		}
		return bit
	}
	for _, c := range x.columns {
		m.column = append(m.column, out(f.Release, x.Toolchains[c.toolchain], failRelease)|out(f.Target, x.Targets[c.target], failTarget)|
			out(f.Level, x.Levels[c.level], failLevel)|out(f.Layout, x.Layouts[c.layout], failLayout))
	}
	words := strings.Fields(lower(f.Text))
	missing := func(text string) int {
		for _, w := range words {
			if !strings.Contains(text, w) {
				return failText
			}
		}
		return 0
	}
	for i, t := range x.tests {
		m.preset = append(m.preset, out(f.Preset, x.Presets[x.presets[i]], failPreset))
		m.test = append(m.test, missing(lower(Short(x.Set.Tests[t].Name, maxName))))
	}
	for class := range m.plain {
		m.plain[class] = out(f.Class, Severities[class], failClass)
		if len(f.Rule) > 0 {
			m.plain[class] |= failRule
		}
		if f.Known != "" {
			m.plain[class] |= failKnown
		}
	}
	for i := range x.groups {
		m.group = append(m.group, x.matchGroup(f, &x.groups[i])|missing(x.groups[i].text))
	}
	return m
}

func (x *Index) matchGroup(f Filter, g *groupInfo) (fail int) {
	if len(f.Class) > 0 && !slices.Contains(f.Class, Severities[g.class]) {
		fail |= failClass
	}
	if len(f.Rule) > 0 && !slices.ContainsFunc(g.rules, func(r int) bool { return slices.Contains(f.Rule, x.Rules[r]) }) {
		fail |= failRule
	}
	if f.Known != "" && (f.Known == "known") != g.known {
		fail |= failKnown
	}
	return fail
}
