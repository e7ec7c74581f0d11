package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"optcheck/internal/plain"
)

// group is a set of cells of one test and layout with the same findings.
type group struct {
	test, layout string
	cells        []*Cell
}

// signature identifies what was found in a cell.
func signature(c *Cell) string { return c.Result.Signature() }

// Signature identifies findings, reason and new outcomes, without the text of
// machine instructions: results of equal class and signature say the same.
func (c *Result) Signature() string {
	var b strings.Builder
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "%s/%d/%d/%s;", f.Rule, f.Thread, f.Access, f.Stage)
	}
	b.WriteString(c.Reason)
	if v := c.Verdict; v != nil {
		fmt.Fprintf(&b, "|%s|%q|%q", v.Model, v.New, v.SCNew)
		// What PTX says of the test itself goes with the test.
		if v.RaceModel == "" && v.Race+v.Unjudged != "" {
			fmt.Fprintf(&b, "|%s|%s", v.Race, v.Unjudged)
		}
	}
	return b.String()
}

// arose tells at which stage of the compiler a finding arose.
func arose(stage string) string {
	if stage == "" {
		return ""
	}
	if !strings.Contains(stage, " ") && stage != "library" { // a compiler
		return " (arose in " + stage + ")"
	}
	return " (arose in the " + stage + ")"
}

func groups(r *Run, class string, each bool) []*group {
	by := map[string]*group{}
	var order []*group
	for i, c := range r.All() {
		if c.Class != class {
			continue
		}
		kept := *c
		c := &kept
		k := strings.Join([]string{c.Test, c.Hash, c.Layout, signature(c), strings.Join(c.Known, ",")}, "\x00")
		if each {
			k += fmt.Sprint("\x00", i)
		}
		g := by[k]
		if g == nil {
			g = &group{test: c.Test, layout: c.Layout}
			by[k] = g
			order = append(order, g)
		}
		g.cells = append(g.cells, c)
	}
	sort.SliceStable(order, func(i, j int) bool {
		if a, b := order[i].cells[0].RaceRank(), order[j].cells[0].RaceRank(); a != b {
			return a < b
		}
		if order[i].test != order[j].test {
			return order[i].test < order[j].test
		}
		return order[i].layout < order[j].layout
	})
	return order
}

func writeGroups(b *bufio.Writer, r *Run, class string, o TextOptions) {
	gs := groups(r, class, o.Cells)
	for _, g := range gs {
		c := g.cells[0]
		fmt.Fprintf(b, "\n%s: %s, layout %s\n", strings.ToUpper(class), label(g.test), g.layout)
		for _, w := range where(g.cells) {
			fmt.Fprintf(b, "  in %s\n", w)
		}
		if c.Reason != "" {
			fmt.Fprintf(b, "  because %s\n", c.Reason)
		}
		for _, f := range c.Findings {
			fmt.Fprintf(b, "  %s: T%d %s%s\n", f.Rule, f.Thread, f.Detail, arose(f.Stage))
		}
		if len(c.Known) > 0 {
			fmt.Fprintf(b, "  known: %s\n", strings.Join(c.Known, ", "))
		}
		if c.Verdict != nil {
			WriteVerdict(b, c.Verdict)
		}
		if l := r.Listings[c.Code]; l != nil {
			fmt.Fprintf(b, "  shown for %s %s %s:\n", c.Toolchain, c.Target, c.Level)
			writeListing(b, l, c.Findings)
		}
	}
}

// where says in which cells of the matrix a group lies: per toolchain and set
// of levels the targets.
func where(cells []*Cell) []string {
	levels := map[[2]string][]string{}
	var order [][2]string
	for _, c := range cells {
		k := [2]string{c.Toolchain, c.Target}
		if levels[k] == nil {
			order = append(order, k)
		}
		levels[k] = append(levels[k], c.Level)
	}
	var keys []string
	targets := map[string][]string{}
	for _, k := range order {
		ls := append([]string(nil), levels[k]...)
		sort.Strings(ls)
		key := k[0] + "\x00" + strings.Join(ls, " ")
		if targets[key] == nil {
			keys = append(keys, key)
		}
		targets[key] = append(targets[key], k[1])
	}
	var out []string
	for _, key := range keys {
		tc, ls, _ := strings.Cut(key, "\x00")
		out = append(out, fmt.Sprintf("%s %s at %s", tc, strings.Join(targets[key], " "), ls))
	}
	return out
}

// Row is one line of a side-by-side listing: a line of the source, of the
// machine code, or of both.
type Row struct {
	Left, Right Line // Text is empty where there is none
	// Mark is '-' for gone, '<' for moved away from here, '>' for moved here, '+'
	// for not in the test, and ' ' for none of these.
	Mark byte
}

