package model

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// arrows routes and draws the edges: first the plain ones, then the cycle.
func (p *picture) arrows(b *strings.Builder) {
	same := map[[2]int]int{} // arrows between two boxes so far
	ports := map[[2]int]int{}
	for _, cycle := range []bool{false, true} {
		for _, e := range p.x.Edges {
			if (e.Step > 0) != cycle || p.cx[e.From] == 0 || p.cx[e.To] == 0 {
				continue
			}
			key := [2]int{min(e.From, e.To), max(e.From, e.To)}
			c := p.route(e, same[key], ports)
			same[key]++
			p.curves = append(p.curves, c)
			p.stroke(b, c)
		}
	}
}

// stubs draws reads from initial writes that have no box.
func (p *picture) stubs(b *strings.Builder) {
	for _, e := range p.x.Edges {
		if e.Rel != "rf" || p.cx[e.From] != 0 || p.cx[e.To] == 0 {
			continue
		}
		color := relColor("rf")
		x, y := p.cx[e.To]-svgBoxW/2+22, p.cy[e.To]-svgBoxH/2
		fmt.Fprintf(
			b,
			`<path d="M%.1f %.1f L%.1f %.1f" fill="none" stroke="%s" stroke-width="1.7" marker-end="url(#m%s)"/>`,
			x-9,
			y-20,
			x,
			y,
			color,
			color[1:],
		)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="11.5" fill="%s">rf init</text>`+"\n", x+1, y-9, color)
	}
}

func (p *picture) stroke(b *strings.Builder, c curve) {
	d := fmt.Sprintf("M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f", c.px[0], c.py[0], c.px[1], c.py[1], c.px[2], c.py[2], c.px[3], c.py[3])
	color := relColor(c.e.Rel)
	width := "1.7"
	if c.e.Step > 0 {
		fmt.Fprintf(b, `<path d="%s" fill="none" stroke="#ffcdd2" stroke-width="9" stroke-linecap="round"/>`, d)
		width = "2.8"
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="%s"%s marker-end="url(#m%s)"/>`+"\n", d, color,
		width, dash(c.e.Rel), color[1:])
}

// route finds the curve of an edge. k counts earlier arrows between the same
// boxes; ports counts those at each side of a box, to spread their ends.
func (p *picture) route(e ExecEdge, k int, ports map[[2]int]int) curve {
	ax, ay, bx, by := p.cx[e.From], p.cy[e.From], p.cx[e.To], p.cy[e.To]
	c := curve{e: e, label: e.Rel}
	if e.Step > 0 {
		c.label = fmt.Sprintf("%d %s", e.Step, e.Rel)
	}
	c.labelWidth = 7.2*float64(len(c.label)) + 8
	ax0, bx0 := ax, bx
	t := 0.5
	switch {
	case math.Abs(ax-bx) < 1 && math.Abs(ay-by) < svgRow+1 && e.Rel == "po":
		// down to the next box
		s := sign(by - ay)
		c.set(ax, ay+s*svgBoxH/2, ax, ay+s*svgBoxH/2+8, bx, by-s*svgBoxH/2-8, bx, by-s*svgBoxH/2)
	case math.Abs(ax-bx) < 1:
		// round the side of the column, further out the longer the way
		side := 1.0
		if k%2 == 1 || e.Rel == "fr" {
			side = -1
		}
		out := 26 + 12*math.Abs(ay-by)/svgRow + 16*float64(k/2)
		x := ax + side*svgBoxW/2
		c.set(x, ay+6, x+side*out, ay+6, x+side*out, by-6, x, by-6)
	case p.upward(e.From) || p.upward(e.To):
		// from or to an initial write, above the threads
		s := sign(by - ay)
		dx := p.port(e.From, 2, ports) * 16
		ex := p.port(e.To, 3, ports)*16 + 8*float64(k)
		c.set(ax+dx, ay+s*svgBoxH/2, ax+dx, ay+s*70, bx+ex, by-s*70, bx+ex, by-s*svgBoxH/2)
		t = 0.6
	default:
		s := sign(bx - ax)
		ya := ay + p.port(e.From, int(s), ports)*9
		yb := by + p.port(e.To, int(-s), ports)*9
		ax, bx = ax+s*svgBoxW/2, bx-s*svgBoxW/2
		bend := math.Max(34, math.Abs(bx-ax)*0.42)
		y1, y2 := ya, yb
		if math.Abs(bx0-ax0) > svgColumn+1 {
			// Pass between the rows of the columns on the way.
			gap := p.gap((ya + yb) / 2)
			y1, y2 = gap+0.35*(gap-ya), gap+0.35*(gap-yb)
		}
		c.set(ax, ya, ax+s*bend, y1, bx-s*bend, y2, bx, yb)
		t = []float64{0.5, 0.34, 0.66, 0.42}[k%4]
	}
	c.lx, c.ly = c.at(t)
	return c
}

