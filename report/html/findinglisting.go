package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/report"
)

// listingView is a report.Listing ready to be shown.
type listingView struct {
	Place   place
	Cells   int // of the group that have this code
	Threads []threadView
	Same    []int // threads without a finding, which are shown closed
}

// threadView is one thread: the source's lines beside the machine's, with
// arrows between lines that are the same access.
type threadView struct {
	Thread  int
	Program bool // it is a program's
	Found   bool // findings speak of it
	Source  []lineView
	Machine []lineView
	Arrows  template.HTML
	More    int // lines not shown
}

// lineView is a line with what is to be said of it.
type lineView struct {
	ID   string // for links to it
	At   string // where it stands in its program
	Text string
	Tags []string
	Mark string // moved, lost, merged, added, broken, part, none, near, origin, fold or ""
	Says string // for those who do not see the arrows
}

// arrow joins line From of the source with line To of the machine code, counted
// from 0.
type arrow struct {
	From, To int
	Kind     string // kept, moved, merged, part
}

// newListingView makes the view of a listing. a is what stands around its operations in a
// program, nil for tests; id makes names of lines that findings speak of, at most most
// operations of a program are shown.
func newListingView(l *event.Listing, findings []event.Finding, a *around, id string, most int) listingView {
	var v listingView
	for _, t := range l.Threads[:min(len(l.Threads), maxPageThreads)] {
		v.Threads = append(v.Threads, newThreadView(t, findings, a, id, most))
	}
	return v
}

// threadLines is a thread while its lines are being joined.
type threadLines struct {
	t        event.ThreadListing
	program  bool
	id       string          // of lines, for links
	findings []event.Finding // of this thread
	arrows   []arrow
	source   []lineView
	machine  []lineView
	at       map[int]int // line of the machine code, by position
}

func newThreadView(t event.ThreadListing, findings []event.Finding, a *around, id string, most int) threadView {
	v := threadView{Thread: t.Thread, Program: a != nil}
	if a != nil {
		t, v.More = bounded(t, findings, most)
	} else if n := max(len(t.Source), len(t.Machine)); n > maxPageLines {
		v.More = n - maxPageLines
		t.Source, t.Machine = t.Source[:min(len(t.Source), maxPageLines)], t.Machine[:min(len(t.Machine), maxPageLines)]
	}
	x := &threadLines{t: t, program: a != nil, id: id, at: map[int]int{}}
	if a != nil {
		x.t = a.spread(t)
	}
	for _, f := range findings {
		if f.Thread == t.Thread {
			x.findings = append(x.findings, f)
		}
	}
	v.Found = len(x.findings) > 0 || a != nil
	x.lines()
	x.marks()
	x.join()
	v.Source, v.Machine = x.source, x.machine
	v.Arrows = drawArrows(t.Thread, x.t.Source, len(x.t.Machine), x.arrows, v.More == 0 && len(x.arrows) > 0)
	return v
}

func (x *threadLines) lines() {
	for _, l := range x.t.Source {
		v := lineView{Text: clip(strings.TrimSpace(l.Control+"  "+l.Text), 400), At: placeOf(&l, false)}
		switch {
		case l.Pos == filler:
			v.Text, v.Mark = clip(l.Text, 400), l.Control
		case l.At > 0: // which the text tells at its end, too
			v.Text, _, _ = strings.Cut(v.Text, " // ")
		}
		x.source = append(x.source, v)
	}
	for i, l := range x.t.Machine {
		x.machine = append(x.machine, lineView{Text: clip(l.Text, 400), At: placeOf(&l, true)})
		if _, ok := x.at[l.Pos]; !ok && l.Pos >= 0 && !l.Part {
			x.at[l.Pos] = i
		}
	}
}

// marks takes over from the aligned listing what moved, went and came, and tags
// lines with the rules that are broken there. Of programs only findings say that: much of
// them may move.
func (x *threadLines) marks() {
	if !x.program {
		x.aligned()
		x.named()
	}
	for i, l := range x.t.Source {
		for _, f := range x.findings {
			if f.Access == l.Pos && f.Access >= 0 {
				x.source[i].rule(f.Rule)
				x.source[i].ID = lineID(x.id, x.t.Thread, l.Pos)
				if k, ok := x.at[l.Pos]; ok {
					x.machine[k].rule(f.Rule)
				}
			}
		}
	}
	says := map[string]string{"moved": "moved", "lost": "lost", "added": "not in the test"}
	for _, views := range [][]lineView{x.source, x.machine} {
		for i := range views {
			if v := &views[i]; says[v.Mark] != "" && len(v.Tags) == 0 {
				v.tag(says[v.Mark])
			}
		}
	}
}

// aligned marks what stands elsewhere or on one side alone.
func (x *threadLines) aligned() {
	word := map[byte]string{'<': "moved", '>': "moved", '-': "lost", '+': "added"}
	mark := func(lines []event.Line, views []lineView, l event.Line, as byte) {
		for i := range lines { // equal lines in order
			if lines[i] == l && views[i].Mark == "" {
				views[i].Mark = word[as]
				return
			}
		}
	}
	for _, r := range report.SideBySide(x.t) {
		switch r.Mark {
		case '<', '-':
			mark(x.t.Source, x.source, r.Left, r.Mark)
		case '>', '+':
			mark(x.t.Machine, x.machine, r.Right, r.Mark)
		}
	}
}

// lineID names a line of the source for links.
func lineID(id string, thread, pos int) string { return fmt.Sprintf("%s-%d-%d", id, thread, pos) }