// SideBySide aligns the source order of a thread with its machine order.
func SideBySide(t ThreadListing) []Row {
	srcKey := map[int]Line{}
	var a, b []rune
	for _, l := range t.Source {
		srcKey[l.Pos] = l
		a = append(a, rune(0x100+l.Pos))
	}
	byRune := map[rune]Line{}
	extra := rune(0x1000)
	for _, l := range t.Machine {
		k := rune(0x100 + l.Pos)
		if _, known := srcKey[l.Pos]; l.Pos < 0 || !known || l.Part {
			extra++
			k = extra
		}
		byRune[k] = l
		b = append(b, k)
	}
	var rows []Row
	seen := map[int]bool{}
	for _, l := range t.Machine {
		if !l.Part {
			seen[l.Pos] = true
		}
	}
	for _, d := range diffmatchpatch.New().DiffMainRunes(a, b, false) {
		for _, k := range d.Text {
			switch d.Type {
			case diffmatchpatch.DiffEqual:
				rows = append(rows, Row{srcKey[int(k)-0x100], byRune[k], ' '})
			case diffmatchpatch.DiffDelete:
				mark := byte('-') // gone
				if seen[int(k)-0x100] {
					mark = '<' // moved away
				}
				rows = append(rows, Row{srcKey[int(k)-0x100], Line{Pos: -1}, mark})
			case diffmatchpatch.DiffInsert:
				l, mark := byRune[k], byte('+')
				if l.Part {
					mark = ' '
				} else if l.Pos >= 0 {
					mark = '>' // moved here
				}
				rows = append(rows, Row{Line{Pos: -1}, l, mark})
			}
		}
	}
	return rows
}

// Look is what a listing looks like without registers and addresses: listings of
// equal look show the same accesses in the same order.
func (l *Listing) Look() string {
	var b strings.Builder
	for _, t := range l.Threads {
		fmt.Fprintf(&b, "T%d", t.Thread)
		for _, lines := range [][]Line{t.Source, t.Machine} {
			b.WriteString("|")
			for _, x := range lines {
				word, _, _ := strings.Cut(x.Text, " ")
				fmt.Fprintf(&b, "%d %t %s;", x.Pos, x.Part, word)
			}
		}
	}
	return b.String()
}

// WriteListing writes the threads of a listing that findings speak of, source
// beside machine code, with moved and missing accesses marked.
func WriteListing(w io.Writer, l *Listing, findings []Finding) error {
	b := bufio.NewWriter(w)
	writeListing(b, l, findings)
	return b.Flush()
}

func writeListing(b *bufio.Writer, l *Listing, findings []Finding) {
	bad := map[int]bool{}
	for _, f := range findings {
		bad[f.Thread] = true
	}
	for _, t := range l.Threads {
		if !bad[t.Thread] {
			continue
		}
		rows := SideBySide(t)
		width := len("source")
		for _, r := range rows {
			width = max(width, len(r.Left.Text))
		}
		fmt.Fprintf(b, "    T%d  %-*s | machine\n", t.Thread, width, "source")
		for _, r := range rows {
			fmt.Fprintf(b, "      %c %-*s | %s\n", r.Mark, width, r.Left.Text, r.Right.Text)
		}
	}
}

// maxOutcomes bounds the outcomes named in a text report.
const maxOutcomes = 8

// maxSchedule bounds the steps of a schedule that are shown.
const maxSchedule = 60

// WriteVerdict says what a model makes of machine code.
func WriteVerdict(b io.Writer, v *Verdict) {
	list := func(what string, states []string) {
		if len(states) == 0 {
			return
		}
		more := ""
		if n := len(states) - maxOutcomes; n > 0 {
			states, more = states[:maxOutcomes], fmt.Sprintf("  and %d more", n)
		}
		fmt.Fprintf(b, "  %s: %s%s\n", what, strings.Join(states, "  "), more)
	}
	if s := v.RaceText(); s != "" {
		fmt.Fprintf(b, "  %s\n", s)
	}
	if v.Source == 0 && v.Unjudged == "" {
		return // nobody asked for outcomes
	}
	if v.Unjudged != "" {
		fmt.Fprintf(b, "  the machine code was not judged: %s\n", v.Unjudged)
		return
	}
	on := ""
	if v.Hardware != "" {
		on = " on " + v.Hardware
	}
	fmt.Fprintf(b, "  model %s: %s of the test, %d of the machine code%s\n", v.Model, plain.Count(v.Source, "outcome"), v.Machine, on)
	list("new", v.New)
	switch {
	case v.Hidden():
		fmt.Fprintf(b, "  not visible in the condition of this test\n")
	case !slices.Equal(v.New, v.Visible):
		list("in the terms of the condition", v.Visible)
	}
	if v.Check != "" {
		fmt.Fprintf(b, "  the test forbids it by %s: %s\n", v.Check, v.Cycle)
	}
	if v.Unexplained != "" {
		fmt.Fprintf(b, "  why the test forbids it was not found: %s\n", v.Unexplained)
	}
	for i, s := range v.Schedule[:min(len(v.Schedule), maxSchedule)] {
		if i == 0 && len(v.New) > 0 {
			fmt.Fprintf(b, "  so the hardware comes to %s\n", v.New[0])
		}
		fmt.Fprintf(b, "    %d. %s\n", i+1, s)
	}
	list("lost", v.Lost)
	list("new under sequential consistency", v.SCNew)
	for _, e := range v.Equal {
		fmt.Fprintf(b, "  %s\n", e)
	}
	for _, o := range v.Others {
		fmt.Fprintf(b, "  under %s: %s", o.Model, o.Class)
		if len(o.New) > 0 {
			fmt.Fprintf(b, " (%s)", strings.Join(o.New[:min(len(o.New), maxOutcomes)], "  "))
		}
		if len(o.Flags) > 0 {
			fmt.Fprintf(b, "; flagged %s", strings.Join(o.Flags, ", "))
		}
		fmt.Fprintln(b)
	}
}
