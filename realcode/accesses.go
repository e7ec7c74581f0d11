package realcode

import (
	"optcheck/isa"
	"optcheck/ptx"
)

// merged looks at a weak load that has no image although something uses it. It may
// have taken its value from another access of its location, if nothing that
// acquires stands between them.
func (c *checker) merged(k int, op *Op) {
	if op.Effect.Kind != ptx.Load || op.Dead || op.addr.root == "" || c.orphaned {
		return
	}
	if c.shared(k) || c.vector(k) {
		return
	}
	if by := c.older(k); by >= 0 {
		c.res.Findings = append(c.res.Findings, Finding{Rule: Merged, Kernel: c.name, First: c.place(k), Second: c.place(by),
			Detail: "nothing reads its location behind what acquires: its value is older"})
		switch {
		case c.src.ops[by].Effect.Kind == ptx.MbarWait:
			c.because(waited(c.src.ops[by], op))
		case by < k:
			c.because(c.swapped(by, k))
		}
		c.failed[k] = true
	}
}

// older is an operation that acquires, behind which some path comes to a load
// without another access of its location; -1 if there is none.
func (c *checker) older(k int) int {
	found := -1
	c.around(k, c.pg.before(), func(other int, same bool) {
		if !same && !c.own(other, c.src.ops[k]) {
			found = other
		}
	})
	return found
}

// own reports whether every path to an operation that acquires comes from a store of the
// thread itself to a location, behind which nothing releases: it may read what it has written,
// for nobody else can have written since.
func (c *checker) own(k int, at *Op) bool {
	if c.src.ops[k].Effect.Releases() {
		return false
	}
	ok := true
	c.until(k, c.pg.before(), func(l int32) bool {
		if l < 0 {
			ok = false
			return true
		}
		x := c.src.ops[l]
		if x.Effect.Kind == ptx.Store && x.addr.root == at.addr.root && x.addr.offset == at.addr.offset && x.addr.width == at.addr.width {
			return true
		}
		ok = ok && !x.Effect.Releases() && (apart(x, at) || x.Effect.Kind == ptx.Load)
		return !ok
	})
	return ok
}

// shared reports whether a path from a load comes to another access of its location
// before anything that acquires: that one may read for both.
func (c *checker) shared(k int) bool {
	found := false
	c.around(k, c.pg.next, func(_ int, same bool) { found = found || same })
	return found
}

// vector reports whether some load of the same space has more than its own bytes:
// perhaps those of this one.
func (c *checker) vector(k int) bool {
	for j, other := range c.src.ops {
		if other.Effect.Kind != ptx.Load || other.Effect.Space != c.src.ops[k].Effect.Space {
			continue
		}
		for _, i := range c.img[j].main {
			if c.mach.insts[i].Mem.Width > other.addr.width {
				return true
			}
		}
	}
	return false
}

// around walks from a load, and ends at accesses of its location, and at what
// acquires.
func (c *checker) around(k int, next [][]int32, at func(other int, same bool)) {
	op := c.src.ops[k]
	c.until(k, next, func(l int32) bool {
		if l < 0 {
			return true
		}
		x := c.src.ops[l]
		same := x.Effect.Kind.IsAccess() && x.addr.root == op.addr.root && overlap(x.addr, op.addr)
		if same || x.Effect.Acquires() {
			at(int(l), same)
		}
		return same || x.Effect.Acquires()
	})
}

// until walks from an operation to others, until stop says so of one; -1 is where nothing
// follows, or precedes.
func (c *checker) until(k int, next [][]int32, stop func(l int32) bool) {
	var from []int32
	for _, n := range c.inPTX[k] {
		from = append(from, next[n]...)
	}
	reached(from, func(n int32) []int32 {
		if l := c.pg.letter[n]; l >= 0 && stop(l) || len(next[n]) == 0 && stop(-1) {
			return nil
		}
		return next[n]
	})
}

// overwritten reports whether every path from a store comes to one that is as strong, of the
// same bytes, before anything else that synchronises or goes there: as if both came at once. A volatile one is always
// performed (PTX ISA, ld.volatile).
func (c *checker) overwritten(k int) bool {
	op, ok := c.src.ops[k], true
	if op.addr.root == "" {
		return false
	}
	c.until(k, c.pg.next, func(l int32) bool {
		if l < 0 {
			ok = false
			return true
		}
		x := c.src.ops[l]
		e := &x.Effect
		switch {
		case e.Kind == ptx.Store && x.addr.root == op.addr.root && x.addr.offset == op.addr.offset && x.addr.width == op.addr.width &&
			!e.Weak() && scopes[e.Scope] >= scopes[op.Effect.Scope] && x.Inst.Guard < 0:
			return len(c.img[l].main) > 0 // one that is overwritten itself is passed
		case !relaxed(x) || !apart(x, op):
			ok = false
		}
		return !ok
	})
	return ok
}

// before gives the nodes in front of each.
func (g *graph) before() [][]int32 {
	if g.back == nil {
		g.back = make([][]int32, len(g.next))
		for n, next := range g.next {
			for _, x := range next {
				g.back[x] = append(g.back[x], int32(n))
			}
		}
	}
	return g.back
}

// extra looks for instructions that write memory and are no image of anything.
func (c *checker) extra() {
	multi := map[int]bool{} // lines of operations that become several accesses
	for _, op := range c.src.ops {
		switch op.Effect.Kind {
		case ptx.Load, ptx.Store:
		default:
			multi[op.Inst.N] = true
		}
	}
	for i, in := range c.mach.insts {
		if !c.mach.reach[i] || c.owner[i] >= 0 || in.Guard.Never || in.Mem.Space == isa.SpaceLocal || multi[in.Src.Line] {
			continue
		}
		if in.Mem.Space == isa.SpaceTexture && len(c.others) > 0 { // neither is compared: a run says that it does not understand them
			continue
		}
		if in.Role == isa.RoleStore || in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction || copiesBulk(in) {
			c.res.Findings = append(c.res.Findings, Finding{Rule: Extra, Kernel: c.name, Code: c.code(int32(i)),
				computed: in.Role == isa.RoleStore && in.Mem.Strength == isa.Weak, Detail: "it writes memory, and has no counterpart in the PTX"})
		}
	}
}
