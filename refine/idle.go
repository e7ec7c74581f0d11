package refine

import (
	"slices"

	"optcheck/ir"
)

// mostIdle bounds the instructions of both ways of a condition.
const mostIdle = 64

// idle are the outcomes of a jump's condition on which nothing depends: on both ways, until they meet, a thread only waits for a time, computes
// what is not used elsewhere, and performs fences. A fence more changes nothing, one less may.
func idle(p *ir.Program, at int32) (outcomes uint8) {
	f, ok := p.Insts[at].Do.(*ir.Flow)
	if !ok || f.Kind != ir.Jump || f.Target <= at {
		return 0
	}
	meet, ok := meeting(p, []int32{at + 1, f.Target})
	if !ok {
		return 0
	}
	between := map[int32]bool{}
	for way, outcome := range map[int32]uint8{at + 1: seenSkipped, f.Target: seenPerformed} {
		fences := false
		for todo := []int32{way}; len(todo) > 0; {
			pc := todo[len(todo)-1]
			if todo = todo[:len(todo)-1]; pc == meet {
				continue
			}
			between[pc] = true
			_, fence := p.Insts[pc].Do.(*ir.Fence)
			fences = fences || fence
			todo = append(todo, p.After(pc)...)
		}
		if !fences {
			outcomes |= outcome
		}
	}
	if !unusedOutside(p, between) {
		return 0
	}
	return outcomes
}

// meeting is where ways meet that go forward, and have no effect but fences.
func meeting(p *ir.Program, ahead []int32) (at int32, ok bool) {
	for range mostIdle {
		slices.Sort(ahead)
		if ahead = slices.Compact(ahead); len(ahead) == 1 {
			return ahead[0], true
		}
		pc := ahead[0] // the one that is behind goes on
		in := &p.Insts[pc]
		ok = false
		switch do := in.Do.(type) {
		case nil:
		case *ir.Fence:
			ok = do.Proxy == "" && !do.Part
		case *ir.Flow:
			ok = do.Kind == ir.Jump && do.Target > pc
		}
		if in.Opaque != "" || in.Do != nil && !ok {
			return 0, false
		}
		ahead = append(ahead[1:], p.After(pc)...)
		if slices.ContainsFunc(ahead, func(to int32) bool { return int(to) >= len(p.Insts) }) {
			return 0, false
		}
	}
	return 0, false
}

// unusedOutside reports whether what some instructions write is read by them alone.
func unusedOutside(p *ir.Program, some map[int32]bool) bool {
	written := map[ir.Reg]bool{}
	for i := range some {
		eachWritten(&p.Insts[i], func(r ir.Reg, _ bounds) { written[r] = true })
		operations(p, i, func(_ site, o *ir.Op) { written[o.Dst] = true })
	}
	delete(written, ir.None)
	return !readOutside(p, func(r ir.Reg) bool { return written[r] }, func(i int32) bool { return some[i] })
}

// readOutside reports whether an instruction that is none of some reads a register that is used.
func readOutside(p *ir.Program, used func(ir.Reg) bool, some func(int32) bool) bool {
	for i := range p.Insts {
		in := &p.Insts[i]
		found := used(in.Guard) || slices.ContainsFunc(reads(in), used)
		operations(p, int32(i), func(_ site, o *ir.Op) { found = found || slices.ContainsFunc(o.Src[:], used) })
		if found && !some(int32(i)) {
			return true
		}
	}
	return false
}

// vain reports whether a comparison of an instruction decides nothing but jumps that are idle, or on which nothing depends. Of these runs have to show
// both outcomes: the machine code may have something there on which something does.
func (c *comparison) vain(at int32, o *ir.Op) bool {
	shows := func(what uint8) bool { return c.made[showing{at, what}].in != nil }
	both := shows(seenFalse) && shows(seenTrue) && shows(seenEqual)
	return !readOutside(c.program, func(r ir.Reg) bool { return r == o.Dst && r >= 0 }, func(i int32) bool {
		return c.idle[i] == seenSkipped|seenPerformed || both && c.vainJump(i)
	})
}
