package realcode

import (
	"fmt"
	"slices"

	"optcheck/ptx"
)

// Slices of one location: writes that are counted, coherence, and what is handed over at a
// barrier.

// counted makes the slice of a write k that is performed so many times, instead of once:
// a lone thread counts.
func (c *checker) counted(k *Op, times int) *slice {
	if e := &k.Effect; !e.Kind.IsAccess() || times > 1 && (e.Kind == ptx.Store || e.Atom == "exch" || e.Atom == "cas") {
		return nil
	}
	s := &slicer{scope: k.Effect.Scope, locs: [2]location{{writes: true, shared: k.Effect.Space == "shared"}, {}}}
	all := []member{{op: k}, {op: k}}
	return s.tests("counting", 0, alike(load("relaxed", s.scope, "s32", 1, "r1")), all[:1], all[:times],
		func([2]string) string { return fmt.Sprintf("x=%d", times) })
}

// coherent makes the slice of two strong accesses of one location in the wrong order.
func coherent(first, second *Op) *slice {
	if first.Effect.Kind == ptx.Atomic || second.Effect.Kind == ptx.Atomic {
		return nil
	}
	s := &slicer{scope: first.Effect.Scope, locs: [2]location{{shared: first.Effect.Space == "shared"}, {}}}
	a, b := member{op: first}, member{op: second}
	cond := ""
	switch {
	case reads(first) && reads(second):
		return nil
	case writes(first) && writes(second):
		b.value, cond = 2, "x=1"
	case reads(first):
		cond = "0:r1=1"
	default:
		cond = "0:r1=0"
	}
	return s.tests("coherence", 0, alike(load("relaxed", s.scope, "s32", 1, "r1")), []member{a, b}, []member{b, a},
		func([2]string) string { return cond })
}

// handed makes the slice of a barrier k and an access on one of its sides: another thread
// of the CTA, which performs the same code, comes to the location on the other side, where
// the kernel has an access that may be to it. gone tells that the barrier is gone, for
// both; else the access is on the wrong side.
func (c *checker) handed(x *Op, k int, before, gone bool) *slice {
	if !c.meets(x, k, before) {
		return nil
	}
	l := location{writes: x.Effect.Kind != ptx.Load, shared: x.Effect.Space == "shared"}
	s := &slicer{scope: "cta", locs: [2]location{l, {}}}
	access, sync := member{op: x}, member{op: c.src.ops[k]}
	source, machine := []member{access, sync}, []member{sync, access}
	barrier := "bar.sync 0"
	if sync.op.Effect.Kind == ptx.Arrive {
		barrier += ",64"
	}
	other := store("weak", "", "s32", 0, 1)
	if l.writes {
		other = load("weak", "", "s32", 0, "r1")
	}
	partner := []string{barrier, other}
	if !before {
		slices.Reverse(source)
		slices.Reverse(machine)
		slices.Reverse(partner)
	}
	partners := alike(partner...)
	if gone {
		machine, partners[1] = []member{access}, []string{other}
	}
	// Before the barrier a reader must not see what is written behind it; behind it, must.
	return s.tests("barrier", 0, partners, source, machine, func(regs [2]string) string {
		reader := "0:" + regs[0]
		if l.writes {
			reader = "1:r1"
		}
		return reader + map[bool]string{true: "=0", false: "=1"}[l.writes == before]
	})
}

// meets reports whether some access on the other side of a barrier than x may go to the
// location of x, one of both a write.
func (c *checker) meets(x *Op, k int, before bool) bool {
	loop := slices.ContainsFunc(c.inPTX[k], c.pg.circular())
	for j, y := range c.src.ops {
		e := &y.Effect
		if e.Kind.IsAccess() && y.Func == x.Func && (loop || (j > k) == before) && (e.Kind != ptx.Load || x.Effect.Kind != ptx.Load) &&
			(e.Space == "shared") == (x.Effect.Space == "shared") {
			return true
		}
	}
	return false
}

// reread makes the slice of a strong load of another size that orders nothing itself: performed again, it must
// not see what is older.
func reread(op, lost *Op) *slice {
	s := &slicer{scope: op.Effect.Scope, locs: [2]location{{width: op.Effect.Width, shared: op.Effect.Space == "shared"}, {}}}
	twice := func(x *Op) []member { return []member{{op: x}, {op: x}} }
	return s.tests("coherence", 1, alike(store("relaxed", s.scope, s.locs[0].integer("s", 0), 0, 1)), twice(op), twice(lost),
		func([2]string) string { return `1:r1=1 /\ 1:r2=0` })
}
