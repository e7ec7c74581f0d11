package model

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// Sizes of the picture of a schedule, in pixels.
const (
	stepRow    = 30
	stepColumn = 360
	stepTop    = 84
	stepLeft   = 48
)

// Drawable reports whether there is an execution or a schedule to draw.
func (x *Explanation) Drawable() bool { return x.Execution != nil || x.Schedule != nil }

// SVG draws the execution or the schedule.
func (x *Explanation) SVG(w io.Writer) error {
	switch {
	case x.Schedule != nil:
		return x.scheduleSVG(w)
	case x.Execution != nil:
		return x.Execution.SVG(w)
	}
	return x.noPicture()
}

// DOT draws it for Graphviz.
func (x *Explanation) DOT(w io.Writer) error {
	switch {
	case x.Schedule != nil:
		return x.scheduleDOT(w)
	case x.Execution != nil:
		return x.Execution.DOT(w)
	}
	return x.noPicture()
}

func (x *Explanation) noPicture() error {
	v := x.Verdict
	if x.Machine {
		return fmt.Errorf("test %s: there is no schedule to draw: %s forbids the outcome", v.Test.Name, v.Model)
	}
	return fmt.Errorf("test %s: there is no execution to draw: no candidate satisfies the condition", v.Test.Name)
}

// scheduleSVG draws how a machine comes to the outcome: threads as columns, time
// downwards, each step a line of text in the column of whoever makes it.
func (x *Explanation) scheduleSVG(w io.Writer) error {
	t := x.Verdict.Test
	columns := len(t.Threads)
	for _, s := range x.Schedule {
		if s.Thread < 0 {
			columns = len(t.Threads) + 1
		}
	}
	var b strings.Builder
	width, height := stepLeft+columns*stepColumn, stepTop+(len(x.Schedule)+1)*stepRow
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="DejaVu Sans, Verdana, sans-serif">`+"\n",
		width,
		height,
		width,
		height,
	)
	b.WriteString("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n")
	fmt.Fprintf(&b, `<text x="%d" y="32" font-size="17" font-weight="bold">%s: a schedule of %s</text>`+"\n",
		stepLeft-32, html.EscapeString(t.Name), html.EscapeString(x.Verdict.Model))
	for c := range columns {
		name := "memory"
		if c < len(t.Threads) {
			name = t.Threads[c].Name
		}
		at := stepLeft + c*stepColumn
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="14" font-weight="bold">%s</text>`+"\n", at, stepTop-16, html.EscapeString(name))
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#cfd8dc"/>`+"\n", at-8, stepTop-32, at-8, height-8)
	}
	for i, s := range x.Schedule {
		c := s.Thread
		if c < 0 {
			c = len(t.Threads)
		}
		y := stepTop + (i+1)*stepRow - 8
		fmt.Fprintf(&b, `<text x="8" y="%d" font-size="11" fill="#8a8f98">%d</text>`+"\n", y, i+1)
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="12">%s</text>`+"\n", stepLeft+c*stepColumn, y, html.EscapeString(s.Text))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// scheduleDOT writes the same for Graphviz: a chain of steps.
func (x *Explanation) scheduleDOT(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  label=%s; labelloc=t; fontname=\"DejaVu Sans\";\n", dotString(x.Verdict.Test.Name),
		dotString(x.Verdict.Test.Name+": a schedule of "+x.Verdict.Model))
	b.WriteString("  node [shape=box, style=rounded, fontname=\"DejaVu Sans\"];\n")
	for i, s := range x.Schedule {
		fmt.Fprintf(&b, "  s%d [label=%s];\n", i, dotString(x.who(s)+": "+s.Text))
		if i > 0 {
			fmt.Fprintf(&b, "  s%d -> s%d;\n", i-1, i)
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
