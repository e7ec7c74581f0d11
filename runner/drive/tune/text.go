package tune

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// WriteText prints Tables 2 and 3 and Figures 3 and 4 of the paper for a chip.
func (t *Tuned) WriteText(w io.Writer, chip string) error {
	p := &printer{w: w}
	p.f("Table 2\n%-24s %-14s %-14s %6s %8s\n", "chip", "c. patch size", "sequence", "spread", "seconds")
	size := fmt.Sprint(t.Patch)
	if !t.Agreed {
		size += " (no agreement)"
	}
	p.f("%-24s %-14s %-14s %6d %8.1f\n", chip, size, Short(t.Sequence), t.Spread, t.Took.Seconds())
	p.f("distances gone through: %d for patches, %d for sequences, %d for spreads, of %d\n", t.Rounds[0], t.Rounds[1], t.Rounds[2], Distances)
	t.table3(p)
	t.figure3(p)
	p.f("\nFigure 4: score by spread\n%6s", "spread")
	for _, n := range Idioms {
		p.f(" %10s", n)
	}
	for _, s := range t.Spreads {
		p.f("\n%6s", s.Name)
		for _, x := range s.Score {
			p.f(" %10d", x)
		}
	}
	p.f("\n")
	return p.err
}

// Short abbreviates a sequence as the paper does: ld st2 ld.
func Short(sequence string) string {
	var out []string
	words := strings.Fields(sequence)
	for i := 0; i < len(words); {
		n := 1
		for i+n < len(words) && words[i+n] == words[i] {
			n++
		}
		w := words[i]
		if n > 1 {
			w += fmt.Sprint(n)
		}
		out = append(out, w)
		i += n
	}
	return strings.Join(out, " ")
}

// table3 prints the three best, the chosen and the three worst sequences of each idiom.
func (t *Tuned) table3(p *printer) {
	p.f("\nTable 3: rank, sequence and score\n")
	sorted := make([][]Scores, len(Idioms))
	for i, name := range Idioms {
		sorted[i] = slices.Clone(t.Sequences)
		slices.SortStableFunc(sorted[i], func(a, b Scores) int {
			if a.Score[i] == b.Score[i] {
				return 0
			} else if a.Score[i] > b.Score[i] {
				return -1
			}
			return 1
		})
		p.f("%-38s", name)
	}
	row := func(of func(i int) Scores) {
		p.f("\n")
		for i := range Idioms {
			s := of(i)
			p.f("%4d %-16s %12d     ", rank(t.Sequences, s, i), Short(s.Name), s.Score[i])
		}
	}
	n := len(t.Sequences)
	for k := range min(3, n) {
		row(func(i int) Scores { return sorted[i][k] })
	}
	row(func(int) Scores { return best(t.Sequences) })
	for k := max(n-3, 0); k < n; k++ {
		row(func(i int) Scores { return sorted[i][k] })
	}
	p.f("\n")
}

// figure3 prints, for each idiom and distance, how weak each stressed location was: a
// digit is the eighth of the idiom's most, '.' is none.
func (t *Tuned) figure3(p *printer) {
	for idiom, name := range Idioms {
		p.f("\nFigure 3: %s, weak by distance (down) and stressed location (across, %d words each)\n", name, LocationStep)
		top := uint64(1)
		for _, x := range t.Patches {
			if x.Idiom == idiom {
				top = max(top, slices.Max(x.Weak))
			}
		}
		for _, x := range t.ByDistance(idiom) {
			p.f("%4d ", x.Distance)
			for _, w := range x.Weak {
				c := "."
				if w > 0 {
					c = fmt.Sprint(1 + 8*(w-1)/top)
				}
				p.f("%s", c)
			}
			p.f(" %d\n", slices.Max(x.Weak))
		}
	}
}

// ByDistance are the patches of an idiom in the order of their distances.
func (t *Tuned) ByDistance(idiom int) []Patch {
	var list []Patch
	for _, x := range t.Patches {
		if x.Idiom == idiom {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b Patch) int { return a.Distance - b.Distance })
	return list
}
