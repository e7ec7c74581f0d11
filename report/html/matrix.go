package html

import (
	"fmt"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
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

// maxBoxes bounds the boxes of all parts of the matrix: a file may name any number
// of releases and targets.
const maxBoxes = 20000

// square is a place of the matrix.
type square struct{ toolchain, target int }

// blocks arranges the counts of columns. Parts that are too large to be drawn are
// named instead.
func (x *Index) blocks(counts []Counts) (out []block, tooLarge []string) {
	sums := map[square][]*Counts{}
	for i, c := range x.columns {
		at := square{c.toolchain, c.target}
		if sums[at] == nil {
			sums[at] = make([]*Counts, len(x.Levels))
		}
		sum := sums[at][c.level]
		if sum == nil {
			sum = new(Counts)
			sums[at][c.level] = sum
		}
		for k, n := range counts[i] {
			sum[k] += n
		}
	}
	boxes := 0
	for _, p := range x.parts() {
		n := len(p.toolchains) * len(p.targets) * max(1, len(x.Levels))
		if boxes += n; boxes > maxBoxes {
			boxes -= n
			if len(tooLarge) < 10 {
				tooLarge = append(tooLarge, fmt.Sprintf("A matrix of %s, %s and %s is too large to be drawn.",
					plural(len(p.toolchains), "release"), plural(len(p.targets), "target"), plural(len(x.Levels), "level")))
			}
			continue
		}
		out = append(out, x.block(p, sums))
	}
	return out, tooLarge
}

func (x *Index) block(p part, sums map[square][]*Counts) block {
	labels := x.labels()
	b := block{Levels: labels[2], Boxes: len(p.toolchains) * len(x.Levels)}
	for _, tc := range p.toolchains {
		b.Toolchains = append(b.Toolchains, x.Toolchains[tc])
	}
	for _, t := range p.targets {
		r := blockRow{Target: labels[1][t]}
		for _, tc := range p.toolchains {
			var boxes []box
			for l := range x.Levels {
				b := box{At: fmt.Sprintf("%d.%d.%d", tc, t, l), Level: labels[2][l]}
				if sum := sums[square{tc, t}]; sum != nil && sum[l] != nil {
					b.fill(*sum[l], strings.Join([]string{labels[0][tc], labels[1][t], labels[2][l]}, " "))
				}
				boxes = append(boxes, b)
			}
			r.Squares = append(r.Squares, boxes)
		}
		b.Rows = append(b.Rows, r)
	}
	return b
}

// fill says what the cells of a box are: the worst class and how many cells
// have it. The script does the same when a filter changes.
func (b *box) fill(sum Counts, place string) {
	var parts []string
	worst := -1
	for k, n := range sum {
		if n > 0 {
			parts = append(parts, plain.Number(n)+" "+event.Severities[k])
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
	b.Class = event.Severities[worst]
	if worst < classUnsupported {
		b.Count = compact(sum[worst])
	}
	if worst == classUnsupported && sum[classPreserved] > 0 {
		b.Class = event.Severities[classPreserved]
	}
}

// Positions in report.Severities.
const (
	classMiscompiled = iota
	classChanged
	classCrashed
	classUnknown
	classOptimised
	classInvalid
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

// part is toolchains and targets that have squares in common.
type part struct{ toolchains, targets []int }

// parts splits toolchains and targets into those that have no square in common,
// in the order of their first toolchains.
func (x *Index) parts() (out []part) {
	// Toolchains come first, then targets; each points towards the first of its
	// part.
	n := len(x.Toolchains)
	up := make([]int, n+len(x.Targets))
	for i := range up {
		up[i] = i
	}
	first := func(i int) int {
		for up[i] != i {
			up[i] = up[up[i]]
			i = up[i]
		}
		return i
	}
	for _, c := range x.columns {
		a, b := first(c.toolchain), first(n+c.target)
		up[max(a, b)] = min(a, b)
	}
	at := map[int]int{}
	for i := range up {
		f := first(i)
		k, ok := at[f]
		if !ok {
			k = len(out)
			at[f] = k
			out = append(out, part{})
		}
		if i < n {
			out[k].toolchains = append(out[k].toolchains, i)
		} else {
			out[k].targets = append(out[k].targets, i-n)
		}
	}
	return out
}
