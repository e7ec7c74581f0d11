package model

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"optcheck/internal/plain"
	"optcheck/litmus/herdlog"
)

// WriteText writes a difference for people.
func (d *Difference) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s, %s %s\n", d.Test.Name, d.A.Model, d.A.Observation, d.B.Model, d.B.Observation)
	for _, side := range []struct {
		v    *Verdict
		list []Single
	}{{d.A, d.OnlyA}, {d.B, d.OnlyB}} {
		for i := range side.list {
			s := &side.list[i]
			fmt.Fprintf(&b, "  only %s: %s%s\n", side.v.Model, d.state(s), d.seen(s))
			for _, x := range []*Explanation{s.Allows, s.Forbids} {
				if x == nil {
					continue
				}
				var why strings.Builder
				if err := x.WriteText(&why); err != nil {
					return err
				}
				b.WriteString("    " + strings.ReplaceAll(strings.TrimSuffix(why.String(), "\n"), "\n", "\n    ") + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *Difference) state(s *Single) string {
	var parts []string
	for i, x := range d.A.Terms {
		parts = append(parts, fmt.Sprintf("%s=%d;", herdlog.Term(x), s.Values[i]))
	}
	return strings.Join(parts, " ")
}

// seen says how often a device showed a state.
func (d *Difference) seen(s *Single) string {
	switch {
	case d.Instances == 0:
		return ""
	case s.Seen == 0:
		return fmt.Sprintf(" (not seen in %d)", d.Instances)
	}
	return fmt.Sprintf(" (seen %s in %d)", plain.Count(s.Seen, "time"), d.Instances)
}

// WriteTable writes the comparison as a table: the number of tests, and each test that
// distinguishes the models, at most limit of them (0: all).
func (c *Comparison) WriteTable(w io.Writer, limit int) error {
	onlyA, onlyB, both, seenA, seenB := c.Counts()
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	ran := 0
	for i := range c.Differences {
		if c.Differences[i].Instances > 0 {
			ran++
		}
	}
	row := func(what string, n int) { fmt.Fprintf(tw, "%s\t%d\n", what, n) }
	row("tests that both models judge", c.Tests)
	row("the same states", c.Tests-len(c.Differences))
	row(fmt.Sprintf("more states under %s", c.A), onlyA)
	row(fmt.Sprintf("more states under %s", c.B), onlyB)
	row("each has states of its own", both)
	row("outside a model", len(c.Outside))
	if ran > 0 {
		row("of those that differ, run on a device", ran)
		row(fmt.Sprintf("a state was seen that only %s allows", c.A), seenA)
		row(fmt.Sprintf("a state was seen that only %s allows", c.B), seenB)
	}
	if err := tw.Flush(); err != nil || len(c.Differences) == 0 {
		return err
	}
	fmt.Fprintf(tw, "\ntest\tinstructions\t%s\t%s\tonly %s\tonly %s\n", c.A, c.B, c.A, c.B)
	for i := range c.Differences {
		if limit > 0 && i == limit {
			fmt.Fprintf(tw, "and %d more\n", len(c.Differences)-limit)
			break
		}
		d := &c.Differences[i]
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\t%s\n", d.Test.Name, Size(d.Test), d.A.Observation, d.B.Observation, d.list(d.OnlyA), d.list(d.OnlyB))
	}
	return tw.Flush()
}

// list returns a cell of the table: the first of the states, seen ones before others.
func (d *Difference) list(states []Single) string {
	if len(states) == 0 {
		return "–"
	}
	best := 0
	for i := range states {
		if states[i].Seen > states[best].Seen {
			best = i
		}
	}
	s := d.state(&states[best]) + d.seen(&states[best])
	if n := len(states) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}
