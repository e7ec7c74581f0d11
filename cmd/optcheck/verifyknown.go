package main

import (
	"path/filepath"
	"slices"

	"optcheck/event"
	"optcheck/known"
	"optcheck/verify"
)

// verifiedCell is a finding as lists of known findings see it: that of a kernel, whatever compiles it.
func verifiedCell(r *verify.Result, f *verify.Finding) *event.Cell {
	c := &event.Cell{Test: filepath.Base(r.File) + ":" + r.Name}
	c.Class = event.Changed
	c.Findings = []event.Finding{{Rule: string(f.Rule), Thread: -1, Access: -1, Detail: f.Detail()}}
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
		r.Found = slices.DeleteFunc(r.Found, func(f *verify.Finding) bool { return len(f.Known) > 0 })
		r.Hidden = all - len(r.Found)
	}
}

// cells are the findings of all kernels, as lists of known findings see them.
func (v *verification) cells(yield func(int, *event.Cell) bool) {
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
