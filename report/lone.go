package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// Lone is what only one side of a comparison has.
type Lone struct {
	Cells   int
	Classes map[string]int
	// Targets, Levels and Tests are those that the other side has in no cell.
	Targets, Levels, Tests []string
	// Bad are the tests that are miscompiled, changed, crashed or unknown there.
	Bad []string

	shared map[string]bool // targets, levels and tests of cells of both sides
}

// both tells of a cell that the other side has, too.
func (l *Lone) both(c *event.Cell) {
	if l.shared == nil {
		l.shared, l.Classes = map[string]bool{}, map[string]int{}
	}
	l.shared["target "+c.Target], l.shared["level "+c.Level], l.shared["test "+c.Test] = true, true, true
}

// add takes a cell that the other side lacks.
func (l *Lone) add(c *event.Cell) {
	if l.Classes == nil {
		l.Classes = map[string]int{}
	}
	l.Cells++
	l.Classes[c.Class]++
	for _, x := range []struct {
		list       *[]string
		kind, word string
	}{{&l.Targets, "target ", c.Target}, {&l.Levels, "level ", c.Level}, {&l.Tests, "test ", c.Test}} {
		if !l.shared[x.kind+x.word] && !slices.Contains(*x.list, x.word) {
			*x.list = append(*x.list, x.word)
		}
	}
	if severity(c.Class) <= severity(event.Unknown) && !slices.Contains(l.Bad, c.Test) {
		l.Bad = append(l.Bad, c.Test)
	}
}

// classes counts the cells by class, the worst first.
func (l *Lone) classes() string {
	var out []string
	for _, s := range event.Severities {
		if n := l.Classes[s]; n > 0 {
			out = append(out, plain.Number(n)+" "+s)
		}
	}
	return strings.Join(out, ", ")
}

// Lines say what only the side of this name has; none if nothing.
func (l *Lone) Lines(name string) (out []string) {
	if l.Cells == 0 {
		return nil
	}
	out = append(out, fmt.Sprintf("Only with %s: %s (%s)", name, plain.Count(l.Cells, "cell"), l.classes()))
	for _, x := range []struct {
		what string
		list []string
	}{{"target", l.Targets}, {"level", l.Levels}, {"test", l.Tests}} {
		if len(x.list) > 0 {
			out = append(out, fmt.Sprintf("%s that the other side lacks: %s", plain.Count(len(x.list), x.what), named(x.list)))
		}
	}
	if len(l.Bad) > 0 {
		out = append(out, "miscompiled, changed, crashed or unknown there: "+named(l.Bad))
	}
	if cmp.Or(len(l.Targets), len(l.Levels), len(l.Tests)) == 0 {
		out = append(out, "the other side has their targets, levels and tests, but not together")
	}
	return out
}
