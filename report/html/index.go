package html

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"optcheck/event"
	"optcheck/report"
)

// Index is a set arranged for looking at: in an order that depends on what is
// in the set alone, without duplicates, with what cells can be filtered by
// numbered. It is read only and safe for concurrent use.
type Index struct {
	// Set is the set with its cells sorted by test, toolchain, target, level and
	// layout. Cells that were there twice are there once.
	Set    *event.Set
	Groups *report.Groups
	// Duplicates is the number of cells that were there more than once with
	// different results; the last one was taken.
	Duplicates int

	// What columns and tests consist of, in the order of pages, as handles.
	Toolchains, Targets, Levels, Layouts, Presets, Rules []string
	Races                                                []string // of report.RaceWords those that occur

	tests   []uint32 // the set's tests in order
	columns []column // in order
	kinds   []kind
	cells   []cell // parallel to Set.Cells
	groups  []groupInfo
	once    sync.Once
	facts   facts
	presets []uint32 // of tests, in order
	names   []string // of tests, in order, as the text of a filter is looked for in them
	codes   int

	tallyOnce sync.Once
	tallied   report.Tally
}

// column is a column of the set as numbers.
type column struct{ toolchain, target, level, layout int }

// kind is what filters and comparisons see of a result.
type kind struct {
	class uint8 // index into report.Severities
	group int32 // index into Groups.List, -1 for none
	code  uint32
}

// cell is a cell as positions in tests, columns and kinds.
type cell struct{ test, column, kind uint32 }

// groupInfo is what filters and lists see of a group.
type groupInfo struct {
	class uint8
	known bool
	old   int    // position in knownWords
	test  uint32 // position in tests
	says  uint32 // equal numbers: equal findings, reasons and new outcomes
	rules []int
	race  int    // position in Races, -1 if nothing was asked
	text  string // what the text of a filter is looked for in
}

// NewIndex arranges a set, which it leaves as it is.
func NewIndex(s *event.Set) *Index {
	x := &Index{}
	set := *s
	set.Results = knownClasses(s.Results)
	x.Set = &set
	x.orderTests()
	at := x.orderColumns()
	x.sortCells(at)
	x.Groups = report.NewGroups(x.Set)
	x.groupInfos()
	x.number(at)
	return x
}

// knownClasses makes cells of a class that this version does not know undecided.
func knownClasses(in []event.Result) []event.Result {
	out := slices.Clone(in)
	for i := range out {
		if r := &out[i]; !slices.Contains(event.Severities, r.Class) {
			r.Reason = fmt.Sprintf("the class %q is none that this version knows; %s", Short(r.Class, 40), r.Reason)
			r.Class = event.Unknown
		}
	}
	return out
}

func (x *Index) orderTests() {
	s := x.Set
	x.tests = make([]uint32, len(s.Tests))
	var presets []string
	for i := range x.tests {
		x.tests[i] = uint32(i)
		presets = append(presets, Preset(&s.Tests[i]))
	}
	slices.SortFunc(x.tests, func(a, b uint32) int {
		ta, tb := &s.Tests[a], &s.Tests[b]
		return cmp.Or(natural(ta.Name, tb.Name), cmp.Compare(ta.Name, tb.Name), cmp.Compare(ta.Hash, tb.Hash))
	})
	x.Presets = vocabulary(nil, presets)
	for _, t := range x.tests {
		x.presets = append(x.presets, uint32(slices.Index(x.Presets, presets[t])))
		x.names = append(x.names, lower(Short(s.Tests[t].Title(), maxName)))
	}
}

// Preset says where a test is from, in the words of the filter.
func Preset(t *event.Test) string {
	switch {
	case t.Preset != "":
		return handle(t.Preset)
	case t.File != "":
		return "files"
	}
	return "not told"
}

// orderColumns numbers what columns consist of and sorts them. It returns the
// position of each of the set's columns.
func (x *Index) orderColumns() []uint32 {
	s := x.Set
	var tcs, targets, levels, layouts []string
	for _, c := range s.Columns {
		tcs, targets = append(tcs, handle(c.Toolchain)), append(targets, handle(c.Target))
		levels, layouts = append(levels, handle(c.Level)), append(layouts, handle(c.Layout))
	}
	x.Toolchains = vocabulary(nil, tcs)
	x.Targets = vocabulary(s.Config.Targets, targets)
	x.Levels = vocabulary(nil, levels)
	x.Layouts = vocabulary(s.Config.Layouts, layouts)
	order := make([]uint32, len(s.Columns))
	numbers := make([]column, len(s.Columns))
	atTC, atTarget, atLevel, atLayout := positions(x.Toolchains), positions(x.Targets), positions(x.Levels), positions(x.Layouts)
	for i := range s.Columns {
		order[i] = uint32(i)
		numbers[i] = column{atTC[tcs[i]], atTarget[targets[i]], atLevel[levels[i]], atLayout[layouts[i]]}
	}
	slices.SortFunc(order, func(a, b uint32) int {
		p, q := numbers[a], numbers[b]
		return cmp.Or(p.toolchain-q.toolchain, p.target-q.target, p.level-q.level, p.layout-q.layout)
	})
	at := make([]uint32, len(order))
	for pos, i := range order {
		at[i] = uint32(pos)
		x.columns = append(x.columns, numbers[i])
	}
	return at
}

