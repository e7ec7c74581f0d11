package verify

import (
	"optcheck/emu"
	"optcheck/ir"
)

// skipped looks for a thread that has ended without coming to a barrier for the whole block, and was behind it before: it went past. One that
// has returned without doing anything that follows the barrier, is not waited for.
func (m *monitor) skipped(b *emu.Block, x *bar) {
	for i := range m.shape.warps {
		n, came := b.Number*m.shape.warps+i, uint32(0)
		if a := x.came[i]; a != nil {
			came = a.mask
		}
		ended := ^(m.grid.Warps[n].Live() | came)
		for l := range emu.Lanes {
			th := &m.threads[n][l]
			if ended>>l&1 == 0 || th.last < 0 || !m.reaches(x.first, th.last) || m.reaches(th.last, x.first) {
				continue
			}
			m.pair(BarrierDivergence, x.first, x.by, th.last, id{int32(b.Number), int32(i), uint8(l)}, "a thread of the block goes past this barrier without coming to it")
			return
		}
	}
}

// reaches reports whether an instruction can follow another one, in the function of the latter.
func (m *monitor) reaches(from, to int32) bool {
	seen, ok := m.follow[from]
	if !ok {
		seen = follow(m.found.program, from)
		m.follow[from] = seen
	}
	return seen[to]
}

// follow are the instructions that can come behind one, calls taken for what they call and what follows.
func follow(p *ir.Program, from int32) []bool {
	seen := make([]bool, len(p.Insts))
	var todo []int32
	behind := func(at int32) {
		f, ok := p.Insts[at].Do.(*ir.Flow)
		next := at + 1
		if ok {
			switch f.Kind {
			case ir.Jump, ir.JumpAny, ir.JumpTogether, ir.JumpApart, ir.Call:
				todo = append(todo, f.Target)
			case ir.Indirect:
				todo = append(todo, f.Targets...)
			}
			always := f.Cond < 0 && p.Insts[at].Guard < 0
			if always && (f.Kind == ir.Jump || f.Kind == ir.Indirect || f.Kind == ir.Exit || f.Kind == ir.Return || f.Kind == ir.Trap) {
				return
			}
		}
		if int(next) < len(p.Insts) {
			todo = append(todo, next)
		}
	}
	for behind(from); len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[at] {
			seen[at] = true
			behind(at)
		}
	}
	return seen
}
