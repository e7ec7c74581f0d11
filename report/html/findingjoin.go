package html

import "slices"

// joinMatrix makes equal rows of a toolchain one and equal tables one: most
// levels and layouts do the same, and a reader sees those that do not.
func joinMatrix(in []matrixView) (out []matrixView) {
	for _, v := range in {
		v.Rows = joinRows(v.Rows)
		same := func(o matrixView) bool {
			return slices.Equal(o.Targets, v.Targets) && slices.EqualFunc(o.Rows, v.Rows, equalRows)
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Layout += ", " + v.Layout
			continue
		}
		out = append(out, v)
	}
	return out
}

func equalRows(a, b matrixRow) bool {
	return a.Toolchain == b.Toolchain && a.Level == b.Level && slices.Equal(a.Cells, b.Cells)
}

// joinRows joins neighbouring rows of one toolchain.
func joinRows(in []matrixRow) (out []matrixRow) {
	first := 0
	for _, r := range in {
		if r.First {
			first = len(out)
			r.Span = 0
		} else if p := &out[len(out)-1]; slices.Equal(p.Cells, r.Cells) {
			p.Level += " " + r.Level
			continue
		}
		out = append(out, r)
		out[first].Span++
	}
	return out
}
