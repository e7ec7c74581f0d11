package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// parts gives each release the fence in front of its image, and each acquire the
// invalidation behind: of two that stand side by side, ptxas gives that of the one the line of
// the other, or of what computes between.
func (m *matcher) parts() {
	m.adjoin(-1, (*ptx.Effect).Releases, func(g *images) *[]int32 { return &g.flush },
		func(in *isa.Inst) bool { return in.Role == isa.RoleFence && in.Op == "MEMBAR" })
	m.adjoin(1, (*ptx.Effect).Acquires, func(g *images) *[]int32 { return &g.inval },
		func(in *isa.Inst) bool { return in.Role == isa.RoleCache && in.Mem.Invalidate })
	for k := range m.img {
		m.img[k].flush = m.widest(m.img[k].flush)
	}
}

// adjoin gives what stands next to the images of accesses in a direction to them, and to no
// other operation.
func (m *matcher) adjoin(dir int32, orders func(*ptx.Effect) bool, list func(*images) *[]int32, is func(*isa.Inst) bool) {
	holder := map[int32]int{}
	for k := range m.img {
		for _, f := range *list(&m.img[k]) {
			holder[f] = k
		}
	}
	for k, op := range m.src.ops {
		if !op.Effect.Kind.IsAccess() || !orders(&op.Effect) {
			continue
		}
		for _, i := range m.img[k].main {
			f := m.adjoining(i, dir, orders, is)
			h, held := holder[f]
			if f < 0 || held && h == k {
				continue
			}
			if held {
				other := list(&m.img[h])
				*other = slices.DeleteFunc(*other, func(x int32) bool { return x == f })
			}
			holder[f] = k
			own := list(&m.img[k])
			*own = append(*own, f)
		}
	}
}

// adjoining is what is looked for beside an instruction, unless it is an image, -1 if there is none: no
// jump, barrier, fence of the PTX or other access that orders so stands between.
func (m *matcher) adjoining(i, dir int32, orders func(*ptx.Effect) bool, is func(*isa.Inst) bool) int32 {
	for f := i + dir; f >= 0 && int(f) < len(m.owner); f += dir {
		in, o := m.mach.insts[f], m.owner[f]
		switch {
		case !m.mach.reach[f] || in.Role == isa.RoleBranch || in.Role == isa.RoleBarrier || in.Flow != isa.FlowNext:
			return -1
		case o >= 0 && (in.Role == isa.RoleFence || orders(&m.src.ops[o].Effect)):
			return -1
		case is(in) && !in.Guard.Never:
			return f
		}
	}
	return -1
}

// arm looks into what an atomic at a generic address does in shared memory: a minimum or
// maximum of 64 bits loads there what it compares, and leaves if nothing changes. That is no
// read-modify-write, whatever order was asked for.
func (c *checker) arm(k int, op *Op, g *images) {
	if !op.Effect.Acquires() && !op.Effect.Releases() || !slices.ContainsFunc(g.main, func(i int32) bool { return asks(c.mach.insts[i]) }) {
		return
	}
	writes := func(in *isa.Inst) bool { return in.Role == isa.RoleAtomic && in.Mem.Space == isa.SpaceShared }
	leaves := func(i int32) bool {
		in := c.mach.insts[i]
		return c.owner[i] >= 0 || in.Flow == isa.FlowExit || in.Role == isa.RoleFence || in.Role == isa.RoleCache
	}
	for _, i := range c.byLine[op.Inst.N] {
		if in := c.mach.insts[i]; in.Role != isa.RoleLoad || in.Mem.Space != isa.SpaceShared || in.Guard.Never || c.owner[i] >= 0 {
			continue
		}
		if at := c.search(i, c.after, writes, leaves); at >= 0 {
			c.finding(Missing, k, c.code(i, at), "in shared memory a path through the machine code has a weak load of it, and nothing else")
			return
		}
	}
}
