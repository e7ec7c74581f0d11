package realcode

import (
	"slices"
	"strings"

	"optcheck/isa"
)

// underElection has a copy without a condition be that of the lane that was elected in front of it: the uniform datapath
// performs it once for the warp, which is what the lane would have done. Of several elections it is that of the
// operation beside it, or the last one.
func (c *checker) underElection(k, i int32) {
	s, in := &c.mach.steps[i], c.mach.insts[i]
	if in.Role != isa.RoleCopy || !strings.HasPrefix(in.Op, "U") || s.guard >= 0 {
		return
	}
	var conds []int32
	for _, dir := range []int32{1, -1} {
		if n := c.alongside(k, i, dir); n >= 0 {
			conds = append(conds, c.mach.steps[n].guard)
		}
	}
	for _, cond := range append(conds, c.lastElection(i)) {
		if c.electedFor(i, cond) {
			s.guard, c.img[k].shape = cond, oneLane
			return
		}
	}
}

// lastElection is the condition that the election in front of an instruction sets, past no jump; -1 if there is none.
func (c *checker) lastElection(i int32) int32 {
	for f := i - 1; f >= 0 && falls(c.mach.insts[f]); f-- {
		if p, ok := c.elects(f); ok {
			return p
		}
	}
	return -1
}

// falls reports whether control comes from an instruction to the next, at the end of a divergent stretch, too.
func falls(in *isa.Inst) bool {
	return in.Flow == isa.FlowNext || in.Flow == isa.FlowPush || in.Flow == isa.FlowPop
}

// alongside is the image of the next operation of the text, or of the one before, in the stretch of an
// instruction, -1 if there is none before the next image of its own.
func (c *checker) alongside(k, i, dir int32) int32 {
	for n := i + dir; n >= 0 && int(n) < len(c.owner) && c.mach.insts[n].Flow == isa.FlowNext; n += dir {
		switch c.owner[n] {
		case k:
			return -1
		case k + dir:
			return n
		}
	}
	return -1
}

// elects is the condition that an election sets. One under a condition is that of a loop in which each lane has
// its turn.
func (c *checker) elects(i int32) (int32, bool) {
	in := c.mach.insts[i]
	if in.Op != "ELECT" || c.mach.steps[i].guard >= 0 {
		return -1, false
	}
	return c.mach.condOf(in.Args[0].Reg), true
}

// electedFor reports whether an election in front of an instruction, past no jump, sets a condition, or one of
// which it is a copy.
func (c *checker) electedFor(i, cond int32) bool {
	for f := i - 1; f >= 0 && falls(c.mach.insts[f]); f-- {
		if p, ok := c.elects(f); ok && p == cond {
			return true
		}
		s := &c.mach.steps[f]
		if k := slices.IndexFunc(s.sets, func(a assign) bool { return a.dst == cond }); k >= 0 {
			if a := s.sets[k]; a.src < 0 || a.neg || a.fork || a.with != "" || s.guard >= 0 {
				return false
			}
			cond = s.sets[k].src
		} else if slices.Contains(s.defs, cond) {
			return false
		}
	}
	return false
}
