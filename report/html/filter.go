package html

import (
	"fmt"
	"math/bits"
	"net/url"
	"slices"
	"strings"

	"optcheck/event"
)

// Filter chooses cells. An empty list chooses all; several values of one list
// choose the cells that have one of them. The zero value chooses everything.
type Filter struct {
	Class, Rule, Release, Target, Level, Layout, Preset []string
	// Known is "known", "new" or empty: of cells that have findings or could not
	// be decided, those that are or are not instances of known findings.
	Known string
	// Race is report.RaceWords: of cells that have findings, those of tests of which
	// the language says so.
	Race []string
	// Text is words that must all occur in the name of the test or in what was
	// found.
	Text string
}

// Keys are the names of a filter's parts in addresses.
var Keys = []string{"class", "rule", "release", "target", "level", "layout", "preset", "known", "race", "q"}

// maxFilterText bounds the text of a filter in characters.
const maxFilterText = 200

// ParseFilter reads a filter from the parameters of an address. Other
// parameters are left alone; values that no cell has choose none.
func ParseFilter(v url.Values) (Filter, error) {
	f := Filter{Known: v.Get("known"), Text: strings.TrimSpace(v.Get("q"))}
	for i, l := range f.lists() {
		*l = v[Keys[i]]
	}
	f.Race = v["race"]
	for _, w := range f.Race {
		if !slices.Contains(event.RaceWords(), w) {
			return f, fmt.Errorf("race=%q: must be %s", Short(w, 40), strings.Join(event.RaceWords(), ", "))
		}
	}
	if f.Known != "" && f.Known != "known" && f.Known != "new" {
		return f, fmt.Errorf("known=%q: must be known or new", Short(f.Known, 40))
	}
	if len(f.Text) > 4*maxFilterText {
		return f, fmt.Errorf("q has %d bytes, at most %d are looked for", len(f.Text), 4*maxFilterText)
	}
	return f, nil
}

// Values returns the parameters of an address that ParseFilter reads back.
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
	if len(f.Race) > 0 {
		v["race"] = f.Race
	}
	if f.Text != "" {
		v.Set("q", f.Text)
	}
	return v
}

// lists returns the parts of a filter that are lists, in the order of Keys.
func (f *Filter) lists() []*[]string {
	return []*[]string{&f.Class, &f.Rule, &f.Release, &f.Target, &f.Level, &f.Layout, &f.Preset}
}

// The parts of a filter as bits, in the order of Keys.
const (
	failClass fails = 1 << iota
	failRule
	failRelease
	failTarget
	failLevel
	failLayout
	failPreset
	failKnown
	failRace
	failText
)

// Counts are numbers of cells by class, in the order of report.Severities.
type Counts [8]int

// Sum returns the number of all cells.
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
	var h *histogram
	if len(x.columns)*len(x.Presets) <= maxHistogram {
		h = newHistogram(x)
	}
	rules, known, races := s.Facets[Keys[1]], s.Facets[Keys[7]], s.Facets[Keys[8]]
	for _, c := range x.cells {
		k := &x.kinds[c.kind]
		fail := m.fail(c, k)
		if fail&(fail-1) != 0 {
			continue // more than one part lets it out
		}
		if h != nil {
			h.add(fail, c, k, x.presets[c.test])
		} else {
			x.count(s, c, k, fail)
		}
		if k.group < 0 {
			continue
		}
		if fail == 0 {
			s.Groups[k.group]++
		}
		if g := &x.groups[k.group]; fail&^failRule == 0 {
			for _, r := range g.rules {
				rules[r]++
			}
		}
		if fail&^failKnown == 0 {
			known[x.groups[k.group].old]++
		}
		if r := x.groups[k.group].race; r >= 0 && fail&^failRace == 0 {
			races[r]++
		}
	}
	if h != nil {
		h.fold(s)
	}
	return s
}

// maxHistogram bounds the columns times presets that a histogram has room for.
var maxHistogram = 1 << 16

// count counts a cell without a histogram.
func (x *Index) count(s *Selection, c cell, k *kind, fail fails) {
	if fail == 0 {
		s.Total[k.class]++
		s.Columns[c.column][k.class]++
	}
	col := x.columns[c.column]
	for part, v := range [7]int{int(k.class), -1, col.toolchain, col.target, col.level, col.layout, int(x.presets[c.test])} {
		if v >= 0 && fail&^(1<<part) == 0 {
			s.Facets[Keys[part]][v]++
		}
	}
}

