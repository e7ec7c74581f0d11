package prove

import "optcheck/ir"

// apart are lanes of a warp from where they were together last to where they are again: one may perform what another one has still to come
// to. Uniform registers are one for all of them.
type apart struct {
	within int // that they are a part of, itself if of none
	// wrote are the values that they wrote to uniform registers, read those that they read when others may have written one since.
	wrote, read map[ir.Reg]map[term]bool
}

// divide has the lanes of states be apart, which are those of one state.
func (s *side) divide(states ...*state) {
	n := len(s.apart)
	for _, st := range states {
		if st.together {
			if n == len(s.apart) {
				s.apart = append(s.apart, &apart{n, map[ir.Reg]map[term]bool{}, map[ir.Reg]map[term]bool{}})
			}
			st.together, st.apart = false, n
		}
	}
}

// whole is the number of those of which some are a part.
func (s *side) whole(n int) int {
	for s.apart[n].within != n {
		n = s.apart[n].within
	}
	return n
}

// bothApart are the lanes of two states that become one: they may be apart since different places if all of the warp have come there either
// way.
func (s *side) bothApart(a, b *state) int {
	switch {
	case a.together:
		return b.apart
	case b.together:
		return a.apart
	}
	m, n := s.whole(a.apart), s.whole(b.apart)
	s.apart[n].within = m
	return m
}

// writes notes that a state writes a uniform register.
func (s *side) writes(st *state, r ir.Reg, t term) {
	if !st.together {
		note(s.apart[st.apart].wrote, r, t)
	}
}

// reads notes that a state reads one that others may have written.
func (s *side) reads(st *state, r ir.Reg, t term) { note(s.apart[st.apart].read, r, t) }

func note(in map[ir.Reg]map[term]bool, r ir.Reg, t term) {
	if in[r] == nil {
		in[r] = map[term]bool{}
	}
	in[r][t] = true
}

// shared reports an error if lanes that are apart may read of a uniform register what others of them have written.
func (s *side) shared() {
	wrote := map[int]map[ir.Reg]map[term]bool{}
	for n, a := range s.apart {
		n = s.whole(n)
		if wrote[n] == nil {
			wrote[n] = map[ir.Reg]map[term]bool{}
		}
		for r, values := range a.wrote {
			for t := range values {
				note(wrote[n], r, t)
			}
		}
	}
	for n, a := range s.apart {
		for r, values := range a.read {
			for t := range values {
				if w := wrote[s.whole(n)][r]; len(w) > 1 || len(w) == 1 && (!w[t] || s.x.at(t).iterates) {
					fail("a uniform register that other lanes may have written")
				}
			}
		}
	}
}
