package html

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"optcheck/internal/plain"
	"optcheck/sass/hazard"
)

// flightView is the code around a register in flight, ready to be shown.
type flightView struct {
	Lines  []lineView
	Arrows template.HTML
}

// maxFlight bounds the lines and the arrows that are shown, whatever an event stream has.
const maxFlight = 64

// newFlightView makes the view of an excerpt; nil of none.
func newFlightView(x *hazard.Excerpt) *flightView {
	if x == nil {
		return nil
	}
	v := &flightView{}
	for _, l := range x.Lines[:min(len(x.Lines), maxFlight)] {
		line := lineView{At: fmt.Sprintf("%04x", l.At), Text: clip(l.Control+"  "+l.Text, 400)}
		if l.Left > 0 {
			line.tag(plain.Count(l.Left, "instruction") + " left out before")
		}
		if l.Source != "" {
			line.tag(fmt.Sprint("line ", l.Of))
		}
		v.Lines = append(v.Lines, line)
	}
	waits := slices.DeleteFunc(slices.Clone(x.Waits[:min(len(x.Waits), maxFlight)]), func(w hazard.Wait) bool {
		return min(w.From, w.To) < 0 || max(w.From, w.To) >= len(v.Lines)
	})
	slices.SortStableFunc(waits, func(a, b hazard.Wait) int { return cmp.Compare(flightKinds[a.Kind], flightKinds[b.Kind]) })
	for _, w := range waits {
		to := &v.Lines[w.To]
		if to.Says != "" {
			to.Says += "; "
		}
		to.Says = clip(to.Says+w.Says, 400)
		if w.Kind == hazard.Missing {
			to.Mark = "broken"
			to.tag(clip(w.Says, 200))
		}
	}
	v.Arrows = drawFlight(len(v.Lines), waits)
	return v
}

// flightKinds order arrows: what is missing is drawn above all others.
var flightKinds = map[string]int{hazard.Waits: 0, hazard.Reaches: 1, hazard.Missing: 2}

// drawFlight draws arrows beside lines, from who is waited for to who waits; the farther apart, the wider.
func drawFlight(lines int, waits []hazard.Wait) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="fp-arrows" role="img" aria-label="arrows from instructions to those that wait for them" width="7.6em" height="%dem" viewBox="0 0 %d %d">`,
		lines*rowSize/10, arrowsSize, lines*rowSize)
	class := map[string]string{hazard.Waits: "fp-kept", hazard.Reaches: "fp-part", hazard.Missing: "fp-lost"}
	for _, w := range waits {
		y1, y2 := w.From*rowSize+rowSize/2, w.To*rowSize+rowSize/2
		far := max(4, arrowsSize-16-6*max(w.To-w.From, w.From-w.To))
		fmt.Fprintf(&b, `<path class="%s" d="M%d %d C%d %d %d %d %d %d"><title>%s</title></path><path class="fp-head %[1]s" d="M%[11]d %[9]d l-8 -4 v8 z"/>`,
			class[w.Kind], arrowsSize-3, y1, far, y1, far, y2, arrowsSize-9, y2, template.HTMLEscapeString(clip(w.Says, 200)), arrowsSize-2)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
