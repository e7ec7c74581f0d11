// Package known marks findings that somebody has already examined, so that an audit can show
// only what is new. It uses a list of filters in YAML, each with the reason why the findings
// that it matches are known.
//
// It hides nothing by itself and judges nothing: a filter matches findings of given classes,
// and by default none of a miscompiled cell.
package known

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/toolchain"
)

// Filter describes known findings. An empty list in a field means any. A filter matches a
// finding if every field matches the finding or its cell.
type Filter struct {
	// ID names the filter; it is unique within a list.
	ID string `json:"id"`
	// Rules are rule IDs; at least one.
	Rules []string `json:"rules"`
	// Classes are the classes of cells in which the findings are known. Empty means changed and
	// optimised: a finding that a model calls miscompiled is known only if the filter says so.
	Classes []string `json:"classes,omitempty"`
	// From and To bound the releases, both inclusive: 11.2, 11.8.89. A bound with fewer numbers
	// than a version means all versions that begin with it.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Targets, Levels and Layouts are names: sm_35, O3, offsets.
	Targets []string `json:"targets,omitempty"`
	Levels  []string `json:"levels,omitempty"`
	Layouts []string `json:"layouts,omitempty"`
	// Stages are the parts of a compiler in which a finding arose: llc, back end.
	Stages []string `json:"stages,omitempty"`
	// Tests are patterns (path.Match) for the test's name; Shapes are patterns for the part of
	// it before the first +: mp of mp+membar.gls.
	Tests  []string `json:"tests,omitempty"`
	Shapes []string `json:"shapes,omitempty"`
	// Detail is a regular expression (RE2) that must match the finding's
	// detail, which names the accesses with their modifiers.
	Detail string `json:"detail,omitempty"`
	// With are rule IDs: other findings of the same cell about the same access must break each
	// of them.
	With []string `json:"with,omitempty"`
	// Beside are rule IDs that findings of the same cell must break, about whichever access.
	Beside []string `json:"beside,omitempty"`
	// Note says in one line what is known, Reason why it is accepted or what was concluded,
	// Link where to read more.
	Note   string `json:"note"`
	Reason string `json:"reason"`
	Link   string `json:"link,omitempty"`

	// Origin is the position of the filter: file:line:col.
	Origin string `json:"origin"`

	detail *regexp.Regexp
	used   int
}

// List is a list of filters. Marking counts which of them were used, so two goroutines must not
// use a list at once.
type List struct {
	Filters []*Filter
}

// Matches reports whether the filter matches one finding of a cell.
func (f *Filter) Matches(c *event.Cell, x *event.Finding) bool {
	classes := f.Classes
	if len(classes) == 0 {
		classes = []string{event.Changed, event.Optimised}
	}
	return slices.Contains(classes, c.Class) && slices.Contains(f.Rules, x.Rule) && f.place(c) && in(f.Stages, x.Stage) &&
		anyGlob(f.Tests, c.Test) && anyGlob(f.Shapes, shape(c.Test)) && (f.detail == nil || f.detail.MatchString(x.Detail)) && f.company(c, x)
}

// company reports whether the cell has the findings that must accompany one.
func (f *Filter) company(c *event.Cell, x *event.Finding) bool {
	lacks := func(rules []string, near func(*event.Finding) bool) bool {
		return slices.ContainsFunc(rules, func(rule string) bool {
			return !slices.ContainsFunc(c.Findings, func(y event.Finding) bool { return y.Rule == rule && near(&y) })
		})
	}
	same := func(y *event.Finding) bool { return y.Thread == x.Thread && y.Access == x.Access }
	anywhere := func(*event.Finding) bool { return true }
	return !lacks(f.With, same) && !lacks(f.Beside, anywhere)
}

// place reports whether the filter applies to a cell's toolchain, target, level and layout.
func (f *Filter) place(c *event.Cell) bool {
	return f.release(c.Toolchain) && in(f.Targets, c.Target) && in(f.Levels, c.Level) && in(f.Layouts, c.Layout)
}

// release reports whether a toolchain's ID, "ptxas 12.4.131", has a version within the bounds.
// Without bounds every toolchain qualifies. For two compilers, "llc 22.1.8 + ptxas 12.4.131",
// the last one's version counts.
func (f *Filter) release(id string) bool {
	if f.From == "" && f.To == "" {
		return true
	}
	if _, last, pair := strings.Cut(id, " + "); pair {
		id = last
	}
	_, rest, ok := strings.Cut(id, " ")
	if !ok {
		return false
	}
	version, _, _ := strings.Cut(rest, " ")
	within := func(bound string, sign int) bool {
		return bound == "" || sign*toolchain.CompareVersions(short(version, bound), bound) >= 0
	}
	return within(f.From, 1) && within(f.To, -1)
}

