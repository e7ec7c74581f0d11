package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// Which operations of a kernel the slice of a finding is made of: the pair, what stands
// between, and for what orders alone, what is around it.

// neighbour is an operation beside another one, with the barriers between: they order, and
// are in both tests.
type neighbour struct {
	op       *Op
	barriers []member
}

// near is the next operation before or behind another one, in the order of the text,
// that is wanted, by the first of several wishes that there is one for, and goes to another
// location: to global memory, if there is one and the order is not that of a CTA. There is
// none if something else that orders stands between than barriers.
func (c *checker) near(k, dir int, wanted ...func(*Op) bool) neighbour {
	for _, w := range wanted {
		if n := c.nearest(k, dir, w); n.op != nil {
			return n
		}
	}
	return neighbour{}
}

func (c *checker) nearest(k, dir int, wanted func(*Op) bool) (n neighbour) {
	op := c.src.ops[k]
	for _, any := range []bool{op.Effect.Scope == "cta", true} {
		n.barriers = nil
		for j := k + dir; j >= 0 && j < len(c.src.ops); j += dir {
			x := c.src.ops[j]
			e := &x.Effect
			if e.Kind == ptx.Barrier && x.Func == op.Func {
				n.barriers = []member{{op: x}} // one does what several do
				continue
			}
			if x.Func != op.Func || e.Kind != ptx.Convergent && !e.Kind.IsAccess() || e.Kind.IsAccess() && (e.Acquires() || e.Releases()) {
				break
			}
			if len(c.img[j].main) > 0 && e.Kind.IsAccess() && (any || e.Space != "shared") && apart(x, op) && wanted(x) {
				n.op = x
				return n
			}
		}
	}
	return neighbour{}
}

// apart reports whether two operations are not known to go to one location.
func apart(a, b *Op) bool {
	return a.addr.root == "" || a.addr.root != b.addr.root || !overlap(a.addr, b.addr)
}

func reads(op *Op) bool  { return op.Effect.Kind == ptx.Load }
func writes(op *Op) bool { return op.Effect.Kind == ptx.Store }

// relaxed reports whether an operation is an access that orders nothing.
func relaxed(op *Op) bool {
	return op.Effect.Kind.IsAccess() && !op.Effect.Acquires() && !op.Effect.Releases()
}

// loads and stores are those that order nothing.
func loads(op *Op) bool  { return reads(op) && relaxed(op) }
func stores(op *Op) bool { return writes(op) && relaxed(op) }

// slicer makes the locations of two accesses, in the order of the PTX. An atomic reads
// if it is the first, and writes if it is the second.
func (c *checker) slicer(first, second *Op, scope string) *slicer {
	s := &slicer{scope: scope}
	e, f := &first.Effect, &second.Effect
	s.locs[0] = location{writes: e.Kind == ptx.Store || e.Kind != ptx.Load && first.Dead && !e.Acquires(), lock: takes(first), shared: e.Space == "shared"}
	s.locs[1] = location{writes: f.Kind != ptx.Load, lock: c.frees(second), shared: f.Space == "shared"}
	return s
}

// takes reports whether an operation is one that takes a lock.
func takes(op *Op) bool {
	return op.Effect.Kind == ptx.Atomic && !op.Dead && (op.Effect.Atom == "cas" || op.Effect.Atom == "exch")
}

// frees reports whether an operation may give up a lock: something takes it at this
// address.
func (c *checker) frees(op *Op) bool {
	if e := &op.Effect; e.Kind != ptx.Store && e.Atom != "exch" && e.Atom != "cas" || op.addr.root == "" {
		return false
	}
	return slices.ContainsFunc(c.src.ops, func(x *Op) bool { return x != op && takes(x) && x.Func == op.Func && x.addr == op.addr })
}

