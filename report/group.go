package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"optcheck/event"
	"optcheck/internal/plain"
)

// writeGroups lists the findings of a run, the first causes in full, or with o.Cells each cell
// that has one.
func writeGroups(b *bufio.Writer, r *event.Run, o TextOptions) {
	gs := GroupsOf(r)
	left := len(gs.List)
	for i, list := range gs.byCause() {
		if i == MaxTold && !o.Cells {
			fmt.Fprintf(b, "\n%d more of %d findings: --cells shows each of their cells, --html FOLDER all of them\n", left, len(gs.List))
			return
		}
		left -= len(list)
		if !o.Cells {
			writeGroup(b, r, &gs.Set.Tests[list[0].Test], gs.InFull(list[0]))
			writeAlso(b, gs, list[1:])
			continue
		}
		for _, g := range list {
			cells := gs.InFull(g)
			for i := range cells {
				writeGroup(b, r, &gs.Set.Tests[g.Test], cells[i:i+1])
			}
		}
	}
}

// byCause puts the findings together that have a cause in common: what breaks the same rules at the same operations in the same
// way, in whichever tests, kernels, lines and registers.
func (g *Groups) byCause() (out [][]*Group) {
	at := map[string]int{}
	for _, x := range g.List {
		r := &g.Set.Results[g.Set.Cells[x.Cells[0]].Result]
		key := r.Class + "\x00" + strings.Join(r.Known, " ")
		if v := r.Verdict; v != nil { // what a race excuses is told apart
			key += "\x00" + v.Race + "\x00" + v.Unjudged
		}
		causes := map[string]bool{}
		for i := range r.Findings {
			causes[causeOf(&r.Findings[i])] = true
		}
		for i := range r.Doubts {
			causes[causeOf(&r.Doubts[i])] = true
		}
		if len(causes) == 0 || r.Class == event.Unknown {
			causes[r.Reason] = true
		}
		key += "\x00" + strings.Join(sortedKeys(causes), "\x00")
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], x)
	}
	return out
}

// maxAlso bounds the further places of a cause that are named.
const maxAlso = 8

// writeAlso says where else a cause shows.
func writeAlso(b *bufio.Writer, gs *Groups, more []*Group) {
	for _, g := range more[:min(len(more), maxAlso)] {
		cells, t := gs.InFull(g), &gs.Set.Tests[g.Test]
		var at, places []string
		for _, list := range [][]event.Finding{cells[0].Findings, cells[0].Doubts} {
			for i := range list {
				if x := t.Tell(&list[i]); x.Place != "" {
					put(&at, x.Place+": ")
				}
			}
		}
		for _, p := range Places(cells) {
			places = append(places, p.String())
		}
		fmt.Fprintf(b, "  also: %s%s, in %s\n", strings.Join(at, ""), t.Title(), strings.Join(places, "; "))
	}
	if n := len(more) - maxAlso; n > 0 {
		fmt.Fprintf(b, "  and %s with this cause: --cells\n", plain.Count(n, "more finding"))
	}
}

// writeGroup writes cells that show the same: the line of the author and the instruction, where it happens, both codes side by
// side, what may happen, and what a reader may do next.
func writeGroup(b *bufio.Writer, r *event.Run, t *event.Test, cells []*event.Cell) {
	c := cells[0]
	fmt.Fprintf(b, "\n%s: %s\n", strings.ToUpper(plain.Label(c.Class)), t.Title())
	writeFindings(b, t, c.Findings, "")
	writeFindings(b, t, c.Doubts, "unknown: ")
	how := "" // of what is miscompiled, how it was compiled
	if c.Reason != "" && c.Class == event.Miscompiled {
		how = ", " + c.Reason
	}
	for _, p := range Places(cells) {
		fmt.Fprintf(b, "  in %s%s\n", p, how)
	}
	if c.Reason != "" && how == "" && (len(c.Doubts) == 0 || c.Class != event.Unknown) { // else the doubts are the reason
		fmt.Fprintf(b, "  because %s\n", c.Reason)
	}
	if len(c.Known) > 0 {
		fmt.Fprintf(b, "  known: %s\n", strings.Join(c.Known, ", "))
	}
	if l := r.Listings[c.Code]; l != nil {
		writeListing(b, l, c.Findings, strings.Join([]string{c.Toolchain, c.Target, c.Level, strings.TrimPrefix(c.Layout, event.OwnLayout)}, " "))
	}
	if c.Verdict != nil {
		WriteVerdict(b, c.Verdict)
	}
	if next := Next(&r.Config, t, c); next != "" {
		fmt.Fprintf(b, "  next: %s\n", next)
	}
}