// short truncates a version to as many numbers as a bound has.
func short(version, bound string) string {
	parts := strings.Split(version, ".")
	return strings.Join(parts[:min(len(parts), strings.Count(bound, ".")+1)], ".")
}

func in(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }

func anyGlob(patterns []string, s string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, s)
		return ok && err == nil // patterns are checked when they are read
	})
}

func shape(test string) string {
	s, _, _ := strings.Cut(test, "+")
	return s
}

// Mark sets Cell.Known to the IDs of the filters that match the cell's findings, sorted. It
// stays empty if no filter matches some finding: a cell is known only as a whole. What a cell that
// could not be decided has in the place of findings is the reason, by the rule report.Undecided.
func (l *List) Mark(c *event.Cell) {
	c.Known = nil
	findings := marked(c)
	var ids []string
	var by []*Filter
	for i := range findings {
		hit := false
		for _, f := range l.Filters {
			if f.Matches(c, &findings[i]) {
				hit, by = true, append(by, f)
				if !slices.Contains(ids, f.ID) {
					ids = append(ids, f.ID)
				}
			}
		}
		if !hit {
			return
		}
	}
	for _, f := range by {
		f.used++
	}
	slices.Sort(ids)
	c.Known = ids
}

// marked lists what of a cell can be known.
func marked(c *event.Cell) []event.Finding {
	switch {
	case c.HasFindings():
		return c.Findings
	case c.Class == event.Unknown:
		return []event.Finding{{Rule: event.Undecided, Thread: -1, Access: -1, Detail: c.Reason}}
	}
	return nil
}

// MarkSet returns a set whose cells are marked with known findings. It does not change what it
// shares with the given set. A cell that no filter matches keeps the marks of lists that are
// not at hand.
func (l *List) MarkSet(set *event.Set) *event.Set {
	out := *set
	out.Results, out.Cells = slices.Clone(set.Results), slices.Clone(set.Cells)
	type key struct {
		result uint32
		known  string
	}
	by := map[key]uint32{}
	for i, ref := range set.Cells {
		c := set.Cell(i)
		if l.Mark(&c); len(c.Known) == 0 {
			continue
		}
		k := key{ref.Result, strings.Join(c.Known, "\x00")}
		n, ok := by[k]
		if !ok {
			n = uint32(len(out.Results))
			by[k] = n
			out.Results = append(out.Results, c.Result)
		}
		out.Cells[i].Result = n
	}
	return &out
}

// IDs returns the IDs of the filters that match a finding of a cell.
func (l *List) IDs(c *event.Cell, x *event.Finding) (ids []string) {
	for _, f := range l.Filters {
		if f.Matches(c, x) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// Unused lists the filters that matched nothing although the run has a toolchain, target, level
// and layout that they apply to.
func (l *List) Unused(run *event.Config) []*Filter {
	var list []*Filter
	for _, f := range l.Filters {
		if f.used == 0 && f.reaches(run) {
			list = append(list, f)
		}
	}
	return list
}

func (f *Filter) reaches(run *event.Config) bool {
	meets := func(mine, theirs []string) bool {
		return len(mine) == 0 || slices.ContainsFunc(mine, func(s string) bool { return slices.Contains(theirs, s) })
	}
	return meets(f.Targets, run.Targets) && meets(f.Levels, run.Levels) && meets(f.Layouts, run.Layouts) &&
		slices.ContainsFunc(run.Toolchains, func(t event.Toolchain) bool { return f.release(t.ID) })
}

// Handler marks the cells of a stream and passes them on to another handler.
type Handler struct {
	List *List
	Next event.Handler
}

// Handle marks a cell and passes every event on.
func (h Handler) Handle(e event.Event) error {
	if e.Cell != nil {
		h.List.Mark(e.Cell)
	}
	return h.Next.Handle(e)
}

// Close closes the next handler.
func (h Handler) Close() error { return h.Next.Close() }

// Flush passes a flush on to a handler that supports it.
func (h Handler) Flush() error {
	if f, ok := h.Next.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
