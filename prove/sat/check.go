package sat

// Check reports whether clauses cannot all hold, by a list of clauses of which each follows from those before it by unit propagation
// (reverse unit propagation; Goldberg and Novikov, 2003), and the empty one from all. It shares no code with the solver.
func Check(n int, clauses, learnt [][]Lit) bool {
	c := &checker{value: make([]int8, 2*n), uses: make([][]int, 2*n)}
	for _, k := range clauses {
		if !c.add(k) {
			return false
		}
	}
	for _, k := range learnt {
		if !c.follows(k) || !c.add(k) {
			return false
		}
	}
	return c.follows(nil)
}

type checker struct {
	clauses [][]Lit
	value   []int8  // by literal: 1 if it is true
	uses    [][]int // by literal: clauses that watch it
	units   []Lit
}

func (c *checker) add(k []Lit) bool {
	for _, l := range k {
		if l < 0 || int(l) >= len(c.value) {
			return false
		}
	}
	if len(k) <= 1 {
		if len(k) == 0 {
			c.units = append(c.units, 0, 1)
			return true
		}
		c.units = append(c.units, k[0])
		return true
	}
	own := append([]Lit(nil), k...)
	c.clauses = append(c.clauses, own)
	for _, l := range own[:2] {
		c.uses[l] = append(c.uses[l], len(c.clauses)-1)
	}
	return true
}

// follows reports whether the opposite of a clause leads to a contradiction.
func (c *checker) follows(k []Lit) bool {
	var trail []Lit
	defer func() {
		for _, l := range trail {
			c.value[l] = 0
		}
	}()
	set := func(l Lit) bool { // false: a contradiction
		if c.value[l^1] == 1 {
			return false
		}
		if c.value[l] == 0 {
			c.value[l] = 1
			trail = append(trail, l)
		}
		return true
	}
	for _, l := range k {
		if l < 0 || int(l) >= len(c.value) {
			return false
		}
		if !set(l ^ 1) {
			return true
		}
	}
	for _, l := range c.units {
		if !set(l) {
			return true
		}
	}
	for at := 0; at < len(trail); at++ {
		f := trail[at] ^ 1 // is false
		list := c.uses[f]
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
			if !set(q[0]) {
				c.uses[f] = append(kept, list[i+1:]...)
				return true
			}
		}
		c.uses[f] = kept
	}
	return false
}
