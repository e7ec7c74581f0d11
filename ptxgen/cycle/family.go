package cycle

import (
	"slices"
	"strings"
)

// Families maps the classic names to the threads' first and last accesses in
// the order of the cycle; a thread with one access has one letter. Neighbours
// determine the communication between them. Sources: the names of the diy
// tool's normaliser and of the literature on Power and ARM.
var families = []struct{ name, shape string }{
	{"MP", "WW+RR"}, {"SB", "WR+WR"}, {"LB", "RW+RW"}, {"S", "WW+RW"}, {"R", "WW+WR"}, {"2+2W", "WW+WW"},
	{"WRC", "W+RW+RR"}, {"RWC", "W+RR+WR"}, {"WWC", "W+RW+RW"}, {"WRW+WR", "W+RW+WR"},
	{"WRR+2W", "W+RR+WW"}, {"WRW+2W", "W+RW+WW"},
	{"ISA2", "WW+RW+RR"}, {"W+RWC", "WW+RR+WR"}, {"Z6.0", "WW+RW+WR"}, {"Z6.1", "WW+WW+RW"}, {"Z6.2", "WW+RW+RW"},
	{"Z6.3", "WW+WW+RR"}, {"Z6.4", "WW+WR+WR"}, {"Z6.5", "WW+WW+WR"},
	{"3.SB", "WR+WR+WR"}, {"3.LB", "RW+RW+RW"}, {"3.2W", "WW+WW+WW"},
	{"IRIW", "W+RR+W+RR"}, {"IRRWIW", "W+RR+W+RW"}, {"IRWIW", "W+RW+W+RW"},
	{"4.SB", "WR+WR+WR+WR"}, {"4.LB", "RW+RW+RW+RW"}, {"4.2W", "WW+WW+WW+WW"},
}

// coherence are the names of cycles on one location with a single edge of
// program order; the shapes of one thread close by a communication within it.
var coherence = []struct{ name, shape string }{
	{"CoRR", "W+RR"}, {"CoRW2", "W+RW"}, {"CoWR", "W+WR"}, {"CoWW", "WW"}, {"CoRW1", "RW"}, {"CoWR0", "WR"},
}

func nameOfShape(shape string, coh bool) string {
	t := families
	if coh {
		t = coherence
	}
	for _, f := range t {
		if f.shape == shape {
			return f.name
		}
	}
	return ""
}

func shapeOfName(name string) (shape string, coh, ok bool) {
	for _, f := range families {
		if f.name == name {
			return f.shape, false, true
		}
	}
	for _, f := range coherence {
		if f.name == name {
			return f.shape, true, true
		}
	}
	return "", false, false
}

// shapes returns first and last access of each thread.
func (c *Cycle) shapes() []string {
	s := make([]string, c.Threads())
	for t := range s {
		from, to := c.span(t)
		s[t] = c.dir(from).String()
		if to-from > 1 {
			s[t] += c.dir(to - 1).String()
		}
	}
	return s
}

// isCoherence reports whether the cycle may bear the name of a coherence shape.
func (c *Cycle) isCoherence() bool {
	if c.locs != 1 {
		return false
	}
	order := 0
	for _, e := range c.Edges {
		if !e.Com() {
			order++
		}
	}
	return order == 1 && len(c.Edges) == c.Threads()+1
}

// Family returns the classic name of the cycle, or else the first and last
// accesses of its threads joined by +, for example WW+RW+RW+RR.
func (c *Cycle) Family() string {
	name, _ := c.family()
	return name
}

// family also returns the rotations, counted in threads, under which the
// threads stand in the family's order.
func (c *Cycle) family() (string, []int) {
	s := c.shapes()
	coh := c.isCoherence()
	best, bestName := "", ""
	var rots []int
	for r := range s {
		shape := strings.Join(rotate(s, r), "+")
		name := nameOfShape(shape, coh)
		switch {
		case name != "" && bestName == "":
			best, bestName, rots = shape, name, []int{r}
		case name != "" && shape == best || name == "" && bestName == "" && shape == best:
			rots = append(rots, r)
		case name == "" && bestName == "" && shape > best:
			best, rots = shape, []int{r}
		}
	}
	if bestName == "" {
		bestName = best
	}
	return bestName, rots
}

// turn returns the cycle with thread r first.
func (c *Cycle) turn(r int) *Cycle {
	if r == 0 {
		return c
	}
	k := c.start[r]
	d := &Cycle{Edges: rotate(c.Edges, k), Ann: rotate(c.Ann, k)}
	if err := d.lay(); err != nil {
		// A rotation has the same events and communications.
		panic("cycle: " + err.Error())
	}
	return d
}

// edgeKey and annKey order cycles that have their threads in the same order of
// shapes.
func (c *Cycle) edgeKey() []uint32 {
	k := make([]uint32, len(c.Edges))
	for i, e := range c.Edges {
		k[i] = e.code()
	}
	return k
}

func (c *Cycle) annKey() []uint32 {
	k := make([]uint32, len(c.Ann))
	for i, a := range c.Ann {
		k[i] = a.code()
	}
	return k
}

// least returns those rotations whose keys are least.
func least(rots []int, key func(r int) []uint32) []int {
	var best []uint32
	var out []int
	for _, r := range rots {
		k := key(r)
		switch d := slices.Compare(k, best); {
		case out == nil || d < 0:
			best, out = k, []int{r}
		case d == 0:
			out = append(out, r)
		}
	}
	return out
}