// Row is one line of a side-by-side listing: a line of the source, of the
// machine code, or of both.
type Row struct {
	Left, Right event.Line // Text is empty where there is none
	// Mark is '-' for gone, '<' for moved away from here, '>' for moved here, '+'
	// for not in the test, and ' ' for none of these.
	Mark byte
}

// SideBySide aligns the source order of a thread with its machine order.
func SideBySide(t event.ThreadListing) []Row {
	srcKey := map[int]event.Line{}
	var a, b []rune
	for _, l := range t.Source {
		srcKey[l.Pos] = l
		a = append(a, rune(0x100+l.Pos))
	}
	byRune := map[rune]event.Line{}
	extra := rune(0x1000)
	for _, l := range t.Machine {
		k := rune(0x100 + l.Pos)
		_, known := srcKey[l.Pos]
		if _, again := byRune[k]; l.Pos < 0 || !known || l.Part || again {
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
				rows = append(rows, Row{srcKey[int(k)-0x100], event.Line{Pos: -1}, mark})
			case diffmatchpatch.DiffInsert:
				l, mark := byRune[k], byte('+')
				if l.Part {
					mark = ' '
				} else if l.Pos >= 0 {
					mark = '>' // moved here, or here once more
				}
				rows = append(rows, Row{event.Line{Pos: -1}, l, mark})
			}
		}
	}
	return rows
}

// WriteListing writes the threads of a listing that findings speak of, source
// beside machine code, with moved and missing accesses marked.
func WriteListing(w io.Writer, l *event.Listing, findings []event.Finding) error {
	b := bufio.NewWriter(w)
	writeListing(b, l, findings, "machine")
	return b.Flush()
}

// writeListing heads the machine code with its name.
func writeListing(b *bufio.Writer, l *event.Listing, findings []event.Finding, machine string) {
	bad := map[int]bool{}
	for _, f := range findings {
		bad[f.Thread] = true
	}
	for _, t := range l.Threads {
		if !bad[t.Thread] {
			continue
		}
		rows := SideBySide(shortThread(t, accesses(findings, t.Thread)...))
		width, codes := len("source"), 0
		for _, r := range rows {
			width, codes = max(width, len(r.Left.Text)), max(codes, len(r.Right.Control))
		}
		if codes > 0 {
			codes += 2
		}
		fmt.Fprintf(b, "    T%d  %-*s | %s\n", t.Thread, width, "source", strings.TrimRight(machine, " "))
		for _, r := range rows {
			if r.Right.Control != "" {
				r.Right.Text = fmt.Sprintf("%-*s%s", codes, r.Right.Control, r.Right.Text)
			}
			fmt.Fprintf(b, "      %c %-*s | %s\n", r.Mark, width, r.Left.Text, r.Right.Text)
		}
	}
}

// maxOutcomes bounds the outcomes named in a text report.
const maxOutcomes = 8

// maxSchedule bounds the steps of a schedule that are shown.
const maxSchedule = 60

// WriteVerdict says what a model makes of machine code.
func WriteVerdict(b io.Writer, v *event.Verdict) {
	list := func(what string, states []string, how string) {
		if len(states) == 0 {
			return
		}
		more := ""
		if n := len(states) - maxOutcomes; n > 0 {
			states, more = states[:maxOutcomes], fmt.Sprintf("  and %d more", n)
		}
		fmt.Fprintf(b, "  %s: %s%s%s\n", what, strings.Join(states, "  "), more, how)
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
	counts := fmt.Sprintf("model %s: %s of the test, %d of the machine code%s", v.Model, plain.Count(v.Source, "outcome"), v.Machine, on)
	if list("may happen", v.New, " ("+counts+")"); len(v.New) == 0 {
		fmt.Fprintf(b, "  %s\n", counts)
	}
	switch {
	case v.Hidden():
		fmt.Fprintf(b, "  not visible in the condition of this test\n")
	case !slices.Equal(v.New, v.Visible):
		list("in the terms of the condition", v.Visible, "")
	}
	if v.Check != "" {
		fmt.Fprintf(b, "  %s forbids it by %s: %s\n", cmp.Or(v.Pattern, "the test"), v.Check, v.Cycle)
		for _, e := range v.Events {
			fmt.Fprintf(b, "    %s\n", e)
		}
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
	list("lost", v.Lost, "")
	list("new under sequential consistency", v.SCNew, "")
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
