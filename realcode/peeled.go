package realcode

import (
	"slices"

	"optcheck/isa"
)

// peel gives accesses that have no operation to that of a later one which does the same with the same values: the first iteration of a
// loop that waits was taken out of it, and may have the line of what stands in front. Nothing that acquits follows: the copies are
// compared as often as there are some.
func (m *matcher) peel() {
	for i, in := range m.mach.insts {
		if !m.mach.reach[i] || m.owner[i] >= 0 || !in.Role.IsAccess() || len(in.Addrs) == 0 || in.Mem.Space == isa.SpaceLocal || in.Mem.Space == isa.SpaceConst {
			continue
		}
		if k := m.repeated(int32(i)); k >= 0 {
			m.img[k].main, m.owner[i] = append(m.img[k].main, int32(i)), int32(k)
		}
	}
}

// repeated is the operation of the access that does the same as one behind it, with no new operand between them; -1 if there is none. Other
// accesses may stand between questions that are asked until the answer is yes, and between no others.
func (m *matcher) repeated(i int32) int {
	in, found := m.mach.insts[i], -1
	renews := func(x int32) bool {
		return slices.ContainsFunc(m.mach.insts[x].Defs, func(r isa.Reg) bool { return slices.Contains(in.Uses, r) })
	}
	if renews(i) {
		return -1
	}
	reached(m.after(i), func(x int32) []int32 {
		if x < 0 || int(x) >= len(m.mach.insts) {
			return nil
		}
		at, k := m.mach.insts[x], int(m.owner[x])
		switch {
		case k >= 0 && sameAccess(in, at):
			found = k
			return nil
		case renews(x) || !asksPhase(in) && (k >= 0 || at.Role.IsAccess()):
			return nil
		}
		return m.after(x)
	})
	return found
}

// asksPhase reports whether an instruction asks a barrier object whether a phase is complete.
func asksPhase(in *isa.Inst) bool { return in.Op == "SYNCS" && slices.Contains(in.Mods, "PHASECHK") }

// sameAccess reports whether two instructions access the same place in the same way, if their registers hold the same.
func sameAccess(a, b *isa.Inst) bool {
	return a.Op == b.Op && a.Guard == b.Guard && place(a) == place(b) && slices.Equal(a.Mods, b.Mods) && slices.Equal(a.Uses, b.Uses) &&
		slices.Equal(a.Data, b.Data) && slices.Equal(a.Addrs, b.Addrs)
}
