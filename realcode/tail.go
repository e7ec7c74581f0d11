package realcode

import "slices"

// ownEnd reports whether the machine code shows that the path of an operation without an image does
// not come to the image of another one that might stand for it: something that stands beside the one in the
// PTX, and not beside the other, goes on to what follows, past that image.
func (m *matcher) ownEnd(pg *graph, inPTX []int32, k, j int) bool {
	next := map[int32]bool{} // operations that follow in the PTX
	for _, n := range inPTX {
		pg.letters(n, next)
	}
	follows := func(i int32) bool { return next[m.owner[i]] }
	image := func(i int32) bool { return slices.Contains(m.img[j].main, i) }
	var behind []int32 // places between the image and what is next
	for _, i := range m.img[j].main {
		passed, _ := m.local(i)
		behind = append(behind, passed...)
	}
	not := m.src.around(j)
	for line := range m.src.around(k) {
		for _, i := range m.byLine[line] {
			if _, met := m.local(i); !not[line] && m.owner[i] < 0 && slices.ContainsFunc(met, follows) &&
				!slices.ContainsFunc(met, image) && !slices.Contains(behind, i) {
				return true
			}
		}
	}
	return false
}

// letters adds the letters that come next behind a node.
func (g *graph) letters(from int32, to map[int32]bool) {
	reached(g.next[from], func(n int32) []int32 {
		if g.letter[n] < 0 {
			return g.next[n]
		}
		to[g.letter[n]] = true
		return nil
	})
}

// local walks from an instruction of the machine code to the images that come next: what it passes, and
// what it meets.
func (m *matcher) local(from int32) (passed, met []int32) {
	reached(m.after(from), func(i int32) []int32 {
		switch {
		case i < 0 || int(i) >= len(m.owner):
			return nil
		case m.owner[i] >= 0:
			met = append(met, i)
			return nil
		}
		passed = append(passed, i)
		return m.after(i)
	})
	return passed, met
}

// around lists the lines from which control comes to an operation, or to which it goes behind it,
// past no other one.
func (s *source) around(k int) map[int]bool {
	lines, at := map[int]bool{}, int32(0)
	before := make([][]int32, len(s.steps)+1)
	after := func(i int32) []int32 {
		st := &s.steps[i]
		if len(st.call) > 0 || st.ret {
			return nil
		}
		next := slices.Clip(st.next)
		if st.guard >= 0 {
			next = append(next, i+1)
		}
		return next
	}
	for i := range s.steps {
		if s.steps[i].letter == int32(k) {
			at = int32(i)
		}
		for _, t := range after(int32(i)) {
			if t >= 0 {
				before[t] = append(before[t], int32(i))
			}
		}
	}
	f := s.ops[k].Func
	for _, way := range []func(int32) []int32{after, func(i int32) []int32 { return before[i] }} {
		reached(way(at), func(i int32) []int32 {
			if i < 0 || int(i) >= len(s.steps) || s.steps[i].letter >= 0 {
				return nil
			}
			if n := int(i - s.entries[f]); n >= 0 && n < len(f.Body) && f.Body[n].Inst != nil {
				lines[f.Body[n].Inst.N] = true
			}
			return way(i)
		})
	}
	return lines
}
