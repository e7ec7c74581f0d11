package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"optcheck/internal/plain"
)

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
// differ. Cells are compared within the same toolchain, unless each run has
// exactly one: then across, which shows what a release changed.
func Compare(left, right *Run) []Difference {
	across := len(left.Config.Toolchains) == 1 && len(right.Config.Toolchains) == 1
	key := func(c *Cell) string {
		parts := []string{c.Test, c.Target, c.Level, c.Layout}
		if !across {
			parts = append(parts, c.Toolchain)
		}
		return strings.Join(parts, "\x00")
	}
	type pair struct{ l, r *Cell }
	all := map[string]*pair{}
	get := func(k string) *pair {
		if all[k] == nil {
			all[k] = &pair{}
		}
		return all[k]
	}
	left, right = left.full(), right.full() // cells are kept
	for i := range left.Cells {
		get(key(&left.Cells[i])).l = &left.Cells[i]
	}
	for i := range right.Cells {
		get(key(&right.Cells[i])).r = &right.Cells[i]
	}
	var out []Difference
	for _, k := range sortedKeys(all) {
		p := all[k]
		d := Difference{Left: p.l, Right: p.r}
		c := p.l
		if c == nil {
			c = p.r
		}
		d.Test, d.Target, d.Level, d.Layout = c.Test, c.Target, c.Level, c.Layout
		if p.l == nil || p.r == nil {
			d.Missing = true
		} else {
			d.Class = p.l.Class != p.r.Class || p.l.Class != "unsupported" && signature(p.l) != signature(p.r)
			d.Code = p.l.Code != p.r.Code
		}
		if d.Class || d.Code || d.Missing {
			out = append(out, d)
		}
	}
	return out
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

// WriteDifferences renders differences as text: those of classification one by
// one, those of machine code alone counted per target and level, and those of
// targets that only one run has counted per target.
func WriteDifferences(w io.Writer, ds []Difference) error {
	text := plain.NewWriter(w)
	b := bufio.NewWriter(text)
	classes, codes := 0, 0
	code, missing := map[string]int{}, map[string]int{}
	for _, d := range ds {
		if d.Missing {
			side := "left"
			if d.Left == nil {
				side = "right"
			}
			missing[d.Target+" only in the "+side+" run"]++
			continue
		}
		if !d.Class {
			codes++
			code[d.Target+" "+d.Level]++
			continue
		}
		classes++
		fmt.Fprintf(b, "%s %s %s %s: %s -> %s\n", label(d.Test), d.Target, d.Level, d.Layout, brief(d.Left), brief(d.Right))
	}
	fmt.Fprintf(b, "%s %s in class or findings, %d in machine code alone\n", plain.Count(classes, "cell"), plain.Form(classes, "differs", "differ"), codes)
	for _, k := range sortedKeys(missing) {
		fmt.Fprintf(b, "  %6d  %s\n", missing[k], k)
	}
	keys := sortedKeys(code)
	sort.SliceStable(keys, func(i, j int) bool { return code[keys[i]] > code[keys[j]] })
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
