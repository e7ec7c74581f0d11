package realcode

import (
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// warpOps are the machine instructions of operations that a warp performs together.
var warpOps = map[string]string{"vote": "VOTE", "shfl": "SHFL", "match": "MATCH", "redux": "REDUX", "elect": "ELECT"}

// warpWide reports whether an operation is one that the lanes of a mask perform
// together: .sync.
func warpWide(in *ptx.Inst) bool { return warpOps[in.Name] != "" && in.Has("sync") }

// performs reports whether an instruction is an image of such an operation.
func performs(name string, in *isa.Inst) bool {
	op := strings.TrimPrefix(in.Op, "C")
	return op == warpOps[name] || op == warpOps[name]+"U" || op == "U"+warpOps[name] || calls(in, name+"sync")
}

// unasked leaves out votes of nothing but the constant true, which tell the lanes that have come: they decide between the operation and a
// call of ptxas's own function for lanes that have not.
//
// It hides nothing that must be seen. A vote of the machine code waits for no lane (WARPSYNC does) and touches no memory, so that one more
// changes registers alone, which execution compares (PTX ISA, vote.sync: only .sync waits). Without it a path has the operation less often,
// never more often, so that no path that lacks it passes for one that has it.
func (m *matcher) unasked(g *images) {
	lanes := func(i int32) bool {
		in := m.mach.insts[i]
		n := len(in.Args)
		return strings.HasSuffix(strings.TrimSuffix(in.Op, "U"), "VOTE") && n > 0 && in.Args[n-1].Kind == isa.OpdPred && in.Args[n-1].Zero
	}
	if !slices.ContainsFunc(g.main, func(i int32) bool { return !lanes(i) }) {
		return
	}
	g.main = slices.DeleteFunc(g.main, lanes)
}

// halves counts a shuffle with two results once where two instructions make it, as those of ptxas 11 at O0 do: one gives the value, the
// next one, of the same operands, the predicate.
//
// They are one operation because they are performed together: nothing comes to the second but the first, under the same condition, and
// what the first gives the second does not read. A shuffle waits for no lane (WARPSYNC does) and touches no memory (PTX ISA, shfl.sync: d
// and p are of one source lane), so that the lanes, the source and what it holds are those of the first.
func (m *matcher) halves(g *images) {
	g.main = slices.DeleteFunc(slices.Clone(g.main), func(i int32) bool {
		if !slices.Contains(g.main, i-1) || m.jumped(i) {
			return false
		}
		value, pred := m.mach.insts[i-1], m.mach.insts[i]
		return value.Op == "SHFL" && pred.Op == "SHFL" && value.Guard == pred.Guard && slices.Equal(value.Mods, pred.Mods) &&
			value.Args[0].Zero && pred.Args[1].Zero && !value.Args[1].Zero && !pred.Args[0].Zero &&
			slices.Equal(value.Args[2:], pred.Args[2:]) && !slices.Contains(pred.Uses, value.Args[1].Reg)
	})
}

// jumped reports whether something but the instruction in front comes to an instruction.
func (m *matcher) jumped(i int32) bool {
	for at := range m.mach.steps {
		if int32(at) != i-1 && slices.Contains(m.mach.steps[at].next, i) {
			return true
		}
	}
	return false
}

// convergence compares on which paths lanes come together: .sync operations are
// performed on those of the PTX, and bar.warp.sync on no other. A warp that has not
// diverged needs no bar.warp.sync, and ptxas leaves it out where it can tell.
func (c *checker) convergence(k int, op *Op, g *images) {
	c.failed[k] = true // no pairs
	c.count.Warp++
	if len(g.main) == 0 {
		c.note(Convergence, k, "no instruction was found for it")
		return
	}
	c.count.WarpFound++
	p := policy{optional: op.Effect.Kind == ptx.WarpSync || op.Dead, stutter: [2]bool{false, g.stutter}}
	v, err := c.compare(-1, k, nil, g.main, p)
	if err != nil && v == nil {
		c.unknown(Convergence, k, "%v", err)
	} else if v != nil {
		c.finding(Convergence, k, c.code(g.main...),
			"a path through the machine code has it %s, which none through the PTX has: lanes that it waits for may not come",
			times(len(v.word)))
	}
}
