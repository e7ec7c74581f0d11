package prove

import "slices"

// matcher makes terms of the machine code what the program computes, as they are made: whatever the machine code makes of them is a term of
// the same parts then. Bottom-up sweeping (Kuehlmann and Krohm, 1997), in the order in which the machine code computes.
type matcher struct {
	w     *sweeper
	found map[term]term
}

func newMatcher(x *terms) *matcher { return &matcher{newSweeper(x), map[term]term{}} }

// note keeps what the program computes, and what machine code makes of that first: its words, and itself in a word, with its sign.
func (m *matcher) note(t term) {
	x := m.w.x
	if _, ok := m.found[t]; ok || x.kind(t) == konst {
		return
	}
	m.found[t] = t
	m.add(t)
	switch w := x.width(t); {
	case w == 64:
		m.add(x.ext(t, 0, 32))
		m.add(x.ext(t, 32, 32))
	case w == 1:
		m.add(x.not(t))
	case w < 32:
		m.add(x.sext(t, 32))
	}
}

func (m *matcher) add(t term) {
	key := m.w.x.vals[t]
	if list := m.w.classes[key]; !slices.Contains(list, t) {
		m.w.classes[key] = append(list, t)
	}
}

// match is what the program computes, if a term is that.
func (m *matcher) match(t term) term {
	if r, ok := m.found[t]; ok {
		return r
	}
	r := m.same(t)
	m.found[t] = r
	return r
}

// same is a term of the program that has the bits of another one, or that one.
func (m *matcher) same(t term) term {
	x := m.w.x
	n := x.at(t)
	list := m.w.classes[x.vals[t]]
	if n.kind == konst || n.kind == leaf || len(list) == 0 {
		return t
	}
	for _, r := range list {
		o := x.at(r)
		switch {
		case r == t:
			return t
		case o.varies && !n.varies, o.iterates && !n.iterates, (o.w == 1) != (n.w == 1), x.may(r)&^ones(int(n.w)) != 0:
		case slices.Equal(fitted(m.w.b.of(r), int(n.w)), m.w.b.of(t)):
			return x.resize(r, int(n.w))
		}
	}
	return t
}
