package prove

import (
	"maps"
	"slices"

	"optcheck/ir"
)

// meeting follows control to where lanes of machine code go on that have waited for each other: where a convergence barrier says that was set
// before, or where a collective ends.
type meeting struct {
	p    *ir.Program
	sets []int32 // that set a convergence barrier
	from []int32 // the collectives
	held []places
	work []int32
	next [][]int32
}

// places are, by register, which of the sets it may be of; of another one nothing is known. They do not change.
type places map[ir.Reg][]int32

// following is where control may go from each instruction of a program without calls. Nothing else leads to it than what is found to do so.
func following(p *ir.Program) [][]int32 {
	m := &meeting{p: p, held: make([]places, len(p.Insts)), next: make([][]int32, len(p.Insts)), work: []int32{0}}
	for i := range p.Insts {
		if f, ok := p.Insts[i].Do.(*ir.Flow); ok && f.Kind == ir.BarrierSet {
			m.sets = append(m.sets, int32(i))
		} else if ok && f.Kind == ir.WarpCollective {
			m.from = append(m.from, int32(i))
		}
	}
	m.held[0] = places{}
	for len(m.work) > 0 {
		i := m.work[len(m.work)-1]
		m.work = m.work[:len(m.work)-1]
		m.next[i] = slices.DeleteFunc(union(m.after(i), nil), func(to int32) bool { return to < 0 || int(to) >= len(p.Insts) })
		behind := m.behind(i)
		for _, to := range m.next[i] {
			m.come(to, behind)
		}
	}
	return m.next
}

// after is where control may go from an instruction to which it has come.
func (m *meeting) after(i int32) (next []int32) {
	f, ok := m.p.Insts[i].Do.(*ir.Flow)
	if !ok {
		return []int32{i + 1}
	}
	switch f.Kind {
	case ir.BarrierSet:
		return []int32{i + 1}
	case ir.BarrierWait:
		sets, known := m.held[i][f.Bar]
		if !known {
			sets = m.sets
		}
		next = []int32{i + 1}
		for _, s := range sets {
			next = append(next, m.p.Insts[s].Do.(*ir.Flow).Target)
		}
	case ir.WarpCollective: // the code of one is performed for those of others
		for _, c := range m.from {
			next = append(next, c+1)
		}
	case ir.CollectiveEnd:
		for _, c := range m.from {
			next = append(next, m.p.Insts[c].Do.(*ir.Flow).Target)
		}
	default:
		return m.p.After(i)
	}
	if m.p.Insts[i].Guard >= 0 || f.Cond >= 0 {
		next = append(next, i+1)
	}
	return next
}

// come adds what registers may hold where control comes to a place.
func (m *meeting) come(to int32, held places) {
	was := m.held[to]
	if was == nil {
		m.held[to] = held
		m.work = append(m.work, to)
		return
	}
	joined, changed := maps.Clone(was), false
	for r, sets := range was {
		more, known := held[r]
		if !known {
			delete(joined, r)
			changed = true
		} else if all := union(sets, more); len(all) > len(sets) {
			joined[r], changed = all, true
		}
	}
	if changed {
		m.held[to] = joined
		m.work = append(m.work, to)
	}
}

func union(a, b []int32) []int32 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// behind is what registers hold behind an instruction: a set that it makes, or that it moves.
func (m *meeting) behind(i int32) places {
	in, held := &m.p.Insts[i], m.held[i]
	out := held
	write := func(r ir.Reg, sets []int32, known bool) {
		old, before := out[r]
		if in.Guard >= 0 {
			sets, known = union(old, sets), known && before
		}
		if !known && !before || r < 0 {
			return
		}
		out = maps.Clone(out)
		if delete(out, r); known {
			out[r] = sets
		}
	}
	ops := func(list []ir.Op) {
		for k := range list {
			o := &list[k]
			var sets []int32
			known := false
			if o.Code == ir.Mov && o.Type.Bits() >= 32 {
				sets, known = out[o.Src[0]]
			}
			write(o.Dst, sets, known)
		}
	}
	ops(in.Pre)
	if in.Do != nil {
		for _, r := range in.Written() {
			write(r, nil, false)
		}
	}
	if f, ok := in.Do.(*ir.Flow); ok && f.Kind == ir.BarrierSet {
		write(f.Bar, []int32{i}, true)
	}
	ops(in.Post)
	return out
}
