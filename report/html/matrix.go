package html

import (
	"fmt"
	"strings"
)

// block is a part of the matrix: toolchains and targets that have cells in
// common. Compilers of different vendors have blocks of their own.
type block struct {
	Toolchains []string
	Levels     []string
	Boxes      int // in a row
	Rows       []blockRow
}

type blockRow struct {
	Target  string
	Squares [][]box // by toolchain and level
}

// box is one level of a square of the matrix.
type box struct {
	At    string // "toolchain.target.level", as numbers
	Level string
	Class string // the worst that occurs; "" where there are no cells
	Count string
	Label string
}

// blocks arranges the counts of columns.
func (x *Index) blocks(counts []Counts) []block {
	type place struct{ tc, target, level int }
	sums, there := map[place]Counts{}, map[[2]int]bool{}
	for i, c := range x.columns {
		p := place{c.toolchain, c.target, c.level}
		sum := sums[p]
		for k, n := range counts[i] {
			sum[k] += n
		}
		sums[p], there[[2]int{c.toolchain, c.target}] = sum, true
	}
	labels := x.labels()
	var out []block
	for _, part := range components(len(x.Toolchains), len(x.Targets), there) {
		b := block{Levels: labels[2], Boxes: len(part[0]) * len(x.Levels)}
		for _, tc := range part[0] {
			b.Toolchains = append(b.Toolchains, x.Toolchains[tc])
		}
		for _, t := range part[1] {
			r := blockRow{Target: labels[1][t]}
			for _, tc := range part[0] {
				var square []box
				for l := range x.Levels {
					at := place{tc, t, l}
					b := box{At: fmt.Sprintf("%d.%d.%d", tc, t, l), Level: labels[2][l]}
					if sum, ok := sums[at]; ok {
						b.fill(sum, strings.Join([]string{labels[0][tc], labels[1][t], labels[2][l]}, " "))
					}
					square = append(square, b)
				}
				r.Squares = append(r.Squares, square)
			}
			b.Rows = append(b.Rows, r)
		}
		out = append(out, b)
	}
	return out
}

// fill says what the cells of a box are: the worst class and how many cells
// have it. The script does the same when a filter changes.
func (b *box) fill(sum Counts, place string) {
	var parts []string
	worst := -1
	for k, n := range sum {
		if n > 0 {
			parts = append(parts, Number(n)+" "+Severities[k])
			if worst < 0 {
				worst = k
			}
		}
	}
	b.Label = place + ": " + strings.Join(parts, ", ")
	if worst < 0 {
		b.Label = place + ": no cells"
		return
	}
	b.Class = Severities[worst]
	if worst < classUnsupported {
		b.Count = compact(sum[worst])
	}
	if worst == classUnsupported && sum[classPreserved] > 0 {
		b.Class = Severities[classPreserved]
	}
}

// Positions in Severities.
const (
	classMiscompiled = iota
	classChanged
	classUnknown
	classOptimised
	classUnsupported
	classPreserved
)

// compact writes a number in at most four characters.
func compact(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 999500:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%dM", (n+500000)/1000000)
}

// components splits toolchains and targets into parts that have no square in
// common, in the order of their first toolchains.
func components(toolchains, targets int, there map[[2]int]bool) (out [][2][]int) {
	done := make([]bool, toolchains)
	for first := range toolchains {
		if done[first] {
			continue
		}
		part := partOf(first, there, toolchains, targets)
		for _, tc := range part[0] {
			done[tc] = true
		}
		out = append(out, part)
	}
	return out
}

// partOf lists the toolchains and targets that are joined with a toolchain.
func partOf(first int, there map[[2]int]bool, toolchains, targets int) [2][]int {
	tcs, ts := map[int]bool{first: true}, map[int]bool{}
	for n := -1; n != len(tcs)+len(ts); {
		n = len(tcs) + len(ts)
		for p := range there {
			if tcs[p[0]] || ts[p[1]] {
				tcs[p[0]], ts[p[1]] = true, true
			}
		}
	}
	var part [2][]int
	for i := range toolchains {
		if tcs[i] {
			part[0] = append(part[0], i)
		}
	}
	for i := range targets {
		if ts[i] {
			part[1] = append(part[1], i)
		}
	}
	return part
}
