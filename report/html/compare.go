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

// Comparison is what two releases do differently with the same cells.
type Comparison struct {
	Left, Right     string
	LeftAt, RightAt int // positions in Index.Toolchains
	report.Compared
	TargetsLeft  string
	TargetsRight string // those of which all cells are only on one side
	Changes      []Change
	More         int // changes that are not listed
	Alone        []CodeCount
	Instructions codeSection // changes of memory instructions
}

// Change is the cells of one test that change in the same way.
type Change struct {
	Test, Href string
	From, To   Side
	Where      string
	Cells      int
}

// Side is what a test shows on one side of a comparison.
type Side struct {
	Class string
	Href  string // of its page, "" for none
	Found string // the findings in a few words, or the class
}

// CodeCount counts cells whose machine code alone differs.
type CodeCount struct {
	Target string
	Levels []int
}

// pair is a cell on both sides.
type pair struct{ left, right uint32 }

// change is a Change before it is put into words.
type change struct {
	test, order, from, to int
	cells                 int
	a, b                  *kind
	n                     int // in the order in which it was found
}

// changeList gathers changes: cells come test by test.
type changeList struct {
	list  []change
	test  uint32
	at    map[[2]int]int // of this test
	cells []changed
}

// changed is a cell of the right side that belongs to a change.
type changed struct{ change, cell uint32 }

func (l *changeList) add(test, cell uint32, a, b *kind) {
	if test != l.test || l.at == nil {
		l.test = test
		if l.at == nil {
			l.at = map[[2]int]int{}
		}
		clear(l.at)
	}
	key := [2]int{sideKey(a), sideKey(b)}
	i, ok := l.at[key]
	if !ok {
		i = len(l.list)
		l.at[key] = i
		l.list = append(l.list, change{test: int(test), order: report.ChangeRank(int(a.class), int(b.class)), from: key[0],
			to: key[1], a: a, b: b, n: i})
	}
	l.list[i].cells++
	l.cells = append(l.cells, changed{uint32(i), cell})
}

// Compare compares two releases, by their positions. Of the changes, at most limit
// are put into words, the worst first; the others are only counted.
func (x *Index) Compare(left, right, limit int) *Comparison {
	c := &Comparison{LeftAt: left, RightAt: right, Left: x.Toolchains[left], Right: x.Toolchains[right]}
	var changes changeList
	alone := map[[2]int]int{}
	only := [2][]int{make([]int, len(x.Targets)), make([]int, len(x.Targets))}
	both := make([]bool, len(x.Targets))
	x.pairs(left, right, func(p pair) {
		a, b := &x.kinds[x.cells[p.left].kind], &x.kinds[x.cells[p.right].kind]
		col := x.columns[x.cells[p.right].column]
		both[col.target] = true
		delta := x.delta(a, b)
		c.Add(delta)
		switch delta {
		case report.InCode:
			alone[[2]int{col.target, col.level}]++
		case report.InFound, report.InClass:
			changes.add(x.cells[p.right].test, p.right, a, b)
		}
	}, func(side int, cell uint32) {
		only[side][x.columns[x.cells[cell].column].target]++
	})
	c.Changes, c.More = x.worst(&changes, limit)
	c.OnlyLeft, c.TargetsLeft = x.onlyTargets(only[0], both)
	c.OnlyRight, c.TargetsRight = x.onlyTargets(only[1], both)
	c.Alone = x.codeCounts(alone)
	return c
}

// instructions tells which memory instructions two releases have that differ.
func (x *Index) instructions(left, right int) codeSection {
	code := report.NewCodeChanges()
	x.pairs(left, right, func(p pair) {
		if x.kinds[x.cells[p.left].kind].code == x.kinds[x.cells[p.right].kind].code {
			return
		}
		a, b := x.Set.Cell(int(p.left)), x.Set.Cell(int(p.right))
		if a.Code != "" && b.Code != "" {
			code.Add(&b, x.Set.Listings[a.ListingKey()], x.Set.Listings[b.ListingKey()])
		}
	}, func(int, uint32) {})
	return newCodeSection(x.Toolchains[left], x.Toolchains[right], report.Causes(code.List(), nil), code.Rest())
}