// sandwich makes the slice of two accesses, first and second in the PTX, that k orders. It
// is one of them, or a fence between; lost takes its place in the machine code, if it is
// not nil.
func (c *checker) sandwich(first neighbour, k *Op, second neighbour, lost *Op) *slice {
	if first.op == nil || second.op == nil || !apart(first.op, second.op) {
		return nil
	}
	s := c.slicer(first.op, second.op, k.Effect.Scope)
	if lost != nil && lost.sized > 0 {
		s.locs[map[bool]int{true: 0, false: 1}[k == first.op]].width = k.Effect.Width
	}
	thread := func(x *Op) (out []member) {
		own := func(n neighbour, at int) {
			if n.op == k {
				if x != nil {
					out = append(out, member{op: x, at: at})
				}
				return
			}
			out = append(out, member{op: n.op, at: at})
		}
		own(first, 0)
		out = append(out, first.barriers...)
		if x != nil && k.Effect.Kind == ptx.Fence {
			out = append(out, member{op: x})
		}
		out = append(out, second.barriers...)
		own(second, 1)
		return out
	}
	fence, flag := "", 0
	if k.Effect.Kind == ptx.Fence {
		fence = k.Inst.Op
	} else if k == second.op {
		flag = 1
	}
	return s.pair(thread(k), thread(lost), fence, flag)
}

// acquired makes the slice of an acquire k and what follows, released that of a release
// and what precedes.
func (c *checker) acquired(k *Op, b neighbour, lost *Op) *slice {
	return c.sandwich(neighbour{op: k}, k, b, lost)
}

func (c *checker) released(b neighbour, k, lost *Op) *slice {
	return c.sandwich(b, k, neighbour{op: k}, lost)
}

// turned makes the slice of two accesses that are in the other order in the machine code.
// flag is the number of the one that synchronises.
func (c *checker) turned(first, second *Op, flag int) *slice {
	s := c.slicer(first, second, [2]*Op{first, second}[flag].Effect.Scope)
	a, b := member{op: first}, member{op: second, at: 1}
	return s.pair([]member{a, b}, []member{b, a}, "", flag)
}

// dropped makes the slice of an operation that is gone.
func (c *checker) dropped(k int) *slice {
	op := c.src.ops[k]
	switch e := &op.Effect; {
	case e.Kind == ptx.Arrive:
		return refused("who waits there waits for ever, of which the model says nothing")
	case e.Kind == ptx.Barrier:
		for _, dir := range []int{-1, 1} {
			if n := c.near(k, dir, relaxed); n.op != nil {
				return c.handed(n.op, k, dir < 0, true)
			}
		}
	case e.Kind == ptx.Fence:
		return c.fenced(k, nil)
	case e.Kind == ptx.Load && e.Acquires():
		return c.unseen(k)
	case !e.Kind.IsAccess():
		return refused("the model has no axioms for %s", e.Kind)
	case e.Kind != ptx.Load:
		return c.counted(op, 0)
	}
	return nil
}

// unseen makes the slice of an acquire that is gone with its load: what was read of
// its location before tells that it would have seen the release, and a path leads
// from there to a load without an invalidation.
func (c *checker) unseen(k int) *slice {
	op := c.src.ops[k]
	for j := k - 1; j >= 0; j-- {
		x := c.src.ops[j]
		if x.Func != op.Func || x.addr != op.addr || !x.strong() || x.Effect.Kind != ptx.Load || len(c.img[j].main) == 0 {
			continue
		}
		for _, i := range c.img[j].main {
			old := func(i int32) bool {
				o := c.owner[i]
				return o > int32(k) && reads(c.src.ops[o]) && c.stale(i) && c.src.ops[o].addr.root != op.addr.root
			}
			at := c.search(i, c.after, func(in *isa.Inst) bool { return in.Mem.Invalidate }, old)
			if at < 0 {
				continue
			}
			b := member{op: c.src.ops[c.owner[at]], at: 1}
			thread := []member{{op: x}, {op: op}}
			for _, y := range c.src.ops[k+1 : c.owner[at]] {
				if y.Effect.Kind == ptx.Barrier && len(thread) == 2 {
					thread = append(thread, member{op: y})
				}
			}
			thread = append(thread, b)
			return c.slicer(x, b.op, op.Effect.Scope).pair(thread, slices.Delete(slices.Clone(thread), 1, 2), "", 0)
		}
	}
	return nil
}

// fenced makes the slice of a fence, with the accesses around it.
func (c *checker) fenced(k int, lost *Op) *slice {
	return c.sandwich(c.near(k, -1, relaxed), c.src.ops[k], c.near(k, 1, relaxed), lost)
}

