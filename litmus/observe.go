package litmus

import "slices"

// ObserveAll returns the test with every register that an access defines and every
// location among its terms, behind those of its condition: all that a program
// could observe of it. A result that goes to "_" is not observed.
func (t *Test) ObserveAll() *Test {
	c := t.Clone()
	terms := c.Terms()
	add := func(x Term) {
		if !slices.Contains(terms, x) {
			terms = append(terms, x)
			c.Observed = append(c.Observed, x)
		}
	}
	for i := range c.Threads {
		for _, in := range c.Threads[i].Body {
			if in.IsAccess() && in.Dst != "" && in.Dst != "_" {
				add(Term{Kind: TermReg, Thread: i, Name: in.Dst})
			}
		}
	}
	for _, l := range c.Locations {
		if l.Alias == "" {
			add(Term{Kind: TermLoc, Name: l.Name})
		}
	}
	return c
}
