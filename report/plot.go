package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	// The formats of WritePlot.
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgsvg"

	"optcheck/event"
)

// WritePlot draws the rate of weak outcomes per setting, a colour per test, on
// a logarithmic scale with 95 % intervals. A test that was not seen weak is an
// open triangle at the rate that its instances exclude; one whose run did not
// end well and saw nothing is left out, as are histograms without instances.
// Formats: "svg", "png". The same histograms give the same bytes.
func WritePlot(w io.Writer, format string, list []event.Histogram) error {
	if format != "svg" && format != "png" {
		return fmt.Errorf("unknown format %q of a plot (svg, png)", format)
	}
	var settings, tests []string
	for i := range list {
		if pointOf(&list[i]).rate > 0 {
			put(&settings, list[i].Setting)
			put(&tests, list[i].Test)
		}
	}
	if len(tests) == 0 {
		return errors.New("nothing to plot: no histogram with instances")
	}
	p := plot.New()
	p.Y.Label.Text = "weak outcomes per instance (95 % interval)"
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: 1}
	p.NominalX(settings...)
	if len(settings) > 4 {
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/4, draw.XRight, draw.YCenter
	}
	p.X.Min, p.X.Max = -0.5, float64(len(settings))-0.5
	p.Legend.Top = true
	for i, test := range tests {
		if err := addSeries(p, list, test, settings, i, len(tests)); err != nil {
			return err
		}
	}
	p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(p.Y.Min))), math.Pow(10, math.Ceil(math.Log10(p.Y.Max)))
	if p.Y.Min == p.Y.Max {
		p.Y.Max *= 10
	}
	p.Add(plotter.NewGrid())
	width := vg.Length(max(6, 0.7*float64(len(settings))+1)) * vg.Inch
	c, err := p.WriterTo(min(width, 24*vg.Inch), 5*vg.Inch, format)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err = c.WriteTo(w)
	return err
}

// point is a histogram's place in a plot; rate 0 is none.
type point struct {
	rate, low, high float64
	unseen          bool
}

func pointOf(h *event.Histogram) point {
	r := h.Rate
	switch {
	case r == nil || h.Instances == 0:
		return point{}
	case h.Weak > 0:
		// A logarithmic scale has no room for an interval that touches zero.
		return point{r.Rate, max(r.Low, r.Rate/1000), min(r.High, 1), false}
	}
	return point{r.Excluded, r.Excluded, r.Excluded, true}
}

// points are the points of one test, with the lengths of their error bars.
type points struct {
	plotter.XYs
	plotter.YErrors
}

func addSeries(p *plot.Plot, list []event.Histogram, test string, settings []string, i, n int) error {
	var seen points
	var unseen plotter.XYs
	for k := range list {
		h := &list[k]
		pt := pointOf(h)
		if h.Test != test || pt.rate <= 0 {
			continue
		}
		// Tests stand side by side within a setting.
		x := float64(slices.Index(settings, h.Setting)) + 0.7*(float64(i)+0.5)/float64(n) - 0.35
		if pt.unseen {
			unseen = append(unseen, plotter.XY{X: x, Y: pt.rate})
			continue
		}
		seen.XYs = append(seen.XYs, plotter.XY{X: x, Y: pt.rate})
		seen.YErrors = append(seen.YErrors, struct{ Low, High float64 }{pt.rate - pt.low, pt.high - pt.rate})
	}
	colour := plotutil.Color(i)
	if len(seen.XYs) > 0 {
		bars, err := plotter.NewYErrorBars(seen)
		if err != nil {
			return fmt.Errorf("plot %s: %w", test, err)
		}
		bars.Color = colour
		p.Add(bars)
		if err := addGlyphs(p, seen.XYs, draw.CircleGlyph{}, colour, test); err != nil {
			return err
		}
	}
	if len(unseen) > 0 {
		return addGlyphs(p, unseen, draw.TriangleGlyph{}, colour, test+" (not seen: excluded rate)")
	}
	return nil
}

func addGlyphs(p *plot.Plot, at plotter.XYs, shape draw.GlyphDrawer, colour color.Color, name string) error {
	s, err := plotter.NewScatter(at)
	if err != nil {
		return fmt.Errorf("plot %s: %w", name, err)
	}
	s.Shape, s.Color, s.Radius = shape, colour, vg.Points(3)
	p.Add(s)
	p.Legend.Add(name, s)
	return nil
}
