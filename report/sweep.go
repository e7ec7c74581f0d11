package report

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Sweep is a series of points, all of them positive, in the order of X.
type Sweep struct {
	Name string
	X, Y []float64
}

// WriteSweeps draws points with lines between them as SVG, both axes logarithmic. The
// same points give the same bytes.
func WriteSweeps(w io.Writer, title, x, y string, list []Sweep) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	for i, s := range list {
		points := make(plotter.XYs, len(s.X))
		for k := range s.X {
			points[k] = plotter.XY{X: s.X[k], Y: s.Y[k]}
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return fmt.Errorf("plot %s: %w", title, err)
		}
		line.Color, marks.Color, marks.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
		p.Add(line, marks)
		p.Legend.Add(s.Name, line, marks)
	}
	out, err := p.WriterTo(8*vg.Inch, 5*vg.Inch, "svg")
	if err != nil {
		return fmt.Errorf("plot %s: %w", title, err)
	}
	_, err = out.WriteTo(w)
	return err
}
