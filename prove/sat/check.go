package sat

// Check reports whether clauses cannot all hold, by a list of clauses of which each follows from those before it by unit propagation
// (reverse unit propagation; Goldberg and Novikov, 2003), and the empty one from all. It shares no code with the solver. Where no effort is left,
// nothing follows.
func Check(n int, clauses, learnt [][]Lit, effort *int) bool {
	c := &checker{value: make([]int8, 2*n), uses: make([][]int, 2*n), effort: effort}
	for _, k := range clauses {
		if !c.add(k) {
			return false
		}
	}
	for _, k := range learnt {
		if *effort < 0 || !c.follows(k) || !c.add(k) {
			return false
		}
	}
	return c.follows(nil)
}

type checker struct {
	clauses [][]Lit
	value   []int8  // by literal: 1 if it is true
	uses    [][]int // by literal: clauses that watch it
	// trail are the literals that are true, in order; the first sure ones follow from the clauses alone. refuted tells that these contradict
	// each other.
	trail   []Lit
	sure    int
	refuted bool
	effort  *int // looks at clauses that are left
}

func (c *checker) add(k []Lit) bool {
	for _, l := range k {
		if l < 0 || int(l) >= len(c.value) {
			return false
		}
	}
	own := append([]Lit(nil), k...)
	free := 0 // literals that are not false come first: the first two are watched
	for i, l := range own {
		if c.value[l^1] != 1 {
			own[free], own[i] = l, own[free]
			free++
		}
	}
	if len(own) > 1 {
		c.clauses = append(c.clauses, own)
		for _, l := range own[:2] {
			c.uses[l] = append(c.uses[l], len(c.clauses)-1)
		}
	}
	switch free {
	case 0:
		c.refuted = true
	case 1:
		c.refuted = c.refuted || !c.set(own[0]) || !c.propagate(c.sure)
		c.sure = len(c.trail)
	}
	return true
}

// set makes a literal true; false: it is false.
func (c *checker) set(l Lit) bool {
	if c.value[l^1] == 1 {
		return false
	}
	if c.value[l] == 0 {
		c.value[l] = 1
		c.trail = append(c.trail, l)
	}
	return true
}

// follows reports whether the opposite of a clause leads to a contradiction.
func (c *checker) follows(k []Lit) bool {
	defer func() {
		for _, l := range c.trail[c.sure:] {
			c.value[l] = 0
		}
		c.trail = c.trail[:c.sure]
	}()
	for _, l := range k {
		if l < 0 || int(l) >= len(c.value) {
			return false
		}
		if !c.set(l ^ 1) {
			return true
		}
	}
	return c.refuted || !c.propagate(c.sure)
}

// propagate follows what is true from a place of the trail on; false: it contradicts itself.
func (c *checker) propagate(at int) bool {
	for ; at < len(c.trail); at++ {
		f := c.trail[at] ^ 1 // is false
		list := c.uses[f]
		*c.effort -= len(list)
		kept := list[:0]
		for i, n := range list {
			q := c.clauses[n]
			if q[0] == f {
				q[0], q[1] = q[1], q[0]
			}
			if c.value[q[0]] == 1 {
				kept = append(kept, n)
				continue
			}
			found := false
			for j := 2; j < len(q); j++ {
				if c.value[q[j]^1] != 1 {
					q[1], q[j] = q[j], q[1]
					c.uses[q[1]] = append(c.uses[q[1]], n)
					found = true
					break
				}
			}
			if found {
				continue
			}
			kept = append(kept, n)
			if !c.set(q[0]) {
				c.uses[f] = append(kept, list[i+1:]...)
				return false
			}
		}
		c.uses[f] = kept
	}
	return true
}
