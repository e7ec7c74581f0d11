package model

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes of a picture, in pixels.
const (
	svgColumn = 296 // distance of threads
	svgRow    = 92
	svgBoxW   = 168
	svgBoxH   = 46
	svgTop    = 92
	svgLeft   = 72

	titleLeft = svgLeft - 32
	titleEdge = 20   // left free after a title
	titleSize = 17   // of type, as long as there is room
	titleMin  = 11   // the smallest that can be read
	titleEm   = 0.72 // width of a bold letter in sizes of type, on average and a little more
)

// relColor returns the colour of a relation's arrows.
func relColor(name string) string {
	switch name {
	case "po":
		return "#8a8f98"
	case "rf":
		return "#c62828"
	case "co":
		return "#1565c0"
	case "fr":
		return "#e07b00"
	case "rmw":
		return "#6d4c41"
	case "sync_fence", "syncbar":
		return "#00796b"
	case "race":
		return "#b71c1c"
	case "addr", "data", "ctrl":
		return "#7b1fa2"
	}
	return "#37474f"
}

// SVG draws the execution: threads as columns, events as boxes, relations as
// coloured arrows; the arrows of a violated cycle are wide and numbered.
func (x *Execution) SVG(w io.Writer) error {
	p := &picture{x: x}
	p.place()
	var b strings.Builder
	width, height := p.size()
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="DejaVu Sans, Verdana, sans-serif">`+"\n",
		width,
		height,
		width,
		height,
	)
	b.WriteString("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n")
	p.markers(&b)
	p.title(&b, width)
	p.columns(&b)
	p.arrows(&b)
	p.boxes(&b)
	p.stubs(&b)
	p.labels(&b)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

type picture struct {
	x      *Execution
	cx, cy []float64 // centres of the boxes; 0 for those not drawn
	rows   int
	inits  bool
	curves []curve
}

// curve is a cubic Bézier curve with its label.
type curve struct {
	e          ExecEdge
	px, py     [4]float64
	lx, ly     float64
	label      string
	labelWidth float64
}

// place puts threads into columns and initial writes into a row above them.
func (p *picture) place() {
	x := p.x
	p.cx, p.cy = make([]float64, len(x.Events)), make([]float64, len(x.Events))
	n := 0
	for e := range x.Events {
		if p.shown(e) && x.Events[e].Thread < 0 {
			n++
			p.inits = true
		}
	}
	top := float64(svgTop)
	if p.inits {
		top += svgRow
	}
	// Initial writes are distributed over the width of the threads.
	span := float64(len(x.Test.Threads)-1) * svgColumn
	step, i := 0.0, 0
	first := svgLeft + svgBoxW/2 + span/2
	if n > 1 {
		step = math.Max(span/float64(n-1), svgBoxW+24)
		first -= step * float64(n-1) / 2
		first = math.Max(first, svgLeft+svgBoxW/2)
	}
	for e := range x.Events {
		ev := &x.Events[e]
		switch {
		case ev.Thread >= 0:
			p.cx[e] = svgLeft + svgBoxW/2 + float64(ev.Thread)*svgColumn
			p.cy[e] = top + svgRow/2 + float64(ev.Row)*svgRow
			p.rows = max(p.rows, ev.Row+1)
		case p.shown(e):
			p.cx[e], p.cy[e] = first+step*float64(i), svgTop+svgBoxH/2-14
			i++
		}
	}
}

// shown reports whether an event has a box: initial writes only if they are part
// of the violated cycle. Reads from others are short arrows out of nowhere.
func (p *picture) shown(e int) bool {
	return p.x.Events[e].Thread >= 0 || slices.ContainsFunc(p.x.Edges, func(d ExecEdge) bool {
		return d.Step > 0 && (d.From == e || d.To == e)
	})
}

func (p *picture) size() (w, h float64) {
	w = 2*svgLeft + svgBoxW + float64(len(p.x.Test.Threads)-1)*svgColumn
	for _, cx := range p.cx {
		w = math.Max(w, cx+svgBoxW/2+svgLeft)
	}
	text := titleLeft + titleEdge + titleEm*titleSize*float64(utf8.RuneCountInString(p.heading()))
	w = math.Max(w, math.Min(text, 2*svgLeft+svgBoxW+svgColumn)) // a title never makes it wider than two threads do
	h = svgTop + float64(p.rows)*svgRow + 20
	if p.inits {
		h += svgRow
	}
	return w, h
}

func (p *picture) heading() string {
	if p.x.Allowed {
		return p.x.Test.Name + ": allowed execution"
	}
	return p.x.Test.Name + ": forbidden by " + p.x.Check
}

// fitTitle fits a text into a width: it reduces the type size, and if that is not enough it
// omits the middle. It returns the text and the size.
func fitTitle(text string, width float64) (string, float64) {
	r := []rune(text)
	size := math.Min(titleSize, math.Floor(width/titleEm/float64(max(len(r), 1))*10)/10)
	if size >= titleMin {
		return text, size
	}
	keep := max(int(width/titleEm/titleMin)-1, 2)
	if keep+1 >= len(r) {
		return text, titleMin
	}
	// The end holds the model's verdict: it matters more than the middle.
	end := keep * 2 / 3
	return string(r[:keep-end]) + "…" + string(r[len(r)-end:]), titleMin
}

func (p *picture) title(b *strings.Builder, width float64) {
	// What a model forbids is no bad news by itself: most tests ask for just that.
	const color = "#1a1a1a"
	text, size := fitTitle(p.heading(), width-titleLeft-titleEdge)
	full := ""
	if text != p.heading() {
		full = "<title>" + html.EscapeString(p.heading()) + "</title>"
	}
	fmt.Fprintf(b, `<text x="%d" y="34" font-size="%.4g" font-weight="bold" fill="%s">%s%s</text>`+"\n", titleLeft, size,
		color, full, html.EscapeString(text))
	var used []string
	for _, d := range drawn {
		for _, e := range p.x.Edges {
			if e.Rel == d.name {
				used = append(used, d.name)
				break
			}
		}
	}
	lx := float64(titleLeft)
	for _, name := range used {
		fmt.Fprintf(
			b,
			`<line x1="%.0f" y1="52" x2="%.0f" y2="52" stroke="%s" stroke-width="2.5"%s/>`,
			lx,
			lx+22,
			relColor(name),
			dash(name),
		)
		fmt.Fprintf(b, `<text x="%.0f" y="56" font-size="12" fill="#333333">%s</text>`+"\n", lx+27, html.EscapeString(name))
		lx += 27 + 8*float64(len(name)) + 18
		if lx > width-60 {
			break
		}
	}
}

func dash(name string) string {
	switch name {
	case "race":
		return ` stroke-dasharray="2 3"`
	case "addr", "data", "ctrl", "rmw":
		return ` stroke-dasharray="5 4"`
	}
	return ""
}

// markers defines an arrow head for every colour.
func (p *picture) markers(b *strings.Builder) {
	b.WriteString("<defs>")
	done := map[string]bool{}
	for _, e := range p.x.Edges {
		c := relColor(e.Rel)
		if done[c] {
			continue
		}
		done[c] = true
		fmt.Fprintf(
			b,
			`<marker id="m%s" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.8 L9.5 5 L0 9.2 z" fill="%s"/></marker>`,
			c[1:],
			c,
		)
	}
	b.WriteString("</defs>\n")
}

