package event

import "slices"

// Keep returns a set with some of the cells of this one, in their order. What is
// missing of what was set out to do is missing still: nobody knows whether it would
// be among them. The config names what the cells have.
func (s *Set) Keep(keep func(cell int) bool) *Set {
	out := *s
	out.Cells = nil
	tests, columns := make([]bool, len(s.Tests)), make([]bool, len(s.Columns))
	for i, c := range s.Cells {
		if keep(i) {
			out.Cells = append(out.Cells, c)
			tests[c.Test], columns[c.Column] = true, true
		}
	}
	c := &out.Config
	c.Cells = max(0, c.Cells-len(s.Cells)) + len(out.Cells)
	c.Tests = 0
	for _, has := range tests {
		if has {
			c.Tests++
		}
	}
	has := map[string]map[string]bool{"toolchain": {}, "target": {}, "level": {}, "layout": {}}
	for i, k := range s.Columns {
		if columns[i] {
			has["toolchain"][k.Toolchain], has["target"][k.Target], has["level"][k.Level], has["layout"][k.Layout] = true, true, true, true
		}
	}
	only := func(list []string, what string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(w string) bool { return !has[what][w] })
	}
	c.Targets, c.Levels, c.Layouts = only(c.Targets, "target"), only(c.Levels, "level"), only(c.Layouts, "layout")
	c.Toolchains = slices.DeleteFunc(slices.Clone(c.Toolchains), func(t Toolchain) bool { return !has["toolchain"][t.ID] })
	return &out
}