// worst puts the worst changes into words, and counts the others.
func (x *Index) worst(l *changeList, limit int) (out []Change, more int) {
	slices.SortFunc(l.list, func(a, b change) int {
		return cmp.Or(a.order-b.order, a.test-b.test, a.from-b.from, a.to-b.to)
	})
	shown := l.list[:min(len(l.list), limit)]
	cells := make(map[uint32][]uint32, len(shown))
	for _, d := range shown {
		cells[uint32(d.n)] = make([]uint32, 0, d.cells)
	}
	for _, y := range l.cells {
		if list, ok := cells[y.change]; ok {
			cells[y.change] = append(list, y.cell)
		}
	}
	for _, d := range shown {
		w := Change{Cells: d.cells, Where: x.where(cells[uint32(d.n)])[1]}
		x.describe(&w, d.test, d.a, d.b)
		out = append(out, w)
	}
	return out, len(l.list) - len(shown)
}

// pairs passes the cells that both releases have to f, and the others with
// their side to lone.
func (x *Index) pairs(left, right int, f func(pair), lone func(side int, cell uint32)) {
	if left == right {
		for i, c := range x.cells {
			if x.columns[c.column].toolchain == left {
				f(pair{uint32(i), uint32(i)})
			}
		}
		return
	}
	type place struct{ target, level, layout int }
	at := map[place][2]int{}
	side := make([]int, len(x.columns))
	place_ := func(c column) place { return place{c.target, c.level, c.layout} }
	for i, c := range x.columns {
		side[i] = -1
		p := at[place_(c)]
		switch c.toolchain {
		case left:
			side[i], p[0] = 0, i+1
		case right:
			side[i], p[1] = 1, i+1
		}
		at[place_(c)] = p
	}
	partner := make([]int, len(x.columns))
	for i, c := range x.columns {
		partner[i] = -1
		if side[i] >= 0 {
			partner[i] = at[place_(c)][1-side[i]] - 1
		}
	}
	cellAt := make([]uint32, len(x.columns)) // in the test, plus one
	for i := 0; i < len(x.cells); {
		j := i
		for ; j < len(x.cells) && x.cells[j].test == x.cells[i].test; j++ {
			cellAt[x.cells[j].column] = uint32(j + 1)
		}
		for k := i; k < j; k++ {
			col := x.cells[k].column
			if side[col] < 0 {
				continue
			}
			if other := partner[col]; other < 0 || cellAt[other] == 0 {
				lone(side[col], uint32(k))
			} else if side[col] == 1 {
				f(pair{cellAt[other] - 1, uint32(k)})
			}
		}
		for k := i; k < j; k++ {
			cellAt[x.cells[k].column] = 0
		}
		i = j
	}
}

// delta returns report.Result.Delta by numbers.
func (x *Index) delta(a, b *kind) report.Delta {
	says := func(k *kind) int {
		if k.group < 0 {
			return -1
		}
		return int(x.groups[k.group].says)
	}
	switch {
	case a.class != b.class:
		return report.InClass
	case says(a) != says(b):
		return report.InFound
	case a.code != b.code:
		return report.InCode
	}
	return report.Same
}

// sideKey numbers what a side of a change shows: its group, or its class.
func sideKey(k *kind) int {
	if k.group >= 0 {
		return int(k.group)
	}
	return -1 - int(k.class)
}

func (x *Index) describe(d *Change, test int, from, to *kind) {
	d.Test = Short(x.Set.Tests[x.tests[test]].Title(), maxName)
	d.From, d.To = x.side(from), x.side(to)
	if d.From.Found == d.To.Found {
		d.To.Found = "the same with other outcomes"
		if from.class != to.class {
			d.To.Found = "the same"
		}
	}
	d.Href = cmp.Or(d.To.Href, d.From.Href)
}