// histogram counts cells by the only part of the filter that lets them out,
// column and class: what else is counted follows from it, but for presets, which
// are counted beside it. Its size must not be the product of what a file names.
type histogram struct {
	x       *Index
	n       []int
	presets []int
}

func newHistogram(x *Index) *histogram {
	return &histogram{x: x, n: make([]int, (len(Keys)+1)*len(x.columns)*len(event.Severities)), presets: make([]int, len(x.Presets))}
}

func (h *histogram) at(part int, column uint32, class uint8) int {
	return (part*len(h.x.columns)+int(column))*len(event.Severities) + int(class)
}

func (h *histogram) add(fail fails, c cell, k *kind, preset uint32) {
	h.n[h.at(bits.Len16(uint16(fail)), c.column, k.class)]++
	if fail&^failPreset == 0 {
		h.presets[preset]++
	}
}

// fold adds up what follows from the histogram.
func (h *histogram) fold(s *Selection) {
	facets := [6][]int{}
	for i := range facets {
		facets[i] = s.Facets[Keys[i]]
	}
	for column := range h.x.columns {
		col := h.x.columns[column]
		for class := range event.Severities {
			all := h.n[h.at(0, uint32(column), uint8(class))]
			s.Total[class] += all
			s.Columns[column][class] += all
			for part, v := range [6]int{class, -1, col.toolchain, col.target, col.level, col.layout} {
				if v >= 0 {
					facets[part][v] += all + h.n[h.at(part+1, uint32(column), uint8(class))]
				}
			}
		}
	}
	copy(s.Facets[Keys[6]], h.presets)
}

// words returns the values of the filter's parts, in the order of Keys.
func (x *Index) words() [9][]string {
	return [9][]string{event.Severities, x.Rules, x.Toolchains, x.Targets, x.Levels, x.Layouts, x.Presets, knownWords, x.Races}
}

var knownWords = []string{"known", "new"}

// fails is a set of parts of a filter that let something out.
type fails uint16

// matcher says which parts of a filter let a cell out.
type matcher struct {
	column, preset, test, group []fails
	plain                       [len(Counts{})]fails // of cells without a group, by class
}

func (m *matcher) fail(c cell, k *kind) fails {
	f := m.column[c.column] | m.preset[c.test]
	if k.group >= 0 {
		return f | m.group[k.group]
	}
	return f | m.plain[k.class] | m.test[c.test]
}

func (x *Index) match(f Filter) *matcher {
	m := &matcher{}
	out := func(list []string, word string, bit fails) fails {
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
	missing := func(text string) fails {
		for _, w := range words {
			if !strings.Contains(text, w) {
				return failText
			}
		}
		return 0
	}
	var presets []fails
	for _, p := range x.Presets {
		presets = append(presets, out(f.Preset, p, failPreset))
	}
	m.preset, m.test = make([]fails, len(x.tests)), make([]fails, len(x.tests))
	for i := range x.tests {
		m.preset[i] = presets[x.presets[i]]
		if len(words) > 0 {
			m.test[i] = missing(x.names[i])
		}
	}
	for class := range m.plain {
		m.plain[class] = out(f.Class, event.Severities[class], failClass)
		if len(f.Rule) > 0 {
			m.plain[class] |= failRule
		}
		if f.Known != "" {
			m.plain[class] |= failKnown
		}
		if len(f.Race) > 0 {
			m.plain[class] |= failRace
		}
	}
	m.group = make([]fails, len(x.groups))
	for i := range x.groups {
		m.group[i] = x.matchGroup(f, &x.groups[i]) | missing(x.groups[i].text)
	}
	return m
}

func (x *Index) matchGroup(f Filter, g *groupInfo) (fail fails) {
	if len(f.Class) > 0 && !slices.Contains(f.Class, event.Severities[g.class]) {
		fail |= failClass
	}
	if len(f.Rule) > 0 && !slices.ContainsFunc(g.rules, func(r int) bool { return slices.Contains(f.Rule, x.Rules[r]) }) {
		fail |= failRule
	}
	if f.Known != "" && (f.Known == "known") != g.known {
		fail |= failKnown
	}
	if len(f.Race) > 0 && (g.race < 0 || !slices.Contains(f.Race, x.Races[g.race])) {
		fail |= failRace
	}
	return fail
}
