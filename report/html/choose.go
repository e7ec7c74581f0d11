package html

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/toolname"
	"optcheck/optcheck"
)

// Choose tells which cells of a set a filter chooses: the same as on a page. Values
// of Release may be pieces of names. Where a set must have what is asked for, a
// value that no cell has is an error: a filter that is misspelt must not pass for
// one that finds nothing.
func Choose(s *event.Set, f Filter, must bool) (func(cell int) bool, error) {
	x := NewIndex(s)
	f.Release = x.releases(f.Release)
	if must {
		if err := x.has(f); err != nil {
			return nil, err
		}
	}
	m := x.match(f)
	chosen := map[[2]uint32]bool{}
	for i, c := range x.cells {
		if m.fail(c, &x.kinds[c.kind]) == 0 {
			ref := x.Set.Cells[i]
			chosen[[2]uint32{ref.Test, ref.Column}] = true
		}
	}
	return func(i int) bool { return chosen[[2]uint32{s.Cells[i].Test, s.Cells[i].Column}] }, nil
}

// releases returns the names of toolchains that have one of the words in them. A word
// that is a name means only that; one that no name has stays, and chooses nothing.
func (x *Index) releases(words []string) (out []string) {
	for _, w := range words {
		if slices.Contains(x.Toolchains, w) {
			out = append(out, w)
			continue
		}
		n := len(out)
		for _, t := range x.Toolchains {
			if toolname.ID(w, t) {
				out = append(out, t)
			}
		}
		if len(out) == n {
			out = append(out, w)
		}
	}
	return out
}

// Check refuses a filter that asks for places, presets or rules that no cell has: a
// filter that is misspelt must not pass for one that finds nothing.
func (x *Index) Check(f Filter) error {
	for _, w := range f.Class {
		if !slices.Contains(event.Severities, w) {
			return fmt.Errorf("class=%q: must be %s", Short(w, 40), strings.Join(event.Severities, ", "))
		}
	}
	for _, r := range f.Rule {
		if !slices.ContainsFunc(optcheck.Rules, func(k *optcheck.Rule) bool { return k.ID == r }) && !slices.Contains(x.Rules, r) {
			return fmt.Errorf("there is no rule %q", Short(r, 80))
		}
	}
	return x.has(f)
}

// has checks that there are cells with what a filter names of places and presets.
func (x *Index) has(f Filter) error {
	for _, p := range []struct {
		what        string
		asked, have []string
	}{{"toolchain", f.Release, x.Toolchains}, {"target", f.Target, x.Targets}, {"level", f.Level, x.Levels}, {"layout", f.Layout,
		x.Layouts}, {"preset", f.Preset, x.Presets}} {
		for _, w := range p.asked {
			if !slices.Contains(p.have, w) {
				return fmt.Errorf("no cell has the %s %q (%s)", p.what, Short(w, 80), Short(strings.Join(p.have, ", "), 400))
			}
		}
	}
	return nil
}
