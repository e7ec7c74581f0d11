package realcode

import (
	"slices"

	"optcheck/isa"
)

// once has the loop of an atomic that tries again until it succeeds perform it once: no way leads back
// in it, so that the words tell whether it is performed again.
func (m *matcher) once() {
	var all *loops
	for k, op := range m.src.ops {
		g := &m.img[k]
		if !g.stutter || !slices.ContainsFunc(g.main, func(i int32) bool { return op.retries(m.mach.insts[i]) }) {
			continue
		}
		if all == nil {
			all = m.mach.loops()
		}
		g.stutter = slices.ContainsFunc(g.main, func(i int32) bool { return !op.retries(m.mach.insts[i]) || !m.alone(i, all) })
		for _, i := range g.main {
			if !g.stutter {
				m.leave(&all.list[all.of[i]])
			}
		}
	}
}

// alone reports whether an atomic is in a loop that does nothing else, and goes back in one place.
func (m *matcher) alone(i int32, all *loops) bool {
	if all.of[i] < 0 {
		return false
	}
	l := &all.list[all.of[i]]
	return len(l.latches) == 1 && !slices.ContainsFunc(l.body, func(x int32) bool {
		in := m.mach.insts[x]
		return x != i && (m.owner[x] >= 0 || in.Role == isa.RoleBarrier || in.Role == isa.RoleFence || in.Role.IsAccess() && in.Src.Line != m.mach.insts[i].Src.Line)
	})
}

// leave has what goes back to the beginning of a loop leave it.
func (m *matcher) leave(l *loop) {
	var out []int32
	for _, x := range l.body {
		for _, t := range following(m.mach.steps, x) {
			if !l.has(t) && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	for _, x := range l.latches {
		s := &m.mach.steps[x]
		s.next = append(slices.DeleteFunc(slices.Clone(s.next), func(t int32) bool { return t == l.head }), out...)
	}
}
