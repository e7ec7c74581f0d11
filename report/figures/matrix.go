package figures

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"optcheck/event"
)

// Place is where a cell is in a matrix.
type Place struct{ Test, Toolchain, Target, Level, Layout string }

// Matrix is what became of each cell: see Fate.
type Matrix map[Place]string

// Fate says in a line what became of a cell: its class; of one with findings also their rules, whether outcomes are
// lost, and new under sequential consistency, and what the findings are known as.
func Fate(c *event.Cell) string {
	if !c.HasFindings() {
		return c.Class
	}
	var rules []string
	for _, f := range c.Findings {
		rules = append(rules, f.Rule)
	}
	slices.Sort(rules)
	words := []string{c.Class, strings.Join(slices.Compact(rules), "+")}
	if v := c.Verdict; v != nil && len(v.Lost) > 0 {
		words = append(words, lost)
	}
	if v := c.Verdict; v != nil && len(v.SCNew) > 0 {
		words = append(words, newUnderSC)
	}
	known := "new"
	if len(c.Known) > 0 {
		known = "known:" + strings.Join(c.Known, "+")
	}
	return strings.Join(append(words, known), " ")
}

// Words of a fate.
const (
	lost       = "lost"
	newUnderSC = "sc"
)

// letters stand for fates, in the order of the list.
const letters = ".-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// axis lists the distinct values of a part of places, sorted.
func (m Matrix) axis(of func(Place) string) []string {
	all := map[string]bool{}
	for p := range m {
		all[of(p)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// WriteTo writes the matrix as text: the fates with a letter each, and for each test the letters of its cells, levels
// by layouts, with the toolchains and targets that have them.
func (m Matrix) WriteTo(w io.Writer) (int64, error) {
	fates := slices.Sorted(maps.Values(m))
	fates = slices.Compact(fates)
	slices.SortStableFunc(fates, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	if len(fates) > len(letters) {
		return 0, fmt.Errorf("%d fates, and only %d letters", len(fates), len(letters))
	}
	levels, layouts := m.axis(func(p Place) string { return p.Level }), m.axis(func(p Place) string { return p.Layout })
	toolchains, targets := m.axis(func(p Place) string { return p.Toolchain }), m.axis(func(p Place) string { return p.Target })
	var b strings.Builder
	fmt.Fprintf(&b, "levels %s\nlayouts %s\n", strings.Join(levels, " "), strings.Join(layouts, " "))
	for i, f := range fates {
		fmt.Fprintf(&b, "%c %s\n", letters[i], f)
	}
	for _, test := range m.axis(func(p Place) string { return p.Test }) {
		fmt.Fprintf(&b, "test %s\n", test)
		rows := map[string][]string{}
		for _, tc := range toolchains {
			by := map[string][]string{}
			for _, target := range targets {
				row := ""
				for _, level := range levels {
					for _, layout := range layouts {
						f, ok := m[Place{test, tc, target, level, layout}]
						if !ok {
							row += " "
							continue
						}
						row += string(letters[slices.Index(fates, f)])
					}
				}
				if strings.TrimSpace(row) != "" {
					by[row] = append(by[row], target)
				}
			}
			for row, list := range by {
				rows[row] = append(rows[row], tc+": "+strings.Join(list, " "))
			}
		}
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			fmt.Fprintf(&b, "\t%s\t%s\n", row, strings.Join(rows[row], "; "))
		}
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// rank puts what is good first.
func rank(fate string) int {
	switch fate {
	case event.Preserved:
		return 0
	case event.Unsupported:
		return 1
	}
	return 2
}

// ReadMatrix reads what WriteTo has written.
func ReadMatrix(r io.Reader) (Matrix, error) {
	m := Matrix{}
	var levels, layouts []string
	fates, test := map[byte]string{}, ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		head, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "\t"):
			parts := strings.Split(line, "\t")
			if len(parts) != 3 || len(parts[1]) != len(levels)*len(layouts) {
				return nil, fmt.Errorf("line %d: not the letters of %d levels and %d layouts", n, len(levels), len(layouts))
			}
			for _, of := range strings.Split(parts[2], "; ") {
				tc, targets, _ := strings.Cut(of, ": ")
				for _, target := range strings.Fields(targets) {
					for i := range len(parts[1]) {
						if f, ok := fates[parts[1][i]]; ok {
							m[Place{test, tc, target, levels[i/len(layouts)], layouts[i%len(layouts)]}] = f
						}
					}
				}
			}
		case head == "levels":
			levels = strings.Fields(rest)
		case head == "layouts":
			layouts = strings.Fields(rest)
		case head == "test":
			test = rest
		case len(head) == 1:
			fates[head[0]] = rest
		default:
			return nil, fmt.Errorf("line %d: %q is no line of a matrix", n, line)
		}
	}
	return m, lines.Err()
}