func (x *Index) side(k *kind) Side {
	s := Side{Class: event.Severities[k.class], Found: event.Severities[k.class]}
	if k.group < 0 {
		return s
	}
	g := x.Groups.List[k.group]
	s.Href = PageOf(g)
	r := x.Result(g)
	var found []string
	for _, f := range shownFindings(&x.Set.Tests[g.Test], r) {
		found = append(found, f.Rule+" "+f.At)
	}
	if n := len(r.Findings) - len(found); n > 0 {
		found = append(found, fmt.Sprintf("%s more", plain.Number(n)))
	}
	if len(found) > 0 {
		s.Found = strings.Join(found, ", ")
	} else if r.Reason != "" {
		s.Found = Short(r.Reason, maxDetail)
	}
	return s
}

// onlyTargets counts the cells of one side, and names the targets that the
// other side lacks.
func (x *Index) onlyTargets(cells []int, both []bool) (n int, targets string) {
	var names []string
	for t := range x.Targets {
		n += cells[t]
		if cells[t] > 0 && !both[t] {
			names = append(names, x.Targets[t])
		}
	}
	return n, strings.Join(names, ", ")
}

func (x *Index) codeCounts(cells map[[2]int]int) (out []CodeCount) {
	if len(x.Levels) > maxLevels {
		return nil
	}
	for t, name := range x.Targets {
		c := CodeCount{Target: name}
		sum := 0
		for l := range x.Levels {
			c.Levels = append(c.Levels, cells[[2]int{t, l}])
			sum += cells[[2]int{t, l}]
		}
		if sum > 0 {
			out = append(out, c)
		}
	}
	return out
}

// maxLevels bounds the levels of the table of machine codes.
const maxLevels = 40

// maxPairs bounds the pairs of releases that Neighbours names.
const maxPairs = 24

// Neighbours returns the releases that follow each other: of the same tool, with
// cells in common. Of many, only the last ones are named.
func (x *Index) Neighbours() (out [][2]int) {
	tool := func(i int) string { name, _, _ := strings.Cut(x.Toolchains[i], " "); return name }
	type place struct{ target, level, layout int }
	before, now := map[place]bool{}, map[place]bool{}
	release := -1
	joined := false
	end := func() {
		if joined && tool(release) == tool(release-1) {
			out = append(out, [2]int{release - 1, release})
		}
	}
	for _, c := range x.columns { // sorted by release
		if c.toolchain != release {
			end()
			before, now, joined, release = now, map[place]bool{}, false, c.toolchain
		}
		p := place{c.target, c.level, c.layout}
		now[p] = true
		joined = joined || before[p]
	}
	end()
	return out[max(0, len(out)-maxPairs):]
}

// ChangesFile is the page of what releases do differently.
const ChangesFile = "changes.html"

// maxChanges bounds the changes of one comparison on a page.
const maxChanges = 100

//go:embed changes.tmpl
var changesText string

var changesTemplate = template.Must(template.Must(template.New("changes").Funcs(funcs).Parse(comparisonText)).Parse(changesText))

// Changes returns the body of the page of what releases do differently: those of
// pairs.
func (x *Index) Changes(pairs [][2]int) (template.HTML, error) {
	var list []*Comparison
	for _, p := range pairs {
		c := x.Compare(p[0], p[1], maxChanges)
		c.Instructions = x.instructions(p[0], p[1])
		list = append(list, c)
	}
	var b strings.Builder
	if err := changesTemplate.Execute(&b, map[string]any{"Pairs": list, "Toolchains": x.Toolchains[:min(len(x.Toolchains), maxFacet)],
		"Levels": x.Levels}); err != nil {
		return "", fmt.Errorf("changes: %w", err)
	}
	return template.HTML(b.String()), nil
}

// Summary says what a comparison found in sentences.
func (c *Comparison) Summary() string {
	out := c.Compared.String()
	only := func(n int, release, targets string) {
		if n > 0 {
			out += fmt.Sprintf(" %s only with %s", plural(n, "cell"), release)
			if targets != "" {
				out += ", among them all of " + targets
			}
			out += "."
		}
	}
	only(c.OnlyLeft, c.Left, c.TargetsLeft)
	only(c.OnlyRight, c.Right, c.TargetsRight)
	return out
}
