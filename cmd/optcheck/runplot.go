package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// plot draws the rate of each test under each set of incantations.
func (o *runOutput) plot(file string) error {
	if e := strings.ToLower(filepath.Ext(file)); e != ".svg" && e != ".png" {
		return fmt.Errorf("plot %s: want .svg or .png", file)
	}
	p := plot.New()
	p.Title.Text = "Rate of the condition's outcome per 100,000 instances"
	p.X.Label.Text = "set of incantations (column of Tab. 6)"
	p.Y.Label.Text = "log10"
	for i, t := range o.order {
		var pts plotter.XYs
		for c := 1; c <= 16; c++ {
			if r := o.rows[t].byColumn[c]; r != nil && r.Positive > 0 {
				pts = append(pts, plotter.XY{X: float64(c), Y: math.Log10(r.Rate * 1e5)})
			}
		}
		if len(pts) == 0 {
			continue
		}
		l, s, err := plotter.NewLinePoints(pts)
		if err != nil {
			return err
		}
		l.Color, s.Color, s.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
		p.Add(l, s)
		p.Legend.Add(t, l, s)
	}
	p.Add(plotter.NewGrid())
	return p.Save(24*vg.Centimeter, 14*vg.Centimeter, file)
}