// gap returns the middle between two rows that is nearest to y.
func (p *picture) gap(y float64) float64 {
	first := svgTop + svgRow/2.0
	if p.inits {
		first += svgRow
	}
	k := math.Round((y-first)/svgRow - 0.5)
	return first + (math.Max(k, -1)+0.5)*svgRow
}

// upward reports whether an event is an initial write, drawn above the threads.
func (p *picture) upward(e int) bool { return p.x.Events[e].Thread < 0 }

// port returns 0, 1, -1, 2, … for successive arrows at one side of a box.
func (p *picture) port(e, side int, ports map[[2]int]int) float64 {
	key := [2]int{e, side}
	n := ports[key]
	ports[key]++
	k := float64((n + 1) / 2)
	if n%2 == 0 {
		k = -k
	}
	return math.Max(-2, math.Min(2, k))
}

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

func (c *curve) set(x0, y0, x1, y1, x2, y2, x3, y3 float64) {
	c.px, c.py = [4]float64{x0, x1, x2, x3}, [4]float64{y0, y1, y2, y3}
}

// at returns the point of the curve at parameter t.
func (c *curve) at(t float64) (x, y float64) {
	u := 1 - t
	w := [4]float64{u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t}
	for i := range w {
		x += w[i] * c.px[i]
		y += w[i] * c.py[i]
	}
	return x, y
}

// labels writes the relations' names, moved along their curves until they
// cover neither a box nor another label.
func (p *picture) labels(b *strings.Builder) {
	type box struct{ x, y, w, h float64 }
	var taken []box
	for e := range p.x.Events {
		if p.cx[e] != 0 {
			taken = append(taken, box{p.cx[e] - svgBoxW/2, p.cy[e] - svgBoxH/2, svgBoxW, svgBoxH})
		}
	}
	for _, c := range p.curves {
		best, cost := [2]float64{c.lx, c.ly}, math.Inf(1)
		for _, t := range []float64{0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82} {
			x, y := c.at(t)
			own := math.Abs(t-0.5) * 10
			for _, o := range taken {
				ox := math.Min(x+c.labelWidth/2, o.x+o.w) - math.Max(x-c.labelWidth/2, o.x)
				oy := math.Min(y+9, o.y+o.h) - math.Max(y-9, o.y)
				if ox > 0 && oy > 0 {
					own += ox * oy
				}
			}
			if own < cost {
				best, cost = [2]float64{x, y}, own
			}
		}
		x, y := best[0], best[1]
		taken = append(taken, box{x - c.labelWidth/2, y - 9, c.labelWidth, 18})
		weight, fill := "normal", "#ffffff"
		if c.e.Step > 0 {
			weight, fill = "bold", "#fff3f3"
		}
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="16" rx="4" fill="%s" fill-opacity="0.92"/>`,
			x-c.labelWidth/2, y-8, c.labelWidth, fill)
		fmt.Fprintf(
			b,
			`<text x="%.1f" y="%.1f" font-size="11.5" font-weight="%s" text-anchor="middle" fill="%s">%s</text>`+"\n",
			x,
			y+4,
			weight,
			relColor(c.e.Rel),
			html.EscapeString(c.label),
		)
	}
}
