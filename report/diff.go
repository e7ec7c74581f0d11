package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// Delta is in what two results of one cell differ, from the least on.
type Delta uint8

// The deltas.
const (
	Same    Delta = iota
	InCode        // only in machine code
	InFound       // in findings or new outcomes
	InClass
)

// Delta says in what two results differ. Which findings are known is no difference.
func (c *Result) Delta(o *Result) Delta {
	switch {
	case c.Class != o.Class:
		return InClass
	case c.Says() != o.Says():
		return InFound
	case c.Code != o.Code:
		return InCode
	}
	return Same
}

// Compared counts the cells of two sides.
type Compared struct {
	Both               int // cells that both sides have
	Class, Found, Code int // of them: differ in class, only in what was found, only in machine code
	OnlyLeft           int // cells that the right side lacks
	OnlyRight          int
}

// Add counts a cell that both sides have.
func (c *Compared) Add(d Delta) {
	c.Both++
	switch d {
	case InClass:
		c.Class++
	case InFound:
		c.Found++
	case InCode:
		c.Code++
	}
}

// String says in a sentence how the cells differ that both sides have.
func (c *Compared) String() string {
	differ := func(n int) string { return plain.Number(n) + " " + plain.Form(n, "differs", "differ") }
	both := plain.Number(c.Both) + " " + plain.Form(c.Both, "cell", "cells")
	switch {
	case c.Both == 0:
		return "No cell is in both."
	case c.Class+c.Found+c.Code == 0:
		return both + " in both, and no difference."
	}
	return fmt.Sprintf("Of %s in both, %s in class, %s in what was found and %s in machine code alone.",
		both, differ(c.Class), differ(c.Found), differ(c.Code))
}

// ChangeRank orders changes of class, given as positions in Severities: what got
// worse, what is only different, what got better, what came or went with support;
// each from the worst class on.
func ChangeRank(from, to int) int {
	worst, unsupported := min(from, to), slices.Index(Severities, Unsupported)
	switch {
	case from == unsupported || to == unsupported:
		return 30 + worst
	case to < from:
		return worst
	case to == from:
		return 10 + worst
	}
	return 20 + worst
}

// Difference is a cell that two runs do not agree on. Left or Right is nil
// where a run does not have the cell.
type Difference struct {
	Test   string `json:"test"`
	Target string `json:"target"`
	Level  string `json:"level"`
	Layout string `json:"layout"`
	Left   *Cell  `json:"left,omitempty"`
	Right  *Cell  `json:"right,omitempty"`
	// Class and Code tell what differs: the classification or findings, the
	// machine code. Missing tells that only one run has the cell.
	Class   bool `json:"class_differs"`
	Code    bool `json:"code_differs"`
	Missing bool `json:"missing,omitempty"`
}

// Compare lists the cells whose classification, findings or machine code
// differ, of those that are wanted. Cells are compared within the same toolchain,
// unless each run has exactly one: then across, which shows what a release changed.
func Compare(left, right *Run, wanted func(*Cell) bool) (n Compared, out []Difference) {
	across := len(left.Config.Toolchains) == 1 && len(right.Config.Toolchains) == 1
	pairs := map[string][2]*Cell{}
	for side, r := range []*Run{left.full(), right.full()} { // cells are kept
		for i := range r.Cells {
			c := &r.Cells[i]
			key := strings.Join([]string{c.Test, c.Hash, c.Target, c.Level, c.Layout}, "\x00")
			if !across {
				key += "\x00" + c.Toolchain
			}
			p := pairs[key]
			p[side] = c
			pairs[key] = p
		}
	}
	for _, k := range sortedKeys(pairs) {
		l, r := pairs[k][0], pairs[k][1]
		if !(l != nil && wanted(l)) && !(r != nil && wanted(r)) {
			continue
		}
		c := cmp.Or(l, r)
		d := Difference{Test: c.Test, Target: c.Target, Level: c.Level, Layout: c.Layout, Left: l, Right: r}
		switch {
		case l == nil:
			n.OnlyRight++
			d.Missing = true
		case r == nil:
			n.OnlyLeft++
			d.Missing = true
		default:
			delta := l.Delta(&r.Result)
			n.Add(delta)
			d.Class, d.Code = delta >= InFound, l.Code != r.Code
		}
		if d.Class || d.Code || d.Missing {
			out = append(out, d)
		}
	}
	return n, out
}

