package report

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Curve is a series of values at 0, Step, 2·Step, … of a plot.
type Curve struct {
	Name   string
	Start  float64
	Step   float64
	Values []uint64
}

// WriteCurves draws curves as SVG. The same curves give the same bytes.
func WriteCurves(w io.Writer, title, x, y string, list []Curve) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	for i, c := range list {
		points := make(plotter.XYs, len(c.Values))
		for k, v := range c.Values {
			points[k] = plotter.XY{X: c.Start + float64(k)*c.Step, Y: float64(v)}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return fmt.Errorf("plot %s: %w", title, err)
		}
		line.Color = plotutil.Color(i)
		p.Add(line)
		p.Legend.Add(c.Name, line)
	}
	out, err := p.WriterTo(8*vg.Inch, 4*vg.Inch, "svg")
	if err != nil {
		return fmt.Errorf("plot %s: %w", title, err)
	}
	_, err = out.WriteTo(w)
	return err
}