// lessened makes the slice of an operation whose image is less than it.
func (c *checker) lessened(k int, in *isa.Inst) *slice {
	op := c.src.ops[k]
	e := &op.Effect
	lost := op.as(in)
	switch {
	case e.Kind.IsAccess() && in.Mem.Width != e.Width && !lost.resized(in.Mem.Width):
		return refused("litmus tests have no accesses of %d and %d bytes instead of %d", e.Width, in.Mem.Width, op.elementWidth())
	case e.Kind == ptx.Fence:
		return c.fenced(k, lost)
	case e.Acquires():
		n := c.near(k, 1, loads, stores)
		if n.op == nil && lost.sized > 0 {
			n.op = c.follows(k)
		}
		if n.op != nil || !e.Releases() {
			return c.acquired(op, n, lost)
		}
		fallthrough // an atomic that does both, with nothing behind it
	case e.Releases():
		return c.released(c.near(k, -1, stores, loads), op, lost)
	case e.Kind == ptx.Load && lost.sized > 0:
		return reread(op, lost)
	}
	return nil
}

// follows is an access that a path of the machine code leads to from the counterpart of k, with nothing between that
// orders: k may be in a loop that ends there, and others of its kind stand between in the text.
func (c *checker) follows(k int) *Op {
	op := c.src.ops[k]
	for _, i := range c.img[k].main {
		at := c.search(i, c.after, func(in *isa.Inst) bool { return in.Mem.Strength > isa.Constant || in.Role == isa.RoleBarrier },
			func(j int32) bool {
				o := c.owner[j]
				return o >= 0 && relaxed(c.src.ops[o]) && c.src.ops[o].Func == op.Func && apart(c.src.ops[o], op)
			})
		if at >= 0 {
			return c.src.ops[c.owner[at]]
		}
	}
	return nil
}

// bare makes the slice of an access without its invalidation, or its fence, at an
// instruction that it should have ordered.
func (c *checker) bare(k int, at int32, acquires bool) *slice {
	op, o := c.src.ops[k], c.owner[at]
	var n neighbour
	switch {
	case !op.Effect.Kind.IsAccess() && op.Effect.Kind != ptx.Fence:
		return refused("the model has no axioms for %s", op.Effect.Kind)
	case o >= 0 && c.src.ops[o].Effect.Kind.IsAccess():
		n.op = c.src.ops[o]
	case acquires: // a barrier, behind which others read
		n = c.near(k, 1, loads)
	default:
		n = c.near(k, -1, stores)
	}
	sem := func(other bool, with string) string { return map[bool]string{true: with, false: "relaxed"}[other] }
	if acquires {
		return c.acquired(op, n, op.less(sem(op.Effect.Releases(), "release"), op.Effect.Scope))
	}
	return c.released(n, op, op.less(sem(op.Effect.Acquires(), "acquire"), op.Effect.Scope))
}

// swapped makes the slice of two operations in the wrong order.
func (c *checker) swapped(x, y int) *slice {
	a, b := c.src.ops[x], c.src.ops[y]
	e := &a.Effect
	switch {
	case !b.Effect.Kind.IsAccess():
		return nil
	case e.Kind == ptx.Barrier || e.Kind == ptx.Arrive:
		return c.handed(b, x, y < x, false)
	case e.Kind == ptx.Fence && x < y && relaxed(b):
		return c.sandwich(c.near(x, -1, relaxed), a, neighbour{op: b}, nil)
	case e.Kind == ptx.Fence && relaxed(b):
		return c.sandwich(neighbour{op: b}, a, c.near(x, 1, relaxed), nil)
	case !e.Kind.IsAccess() && e.Kind != ptx.Fence:
		return refused("the model has no axioms for %s", e.Kind)
	case !apart(a, b):
		return coherent(a, b)
	case e.Acquires() && (loads(b) || stores(b)) && x < y:
		return c.turned(a, b, 0)
	case e.Releases() && (loads(b) || stores(b)) && x > y:
		return c.turned(b, a, 1)
	}
	return nil
}