func (p *picture) columns(b *strings.Builder) {
	y := float64(svgTop) - 8
	if p.inits {
		y += svgRow
	}
	for i, th := range p.x.Test.Threads {
		cx := svgLeft + svgBoxW/2 + float64(i)*svgColumn
		fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="%d" height="%.0f" rx="10" fill="#f4f6f9"/>`, cx-svgBoxW/2-12, y-14,
			svgBoxW+24, float64(p.rows)*svgRow+18)
		fmt.Fprintf(
			b,
			`<text x="%.0f" y="%.0f" font-size="13" font-weight="bold" text-anchor="middle" fill="#455a64">%s</text>`+"\n",
			cx,
			y+4,
			html.EscapeString(th.Name),
		)
	}
}

func (p *picture) boxes(b *strings.Builder) {
	inCycle := map[int]bool{}
	for _, e := range p.x.Edges {
		if e.Step > 0 {
			inCycle[e.From], inCycle[e.To] = true, true
		}
	}
	for e := range p.x.Events {
		ev := &p.x.Events[e]
		if p.cx[e] == 0 {
			continue
		}
		stroke, sw := "#90a4ae", "1.2"
		if inCycle[e] {
			stroke, sw = "#b71c1c", "2.2"
		}
		x, y := p.cx[e]-svgBoxW/2, p.cy[e]-svgBoxH/2
		fill := "#ffffff"
		if ev.Thread < 0 {
			fill = "#eceff1"
		}
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%d" height="%d" rx="6" fill="%s" stroke="%s" stroke-width="%s"/>`, x,
			y, svgBoxW, svgBoxH, fill, stroke, sw)
		name := ev.Name + ":"
		if ev.Thread < 0 {
			name = "init"
		}
		ty := p.cy[e] - 4
		if ev.Instr == "" {
			ty = p.cy[e] + 5
		}
		fmt.Fprintf(
			b,
			`<text x="%.1f" y="%.1f" font-size="14" text-anchor="middle"><tspan fill="#78909c">%s</tspan> <tspan font-weight="bold" fill="#1a1a1a">%s</tspan></text>`,
			p.cx[e],
			ty,
			html.EscapeString(name),
			html.EscapeString(ev.Text),
		)
		if ev.Instr != "" {
			fmt.Fprintf(
				b,
				`<text x="%.1f" y="%.1f" font-size="10.5" text-anchor="middle" fill="#607d8b" font-family="DejaVu Sans Mono, monospace">%s</text>`,
				p.cx[e],
				p.cy[e]+14,
				html.EscapeString(short(ev.Instr, 26)),
			)
		}
		b.WriteString("\n")
	}
}

func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
