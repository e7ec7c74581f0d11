package html

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/report"
)

// filler is the position of a line that is no operation: text around one, or a gap that
// keeps an operation beside its image.
const filler = -2

// around are the lines of a program around its operations, by position. A line's Control says
// what it is: near, origin, fold.
type around struct {
	before map[int][]event.Line
	after  []event.Line
}

var excerptLine = regexp.MustCompile(`^(\d{1,9}): (.*)$`)

// newAround takes the text of a program apart, as report.Program describes it; nil if the
// operations do not stand there.
func newAround(t *event.Test) *around {
	if t.Dialect != event.Program || len(t.Lines) == 0 {
		return nil
	}
	a, ops, next := &around{before: map[int][]event.Line{}}, t.Lines[0], 0
	for line := range strings.Lines(t.Text) {
		line = strings.TrimSuffix(line, "\n")
		l := event.Line{Pos: filler, Text: line, Control: "near"}
		if rest, ok := strings.CutPrefix(line, "// "); ok {
			l.Text, l.Control = rest, "origin"
		} else if strings.HasPrefix(line, "…") {
			l.Text, l.Control = line+" lines", "fold"
		} else if m := excerptLine.FindStringSubmatch(line); m != nil {
			l.At, _ = strconv.Atoi(m[1])
			l.Text = m[2]
		}
		first := next
		for next < len(ops) && l.At > 0 && ops[next] == l.At {
			next++
		}
		if next == first {
			a.after = append(a.after, l)
			continue
		}
		a.before[first], a.after = a.after, nil
	}
	if next < len(ops) {
		return nil
	}
	return a
}

// spread lays a thread of a program out: its operations with the lines around them, each beside
// its image where the order allows it.
func (a *around) spread(t event.ThreadListing) event.ThreadListing {
	out := event.ThreadListing{Thread: t.Thread}
	last := -1
	left := func(l event.Line) {
		if gap := l.Pos - last - 1; gap > 0 {
			out.Source = append(out.Source, event.Line{Pos: filler, Text: "… " + plain.Count(gap, "operation"), Control: "fold"})
		} else {
			out.Source = append(out.Source, a.before[l.Pos]...)
		}
		last = l.Pos
		out.Source = append(out.Source, l)
	}
	level := func() {
		for len(out.Source) < len(out.Machine) {
			out.Source = append(out.Source, event.Line{Pos: filler})
		}
		for len(out.Machine) < len(out.Source) {
			out.Machine = append(out.Machine, event.Line{Pos: filler})
		}
	}
	i, k := 0, 0
	for _, r := range report.SideBySide(t) {
		l, m := i < len(t.Source) && r.Left == t.Source[i], k < len(t.Machine) && r.Right == t.Machine[k]
		if l {
			left(r.Left)
			i++
		}
		if l && m {
			op := out.Source[len(out.Source)-1]
			out.Source = out.Source[:len(out.Source)-1]
			level()
			out.Source = append(out.Source, op)
		}
		if m {
			out.Machine = append(out.Machine, r.Right)
			k++
		}
	}
	out.Source = append(out.Source, a.after...)
	return out
}

// Bounds of the operations that a listing of a program shows, the first one and the others.
const (
	maxOperations      = 400
	maxOtherOperations = 100
	nearOperations     = 12 // on each side of what was found
)

// bounded leaves of a long program what was found and what stands around it; of one in which
// nothing was found the beginning.
func bounded(t event.ThreadListing, findings []event.Finding, most int) (short event.ThreadListing, more int) {
	if len(t.Source) <= most {
		return t, 0
	}
	var at []int
	for _, f := range findings {
		if f.Thread == t.Thread && f.Access >= 0 && len(at) < most/(2*nearOperations+1) && !slices.Contains(at, f.Access) {
			at = append(at, f.Access)
		}
	}
	n := nearOperations
	if at == nil {
		at, n = []int{t.Source[0].Pos}, most-1
	}
	short = t.Near(n, at...)
	short.Machine = short.Machine[:min(len(short.Machine), 4*most)]
	return short, len(t.Source) - len(short.Source)
}

// place is where a line stands, as a column before it shows it.
func placeOf(l *event.Line, machine bool) string {
	switch {
	case l.At == 0:
		return ""
	case machine:
		return fmt.Sprintf("%04x", l.At)
	}
	return strconv.Itoa(l.At)
}