// sortCells sorts the set's cells and leaves the last of equal places.
func (x *Index) sortCells(columnAt []uint32) {
	testAt := make([]uint32, len(x.tests))
	for pos, t := range x.tests {
		testAt[t] = uint32(pos)
	}
	cells := slices.Clone(x.Set.Cells)
	slices.SortStableFunc(cells, func(a, b event.Ref) int {
		return cmp.Or(cmp.Compare(testAt[a.Test], testAt[b.Test]), cmp.Compare(columnAt[a.Column], columnAt[b.Column]))
	})
	out := cells[:0]
	for _, c := range cells {
		if n := len(out); n > 0 && out[n-1].Test == c.Test && out[n-1].Column == c.Column {
			if out[n-1].Result != c.Result {
				x.Duplicates++
			}
			out[n-1] = c
			continue
		}
		out = append(out, c)
	}
	x.Set.Cells = out
	for _, c := range out {
		x.cells = append(x.cells, cell{test: testAt[c.Test], column: columnAt[c.Column]})
	}
}

// groupInfos collects what filters see of groups.
func (x *Index) groupInfos() {
	s := x.Set
	var rules []string
	for _, g := range x.Groups.List {
		for _, f := range x.Result(g).Findings {
			rules = append(rules, handle(f.Rule))
		}
	}
	x.Rules = vocabulary(nil, rules)
	for _, w := range event.RaceWords() {
		if slices.ContainsFunc(x.Groups.List, func(g *report.Group) bool { return x.Result(g).RaceWord() == w }) {
			x.Races = append(x.Races, w)
		}
	}
	ruleAt, says := positions(x.Rules), map[string]uint32{}
	for _, g := range x.Groups.List {
		r := x.Result(g)
		i := groupInfo{class: classIndex(r.Class), known: len(r.Known) > 0, test: x.cells[g.Cells[0]].test,
			race: slices.Index(x.Races, r.RaceWord())}
		if !i.known {
			i.old = 1
		}
		text := []string{Short(s.Tests[g.Test].Title(), maxName), Short(r.Reason, maxDetail)}
		for _, f := range r.Findings {
			if n := ruleAt[handle(f.Rule)]; !slices.Contains(i.rules, n) {
				i.rules = append(i.rules, n)
			}
		}
		for _, f := range shownFindings(&s.Tests[g.Test], r) {
			text = append(text, f.Rule, f.Place, f.Detail)
		}
		i.text = lower(strings.Join(append(append(text, knownNames(r)...), r.RaceWord()), "\n"))
		k := r.Says()
		n, ok := says[k]
		if !ok {
			n = uint32(len(says))
			says[k] = n
		}
		i.says = n
		x.groups = append(x.groups, i)
	}
}

// number gives each cell its kind.
func (x *Index) number(columnAt []uint32) {
	groupOf := make([]int32, len(x.cells))
	for i := range groupOf {
		groupOf[i] = -1
	}
	for n, g := range x.Groups.List {
		for _, i := range g.Cells {
			groupOf[i] = int32(n)
		}
	}
	codes, kinds := map[string]uint32{"": 0}, map[kind]uint32{}
	for i, c := range x.Set.Cells {
		r := &x.Set.Results[c.Result]
		code, ok := codes[r.Code]
		if !ok {
			code = uint32(len(codes))
			codes[r.Code] = code
		}
		k := kind{classIndex(r.Class), groupOf[i], code}
		n, ok := kinds[k]
		if !ok {
			n = uint32(len(x.kinds))
			kinds[k] = n
			x.kinds = append(x.kinds, k)
		}
		x.cells[i].kind = n
	}
	x.codes = len(codes) - 1
}

// Result returns what the cells of a group show.
func (x *Index) Result(g *report.Group) *event.Result { return x.Groups.Result(g) }

// Codes returns the number of different machine codes.
func (x *Index) Codes() int { return x.codes }

func classIndex(class string) uint8 { return uint8(slices.Index(event.Severities, class)) }

// positions says where in a list each word stands.
func positions(words []string) map[string]int {
	out := make(map[string]int, len(words))
	for i, w := range words {
		out[w] = i
	}
	return out
}

// vocabulary lists the different words: those of first in its order, then the
// others in natural order.
func vocabulary(first, words []string) []string {
	used := map[string]bool{}
	for _, w := range words {
		used[w] = true
	}
	var out []string
	for _, w := range first {
		if used[w] {
			out = append(out, w)
			delete(used, w)
		}
	}
	n := len(out)
	for w := range used {
		out = append(out, w)
	}
	slices.SortFunc(out[n:], func(a, b string) int { return cmp.Or(natural(a, b), cmp.Compare(a, b)) })
	return out
}

// handle returns a word as addresses and pages write it: the word itself, or if that
// is long or holds what cannot be seen, what can be seen of it and a hash.
func handle(word string) string {
	seen := Short(word, 80)
	if seen == word {
		return word
	}
	h := sha256.Sum256([]byte(word))
	return seen + " #" + hex.EncodeToString(h[:4])
}

// natural compares texts with the numbers in them by value: sm_90 < sm_100.
func natural(a, b string) int {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	for a != "" && b != "" {
		if digit(a[0]) && digit(b[0]) {
			i, j := 0, 0
			for i < len(a) && digit(a[i]) {
				i++
			}
			for j < len(b) && digit(b[j]) {
				j++
			}
			p, q := strings.TrimLeft(a[:i], "0"), strings.TrimLeft(b[:j], "0")
			if c := cmp.Or(len(p)-len(q), strings.Compare(p, q)); c != 0 {
				return c
			}
			a, b = a[i:], b[j:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// lower makes ASCII letters small: pages and their script must agree on it.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