// named prefers what findings say of what moved: an aligned listing cannot know
// which of two swapped lines is the one that went astray.
func (x *threadLines) named() {
	moved := map[int]bool{}
	for _, f := range x.findings {
		if f.Rule == "reordered" {
			moved[f.Access] = true
		}
	}
	if len(moved) == 0 {
		return
	}
	again := func(lines []event.Line, views []lineView) {
		for i, l := range lines {
			switch {
			case moved[l.Pos] && !l.Part && views[i].Mark != "lost":
				views[i].Mark = "moved"
			case views[i].Mark == "moved":
				views[i].Mark = ""
			}
		}
	}
	again(x.t.Source, x.source)
	again(x.t.Machine, x.machine)
}

// rule tags a line with a rule that is broken there.
func (v *lineView) rule(id string) {
	v.tag(id)
	if v.Mark == "" {
		v.Mark = "broken"
	}
}

func (v *lineView) tag(s string) {
	if !slices.Contains(v.Tags, s) && len(v.Tags) < 4 {
		v.Tags = append(v.Tags, s)
	}
}

// join draws the arrows and says them in words.
func (x *threadLines) join() {
	for i, l := range x.t.Source {
		if l.Pos == filler {
			continue
		}
		k, ok := x.at[l.Pos]
		kind := "kept"
		if !ok {
			if k, ok = x.mergedInto(l.Pos); !ok {
				x.source[i].Says = "not in the machine code"
				if x.source[i].Mark == "" {
					x.source[i].Mark = "none"
				}
				continue
			}
			kind = "merged"
		} else if x.source[i].Mark == "moved" || x.machine[k].Mark == "moved" {
			kind = "moved"
		}
		x.arrows = append(x.arrows, arrow{i, k, kind})
		x.source[i].Says = fmt.Sprintf("is line %d of the machine code", k+1)
		if kind == "merged" {
			x.machine[k].tag("merged")
			x.source[i].Mark, x.source[i].Says = "merged", fmt.Sprintf("became part of line %d of the machine code", k+1)
		}
	}
	for k, l := range x.t.Machine {
		if !l.Part && (!x.program || l.Pos < 0 || x.at[l.Pos] == k) { // programs have operations more than once
			continue
		}
		if l.Part {
			x.machine[k].Mark = "part"
		}
		if l.Pos < 0 {
			continue
		}
		for i, s := range x.t.Source {
			if s.Pos == l.Pos {
				x.arrows = append(x.arrows, arrow{i, k, "part"})
			}
		}
	}
	// Lines that cross another one are where the order changed.
	for i := range x.arrows {
		for j := range x.arrows {
			a, b := x.arrows[i], x.arrows[j]
			if a.Kind == "moved" && b.Kind == "kept" && (a.From-b.From)*(a.To-b.To) < 0 {
				x.source[a.From].Says += fmt.Sprintf(", crosses line %d", b.From+1)
			}
		}
	}
}

// mergedInto finds the machine line that an access was merged into: the one of
// the first access that the finding's detail names.
func (x *threadLines) mergedInto(pos int) (int, bool) {
	for _, f := range x.findings {
		if f.Rule != "merged" || f.Access != pos {
			continue
		}
		if k, ok := x.at[firstPosition(f.Detail)]; ok {
			return k, true
		}
	}
	return 0, false
}

// Sizes of the arrows in tenths of an em: a line of a listing is rowSize high.
const (
	rowSize    = 20
	arrowsSize = 76
)

// drawArrows draws the arrows between two lists of lines. Kinds differ in width
// and dashes, not only in colour.
func drawArrows(thread int, source []event.Line, machine int, arrows []arrow, complete bool) template.HTML {
	rows := max(len(source), machine, 1)
	var b strings.Builder
	label := fmt.Sprintf("thread %d: arrows from the accesses of the source to those of the machine code", thread)
	if !complete {
		label += ", as far as shown"
	}
	fmt.Fprintf(&b, `<svg class="fp-arrows" role="img" aria-label="%s" width="%s" height="%dem" viewBox="0 0 %d %d">`,
		label, "7.6em", rows*rowSize/10, arrowsSize, rows*rowSize)
	joined := map[int]bool{}
	order := map[string]int{"part": 0, "kept": 1, "merged": 2, "moved": 3}
	arrows = slices.Clone(arrows)
	slices.SortStableFunc(arrows, func(a, b arrow) int { return order[a.Kind] - order[b.Kind] })
	for _, a := range arrows {
		joined[a.From] = joined[a.From] || a.Kind != "part"
		y1, y2 := a.From*rowSize+rowSize/2, a.To*rowSize+rowSize/2
		fmt.Fprintf(&b, `<path class="fp-%s" d="M3 %d C%d %d %d %d %d %d"/>`, a.Kind, y1, arrowsSize/2, y1, arrowsSize/2, y2, arrowsSize-9, y2)
		if a.Kind != "part" {
			fmt.Fprintf(&b, `<path class="fp-head fp-%s" d="M%d %d l-8 -4 v8 z"/>`, a.Kind, arrowsSize-2, y2)
		}
	}
	for i, l := range source {
		if !joined[i] && l.Pos != filler {
			y := i*rowSize + rowSize/2
			fmt.Fprintf(&b, `<path class="fp-lost" d="M3 %d H22"/><path class="fp-cross" d="M24 %d l8 8 m0 -8 l-8 8"/>`, y, y-4)
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
