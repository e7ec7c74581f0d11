package report

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Bars is a series of values, one for each group.
type Bars struct {
	Name   string
	Values []float64
}

// WriteBars draws series side by side in groups as SVG. The same series give the same
// bytes. Each must have a value for each group.
func WriteBars(w io.Writer, title, y string, groups []string, list []Bars) error {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = title, y
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	width := 6 * vg.Inch / vg.Length(max(1, len(groups)*(len(list)+1)))
	for i, s := range list {
		if len(s.Values) != len(groups) {
			return fmt.Errorf("plot %s: %s has %d values for %d groups", title, s.Name, len(s.Values), len(groups))
		}
		bars, err := plotter.NewBarChart(plotter.Values(s.Values), width)
		if err != nil {
			return fmt.Errorf("plot %s: %w", title, err)
		}
		bars.Color, bars.LineStyle.Width = plotutil.Color(i), 0
		bars.Offset = width * vg.Length(float64(i)-float64(len(list)-1)/2)
		p.Add(bars)
		p.Legend.Add(s.Name, bars)
	}
	p.NominalX(groups...)
	out, err := p.WriterTo(8*vg.Inch, 4*vg.Inch, "svg")
	if err != nil {
		return fmt.Errorf("plot %s: %w", title, err)
	}
	_, err = out.WriteTo(w)
	return err
}
