package realcode

import (
	"slices"

	"optcheck/isa"
)

// fences gives each release the fence in front of its image: of two that stand side by side,
// ptxas gives the fence of the one the line of the other, or of what computes between.
func (m *matcher) fences() {
	holder := map[int32]int{}
	for k := range m.img {
		for _, f := range m.img[k].flush {
			holder[f] = k
		}
	}
	for k, op := range m.src.ops {
		if !op.Effect.Releases() || !op.Effect.Kind.IsAccess() {
			continue
		}
		for _, i := range m.img[k].main {
			f := m.inFront(i)
			if f < 0 {
				continue
			}
			if h, ok := holder[f]; !ok || h != k {
				if ok {
					m.img[h].flush = slices.DeleteFunc(m.img[h].flush, func(x int32) bool { return x == f })
				}
				holder[f] = k
				m.img[k].flush = append(m.img[k].flush, f)
			}
		}
		m.img[k].flush = m.widest(m.img[k].flush)
	}
}

// inFront is the fence before an instruction that is no image, -1 if there is none: no jump,
// barrier, fence or other release stands between.
func (m *matcher) inFront(i int32) int32 {
	for f := i - 1; f >= 0; f-- {
		in := m.mach.insts[f]
		o := m.owner[f]
		switch {
		case !m.mach.reach[f] || in.Role == isa.RoleBranch || in.Role == isa.RoleBarrier || in.Flow != isa.FlowNext:
			return -1
		case o >= 0 && (in.Role == isa.RoleFence || m.src.ops[o].Effect.Releases()):
			return -1
		case in.Role == isa.RoleFence && in.Op == "MEMBAR" && !in.Guard.Never:
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
