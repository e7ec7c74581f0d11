package report

import (
	"fmt"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// Tally counts what a reader asks first: what is new, what is known, of how many cells.
type Tally struct {
	Cells map[string]int // by class
	// Findings of each class that matters: new ones, those of them in race-free tests,
	// and known ones.
	New, RaceFree, Known map[string]int
}

// Tally counts findings and cells, which are those of a set by class.
func (g *Groups) Tally(cells map[string]int) Tally {
	t := Tally{cells, map[string]int{}, map[string]int{}, map[string]int{}}
	crashes := map[string]bool{}
	for _, x := range g.List {
		c := g.Set.Cell(int(x.Cells[0]))
		if c.Class == event.Crashed && len(c.Findings) > 0 {
			again := crashes[c.Findings[0].CrashKey()]
			if crashes[c.Findings[0].CrashKey()] = true; again {
				continue
			}
		}
		if len(c.Known) > 0 {
			t.Known[x.Class]++
			continue
		}
		t.New[x.Class]++
		if c.RaceWord() == event.WordRaceFree {
			t.RaceFree[x.Class]++
		}
	}
	return t
}

// Decided returns the number of cells of which something is known, Supported and unknown ones
// with them.
func (t *Tally) Decided() int {
	return t.Cells[event.Preserved] + t.Cells[event.Optimised] + t.Cells[event.Miscompiled] + t.Cells[event.Changed] + t.Cells[event.Crashed]
}

// bad are the classes that a headline counts findings of, with what one and several of them are called.
var bad = [][3]string{{event.Miscompiled, "miscompilation", "miscompilations"},
	{event.Changed, "change that no model judged", "changes that no model judged"}, {event.Crashed, "crash of a compiler", "crashes of compilers"}}

// Headline says in a sentence what came out, the worst first; new findings before known
// ones. It says that nothing is new only if nothing is undecided either.
func (t *Tally) Headline() string {
	var fresh, known []string
	in := 0
	for _, x := range bad {
		if n := t.New[x[0]]; n > 0 {
			fresh = append(fresh, plain.Number(n)+" new "+plain.Form(n, x[1], x[2])+t.free(x[0]))
		}
		if n := t.Known[x[0]]; n > 0 {
			known = append(known, plain.Number(n)+" known "+plain.Form(n, x[1], x[2]))
		}
		in += t.Cells[x[0]]
	}
	of := " of " + plain.Number(t.Decided()) + " decided " + plain.Form(t.Decided(), "cell", "cells")
	if n := t.Cells[event.Unknown]; n > 0 {
		fresh = append(fresh, plain.Count(n, "undecided cell"))
	}
	if n := t.Cells[event.Invalid]; n > 0 {
		fresh = append(fresh, plain.Count(n, "invalid cell"))
	}
	if all := append(fresh, known...); len(all) > 0 {
		s := strings.Join(all, ", ")
		if len(fresh) == 0 {
			s = "nothing new: " + s
		}
		if in > 0 {
			s += "; in " + plain.Number(in) + of
		}
		return capital(s)
	}
	switch n := t.Cells[event.Optimised]; {
	case n > 0:
		return fmt.Sprintf("Nothing is miscompiled; %s%s %s optimised", plain.Number(n), of, plain.Form(n, "is", "are"))
	case t.Decided() == 0:
		return "No cell is supported"
	case t.Decided() == 1:
		return "The only decided cell is preserved"
	}
	return "All " + plain.Number(t.Decided()) + " decided cells are preserved"
}

// free says how many of the new findings of a class are in race-free tests.
func (t *Tally) free(class string) string {
	if n := t.RaceFree[class]; n > 0 {
		return " (" + plain.Number(n) + " in race-free tests)"
	}
	return ""
}

// Rest says how many cells are not decided, and why; "" if there are none.
func (t *Tally) Rest() string {
	var out []string
	if n := t.Cells[event.Unknown]; n > 0 {
		out = append(out, plain.Count(n, "cell")+" could not be decided")
	}
	if n := t.Cells[event.Invalid]; n > 0 {
		out = append(out, plain.Count(n, "cell")+" "+plain.Form(n, "is", "are")+" invalid: no compiler takes the file")
	}
	if n := t.Cells[event.Unsupported]; n > 0 {
		out = append(out, plain.Count(n, "cell")+" "+plain.Form(n, "is unsupported: its", "are unsupported: their")+
			" target or encoding lacks something that the test uses")
	}
	return strings.Join(out, "; ")
}

func capital(s string) string {
	return strings.ToUpper(s[:1]) + s[1:]
}
