package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// The matrices that are stored beside the test that compares them with what the compilers do (audit, TestPublished).
const (
	Quick   = "audit/testdata/published/quick.txt"
	LLVM    = "audit/testdata/published/llvm-ir.txt"
	Depends = "audit/testdata/published/deps.txt"
)

func class(fate string) string {
	c, _, _ := strings.Cut(fate, " ")
	return c
}

// count counts the cells that a function names, "" for none.
func (m Matrix) count(of func(Place, string) string) map[string]int {
	n := map[string]int{}
	for p, f := range m {
		if k := of(p, f); k != "" {
			n[k]++
		}
	}
	return n
}

func percell(m Matrix, of func(Place) string) (keys []string, n map[string]int) {
	n = m.count(func(p Place, f string) string { return of(p) + "|" + class(f) })
	return m.axis(of), n
}

// classes is a row for each group of cells: how many are of each class. Groups with the same name are one.
func classes(m Matrix, first int, of func(Place) string) (rows []string) {
	keys, n := percell(m, of)
	for _, k := range keys {
		cells, all := strings.Split(k, "|"), []any{}
		for i := range first {
			all = append(all, cells[i])
		}
		for _, c := range []string{event.Preserved, event.Optimised, event.Miscompiled, event.Unknown, event.Unsupported} {
			all = append(all, n[k+"|"+c])
		}
		rows = append(rows, row(all...))
	}
	return rows
}

// byLevel is the classes of releases and levels.
func byLevel(t Tree) ([]string, error) {
	m, err := t.matrix(Quick)
	if err != nil {
		return nil, err
	}
	rows := append([]string{"| release | level | preserved | optimised | miscompiled | unknown | unsupported |", "|---|---|---|---|---|---|---|"},
		classes(m, 2, func(p Place) string { return p.Toolchain + "|" + p.Level })...)
	return append(rows, classes(m, 2, func(Place) string { return "**all**|" })...), nil
}

// changes is a row for each set of rules that cells break, with what it does to outcomes.
func changes(t Tree) ([]string, error) {
	m, err := t.matrix(Quick)
	if err != nil {
		return nil, err
	}
	type sum struct {
		cells, lost, sc int
		tests           map[string]bool
		layouts         map[string]int
	}
	sums := map[string]*sum{}
	for p, f := range m {
		words := strings.Fields(f)
		if len(words) < 2 {
			continue
		}
		rules := "`" + strings.ReplaceAll(words[1], "+", "`, `") + "`"
		k := row(rules, words[0])
		s := sums[k]
		if s == nil {
			s = &sum{tests: map[string]bool{}, layouts: map[string]int{}}
			sums[k] = s
		}
		s.cells++
		s.tests[p.Test] = true
		s.layouts[p.Layout]++
		for _, w := range words {
			switch w {
			case lost:
				s.lost++
			case newUnderSC:
				s.sc++
			}
		}
	}
	rows := []string{"| what changed | class | cells | tests | outcomes lost | new under SC | pointers / symbols / offsets |", "|---|---|---|---|---|---|---|"}
	for _, k := range slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b].cells, sums[a].cells), cmp.Compare(a, b))
	}) {
		s := sums[k]
		rows = append(rows, k+strings.TrimPrefix(row(s.cells, len(s.tests), s.lost, s.sc,
			fmt.Sprintf("%d / %d / %d", s.layouts["pointers"], s.layouts["symbols"], s.layouts["offsets"])), "|"))
	}
	return rows, nil
}

// knownAt is a row for each set of known findings at O3.
func knownAt(t Tree) ([]string, error) {
	m, err := t.matrix(Quick)
	if err != nil {
		return nil, err
	}
	n := m.count(func(p Place, f string) string {
		words := strings.Fields(f)
		if p.Level != "O3" || len(words) < 2 {
			return ""
		}
		return strings.ReplaceAll(strings.TrimPrefix(words[len(words)-1], "known:"), "+", ", ")
	})
	rows := []string{"| cells | known as |", "|---:|---|"}
	for _, k := range slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) }) {
		rows = append(rows, row(n[k], k))
	}
	return rows, nil
}

// byLLVM is the classes of releases of LLVM and targets, one row where both ptxas and several targets have the same.
func byLLVM(t Tree) ([]string, error) {
	m, err := t.matrix(LLVM)
	if err != nil {
		return nil, err
	}
	byRow := map[string][]string{} // LLVM and counts → targets
	for _, p := range classes(m, 3, func(p Place) string {
		llc, ptxas, _ := strings.Cut(p.Toolchain, " + ")
		return strings.TrimPrefix(llc, "llc ") + "|" + p.Target + "|" + ptxas
	}) {
		cells := strings.Split(strings.Trim(p, "| "), " | ")
		k := cells[0] + "|" + strings.Join(cells[3:], "|")
		byRow[k] = append(byRow[k], cells[1]+" "+cells[2])
	}
	rows := []string{"| LLVM | targets | preserved | optimised | miscompiled | unknown | unsupported |", "|---|---|---:|---:|---:|---:|---:|"}
	for _, k := range slices.SortedFunc(maps.Keys(byRow), func(a, b string) int {
		x, _, _ := strings.Cut(a, "|")
		y, _, _ := strings.Cut(b, "|")
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(byRow[a][0], byRow[b][0]))
	}) {
		cells := strings.Split(k, "|")
		row := "| " + cells[0] + " | " + targetsOf(byRow[k]) + " | " + strings.Join(cells[1:], " | ") + " |"
		rows = append(rows, row)
	}
	return rows, nil
}

// targetsOf names targets once that several ptxas have, and else says of which one they are.
func targetsOf(list []string) string {
	of := map[string][]string{}
	for _, x := range list {
		target, ptxas, _ := strings.Cut(x, " ")
		of[target] = append(of[target], ptxas)
	}
	var out []string
	for _, target := range slices.Sorted(maps.Keys(of)) {
		if len(of[target]) == 1 {
			target += " (" + of[target][0] + ")"
		}
		out = append(out, target)
	}
	s := strings.Join(out, ", ")
	if len(out) > 1 {
		s += " (each)"
	}
	return s
}

// schemes is the fate of false dependencies by scheme and level.
func schemes(t Tree) ([]string, error) {
	m, err := t.matrix(Depends)
	if err != nil {
		return nil, err
	}
	levels := m.axis(func(p Place) string { return p.Level })
	n := m.count(func(p Place, f string) string { return scheme(p.Test) + "|" + p.Level + "|" + f })
	rows := []string{"| scheme | " + strings.Join(levels, " | ") + " |", "|---|" + strings.Repeat("---|", len(levels))}
	for _, s := range m.axis(func(p Place) string { return scheme(p.Test) }) {
		cells := []any{"`" + s + "`"}
		for _, level := range levels {
			var what []string
			for _, fate := range []string{"kept", "**removed**", "unknown", "unsupported"} {
				if k := n[s+"|"+level+"|"+strings.Trim(fate, "*")]; k > 0 {
					what = append(what, fate+" "+plain.Number(k))
				}
			}
			cells = append(cells, strings.Join(what, ", "))
		}
		rows = append(rows, row(cells...))
	}
	return rows, nil
}

// scheme is that of a probe's name: dep+xor+data+st.global64.
func scheme(test string) string {
	_, rest, _ := strings.Cut(test, "+")
	s, _, _ := strings.Cut(rest, "+")
	return s
}
