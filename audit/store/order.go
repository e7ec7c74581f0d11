package store

import (
	"cmp"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// compareToolchains sorts by name, then by version: "ptxas 11.8.89" comes before
// "ptxas 12.4.131".
func compareToolchains(a, b string) int {
	an, av, _ := strings.Cut(a, " ")
	bn, bv, _ := strings.Cut(b, " ")
	return cmp.Or(cmp.Compare(an, bn), toolchain.CompareVersions(av, bv), cmp.Compare(a, b))
}

// compareLayouts sorts layouts as the audit does.
func compareLayouts(a, b string) int {
	rank := func(s string) int {
		for i, l := range spec.AllLayouts {
			if l.String() == s {
				return i
			}
		}
		return len(spec.AllLayouts)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// sorted returns 0 to n-1, sorted by a comparison.
func sorted(n int, compare func(i, j int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}

// testOrder sorts the tests of a set by name and hash.
func testOrder(set *event.Set) []int {
	return sorted(len(set.Tests), func(i, j int) int {
		return cmp.Or(cmp.Compare(set.Tests[i].Name, set.Tests[j].Name), cmp.Compare(set.Tests[i].Hash, set.Tests[j].Hash))
	})
}

// ranks returns the inverse of a permutation.
func ranks(order []int) []int {
	rank := make([]int, len(order))
	for r, i := range order {
		rank[i] = r
	}
	return rank
}

// Canonical returns the order of a set's cells by toolchain, target, level, test and layout:
// the order of an audit, whatever order they arrived in.
func Canonical(set *event.Set) []int {
	place := ranks(sorted(len(set.Columns), func(i, j int) int {
		a, b := &set.Columns[i], &set.Columns[j]
		return cmp.Or(compareToolchains(a.Toolchain, b.Toolchain), target.Compare(a.Target, b.Target), cmp.Compare(a.Level, b.Level))
	}))
	// Columns of one place have the same rank.
	first := map[event.Column]int{}
	for i, c := range set.Columns {
		c.Layout = ""
		if f, ok := first[c]; !ok || place[i] < f {
			first[c] = place[i]
		}
	}
	for i, c := range set.Columns {
		c.Layout = ""
		place[i] = first[c]
	}
	layout := ranks(sorted(len(set.Columns), func(i, j int) int { return compareLayouts(set.Columns[i].Layout, set.Columns[j].Layout) }))
	test := ranks(testOrder(set))
	return sorted(len(set.Cells), func(i, j int) int {
		a, b := set.Cells[i], set.Cells[j]
		return cmp.Or(cmp.Compare(place[a.Column], place[b.Column]), cmp.Compare(test[a.Test], test[b.Test]),
			cmp.Compare(layout[a.Column], layout[b.Column]))
	})
}

// Sort sorts the cells of a set into canonical order.
func Sort(set *event.Set) {
	cells := make([]event.Ref, 0, len(set.Cells))
	for _, i := range Canonical(set) {
		cells = append(cells, set.Cells[i])
	}
	set.Cells = cells
}