// Only returns the part of a run that belongs to one toolchain, named by its ID
// or by an unambiguous piece of it.
func (r *Run) Only(toolchain string) (*Run, error) {
	var ids []string
	for _, t := range r.Config.Toolchains {
		if t.ID == toolchain {
			ids = []string{t.ID}
			break
		}
		if strings.Contains(t.ID, toolchain) {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) != 1 {
		return nil, fmt.Errorf("toolchain %q names %d of the run's toolchains", toolchain, len(ids))
	}
	out := NewRun()
	out.Config = r.Config
	out.Config.Toolchains = nil
	for _, t := range r.Config.Toolchains {
		if t.ID == ids[0] {
			out.Config.Toolchains = append(out.Config.Toolchains, t)
		}
	}
	for _, c := range r.All() {
		if c.Toolchain == ids[0] {
			out.Cells = append(out.Cells, *c)
		}
	}
	out.Listings = r.Listings
	return out, nil
}

// change is the cells of one test that change in the same way.
type change struct {
	test, from, to string
	rank           int
	cells          []*Cell // of the right side
}

// changes puts the differences of class or findings together, the worst first.
func changes(ds []Difference) []*change {
	by := map[string]*change{}
	for _, d := range ds {
		if !d.Class {
			continue
		}
		key := strings.Join([]string{d.Test, d.Left.Hash, d.Left.Class, d.Left.Says(), d.Right.Class, d.Right.Says()}, "\x00")
		x := by[key]
		if x == nil {
			x = &change{test: d.Test, from: brief(d.Left), to: brief(d.Right), rank: ChangeRank(severity(d.Left.Class), severity(d.Right.Class))}
			by[key] = x
		}
		x.cells = append(x.cells, d.Right)
	}
	out := slices.Collect(maps.Values(by))
	slices.SortFunc(out, func(a, b *change) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(a.test, b.test), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to),
			cmp.Compare(Places(a.cells)[0].String(), Places(b.cells)[0].String()))
	})
	return out
}

// WriteDifferences renders differences as text: for each test the changes of class
// or findings with their cells, those of machine code alone counted per target and
// level, and those of targets that only one run has counted per target.
func WriteDifferences(w io.Writer, n Compared, ds []Difference) error {
	text := plain.NewWriter(w)
	b := bufio.NewWriter(text)
	for _, x := range changes(ds) {
		fmt.Fprintf(b, "%s: %s -> %s\n", label(x.test), x.from, x.to)
		for _, p := range Places(x.cells) {
			fmt.Fprintf(b, "  in %s\n", p)
		}
	}
	code, missing := map[string]int{}, map[string]int{}
	for _, d := range ds {
		switch {
		case d.Missing && d.Left == nil:
			missing[d.Target+" only in the right run"]++
		case d.Missing:
			missing[d.Target+" only in the left run"]++
		case !d.Class:
			code[d.Target+" "+d.Level]++
		}
	}
	fmt.Fprintln(b, n.String())
	for _, k := range sortedKeys(missing) {
		fmt.Fprintf(b, "  %6d  %s\n", missing[k], k)
	}
	keys := sortedKeys(code)
	slices.SortStableFunc(keys, func(x, y string) int { return code[y] - code[x] })
	for _, k := range keys {
		fmt.Fprintf(b, "  %6d  %s\n", code[k], k)
	}
	return errors.Join(b.Flush(), text.Flush())
}

func brief(c *Cell) string {
	s := c.Class
	seen := map[string]bool{}
	for _, f := range c.Findings {
		if !seen[f.Rule] {
			seen[f.Rule] = true
			s += " " + f.Rule
		}
	}
	return s
}

// WriteDifferencesJSON renders differences as JSON lines, one object each.
func WriteDifferencesJSON(w io.Writer, ds []Difference) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range ds {
		if err := enc.Encode(&ds[i]); err != nil {
			return err
		}
	}
	return nil
}
