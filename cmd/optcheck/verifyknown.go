package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"optcheck/internal/whole"
	"optcheck/known"
	"optcheck/report"
	"optcheck/verify"
)

// verifiedCell is a finding as lists of known findings see it: that of a kernel, whatever compiles it.
func verifiedCell(r *verify.Result, f *verify.Finding) *report.Cell {
	c := &report.Cell{Test: filepath.Base(r.File) + ":" + r.Name}
	c.Class = report.Changed
	c.Findings = []report.Finding{{Rule: string(f.Rule), Thread: -1, Access: -1, Detail: f.Detail()}}
	return c
}

// mark notes which findings are known, and drops those if only new ones are asked for.
func (v *verification) mark(list *known.List, newOnly bool, r *verify.Result) {
	for _, f := range r.Found {
		c := verifiedCell(r, f)
		list.Mark(c)
		f.Known = c.Known
	}
	if newOnly {
		all := len(r.Found)
		defer func() { r.Hidden = all - len(r.Found) }()
		r.Found = slices.DeleteFunc(r.Found, func(f *verify.Finding) bool { return len(f.Known) > 0 })
	}
}

// writeBaseline writes what was found and no filter knows as a list of known findings.
func (v *verification) writeBaseline(env *environment) error {
	if v.writeKnown == "" {
		return nil
	}
	var b bytes.Buffer
	cells := func(yield func(int, *report.Cell) bool) {
		n := 0
		for _, r := range v.results {
			for _, f := range r.Found {
				c := verifiedCell(r, f)
				c.Known = f.Known
				if n++; !yield(n, c) {
					return
				}
			}
		}
	}
	if err := known.WriteBaseline(&b, cells); err != nil {
		return err
	}
	if err := whole.Write(v.writeKnown, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("--write-known: %w", err)
	}
	env.tell("%s: what was found; --known %s --new-only shows what is new", v.writeKnown, v.writeKnown)
	return nil
}
