package html

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"optcheck/event"
)

// Sizes of the plot of rates, in pixels.
const (
	plotWidth = 720
	plotLeft  = 190
	plotRight = 24
	plotRow   = 24
	plotTop   = 30
	plotFoot  = 40
)

// smallestRate is where the axis ends at the latest: no campaign excludes less.
const smallestRate = 1e-15

// plotRates draws the rate of the condition's outcome for each setting, with the
// 95 % interval, on a logarithmic axis. What was not seen is an open triangle at
// the rate that is excluded; a run that did not end well and saw nothing says
// nothing. No histogram with a rate gives no plot.
func plotRates(hs []*event.Histogram) template.HTML {
	low, high := 1.0, 0.0
	reach := func(x float64) {
		if x = min(max(x, smallestRate), 1); x > 0 {
			low, high = min(low, x), max(high, x)
		}
	}
	for _, h := range hs {
		switch {
		case h.Rate == nil || h.Instances == 0:
		case h.Weak > 0:
			reach(h.Rate.Rate)
			reach(max(h.Rate.Low, h.Rate.Rate/10))
			reach(h.Rate.High)
		case h.Rate.Excluded > 0:
			reach(h.Rate.Excluded)
		}
	}
	if high == 0 {
		return ""
	}
	from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	if from == to {
		from--
	}
	x := func(rate float64) float64 {
		l := math.Log10(min(max(rate, smallestRate), 1))
		return plotLeft + (min(max(l, from), to)-from)/(to-from)*(plotWidth-plotLeft-plotRight)
	}
	height := plotTop + plotRow*len(hs) + plotFoot
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg class="fp-plot" role="img" aria-label="rate of the asked outcome for each setting, with 95 percent intervals; the numbers are in the table" width="%d" height="%d" viewBox="0 0 %d %d">`, plotWidth, height, plotWidth, height)
	bottom := plotTop + plotRow*len(hs)
	step := math.Ceil((to - from) / 8)
	for e := from; e <= to; e++ {
		at := x(math.Pow(10, e))
		fmt.Fprintf(&b, `<line class="fp-grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, at, plotTop-8, at, bottom)
		if math.Mod(e-from, step) == 0 {
			fmt.Fprintf(&b, `<text class="fp-quiet" x="%.1f" y="%d" text-anchor="middle">%s</text>`, at, bottom+16, decade(int(e)))
		}
	}
	fmt.Fprintf(&b, `<line class="fp-axis" x1="%d" y1="%d" x2="%d" y2="%d"/>`, plotLeft, bottom, plotWidth-plotRight, bottom)
	fmt.Fprintf(&b,
		`<text class="fp-quiet" x="%d" y="%d">per instance; line: 95 %% interval; triangle: not seen, rates to the right of it are excluded</text>`, 8, bottom+34)
	for i, h := range hs {
		y := plotTop + plotRow*i + plotRow/2 - 4
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, plotLeft-12, y+4, template.HTMLEscapeString(Short(h.Setting, 28)))
		b.WriteString(plotPoint(h, y, x))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func plotPoint(h *event.Histogram, y int, x func(float64) float64) string {
	switch {
	case h.Rate == nil || h.Instances == 0:
		return fmt.Sprintf(`<text class="fp-quiet" x="%d" y="%d">not run</text>`, plotLeft+6, y+4)
	case h.Weak > 0:
		l, r, at := x(h.Rate.Low), x(h.Rate.High), x(h.Rate.Rate)
		return fmt.Sprintf(`<path class="fp-bar" d="M%.1f %d H%.1f M%.1f %d v8 M%.1f %d v8"/><circle class="fp-dot" cx="%.1f" cy="%d" r="4"/>`,
			l, y, r, l, y-4, r, y-4, at, y)
	case h.Rate.Excluded > 0:
		return fmt.Sprintf(`<path class="fp-unseen" d="M%.1f %d l9 -5 v10 z"/>`, x(h.Rate.Excluded)-9, y)
	}
	return fmt.Sprintf(`<text class="fp-quiet" x="%d" y="%d">nothing can be concluded</text>`, plotLeft+6, y+4)
}

// decade writes a power of ten for an axis.
func decade(e int) string {
	if e == 0 {
		return "1"
	}
	return fmt.Sprintf(`10<tspan dy="-4" font-size="9">%s</tspan>`, strings.Replace(fmt.Sprint(e), "-", "−", 1))
}
