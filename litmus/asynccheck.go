package litmus

import (
	"strings"
)

// placed reports whether the mbarrier of an operation, if it has one, lies in shared memory.
func (c *checker) placed(th *Thread, in *Instr) bool {
	a, ok := in.Mbarrier()
	return !ok || c.inShared(th, a)
}

// inShared reports whether an address is that of a location in shared memory.
func (c *checker) inShared(th *Thread, a Addr) bool {
	name := a.Loc
	if d := th.Decl(a.Reg); name == "" && d != nil {
		name = d.Init.Name
	}
	l := c.t.Location(name)
	return l == nil || l.Space == Shared || l.Of != ""
}

// own reports whether a shared location at an address lies in the thread's CTA.
func (c *checker) own(th *Thread, a Addr) bool {
	name := a.Loc
	if d := th.Decl(a.Reg); name == "" && d != nil {
		name = d.Init.Name
	}
	for i := range c.t.Threads {
		if c.t.Threads[i].Mentions(name) {
			return c.t.Threads[i].Place.SameScope(th.Place, ScopeCTA)
		}
	}
	return true
}

// async checks an asynchronous operation.
func (c *checker) async(th *Thread, in *Instr) {
	f := in.Async
	if f == nil {
		c.errorf(in.Pos, "an asynchronous operation without a form")
		return
	}
	if in.Guard != nil {
		c.reg(th, in, in.Guard.Reg, Pred, exact)
	}
	if f.Together() {
		c.together(th, in)
		return
	}
	if strings.Contains(f.Operands, "a") {
		for _, a := range append([]Addr{in.Addr}, in.More...) {
			if d := th.Decl(a.Reg); a.Loc == "" && (a.Reg == "" || d == nil || d.Init.Kind != OperandLoc || c.wrote[th.index(c.t)][a.Reg]) {
				c.errorf(in.Pos, "%s: the addresses of asynchronous operations are locations, or registers that always hold one", in)
				return
			}
		}
	}
	stores := f.Kind == StoreAsync || f.Kind == ReduceAsync
	for _, s := range in.Src {
		if stores {
			c.source(th, in, s, f.Type, exact)
		} else if s.Kind != OperandConst && (f.Kind != MbarWait || f.Parity || s.Kind != OperandReg) {
			c.errorf(in.Pos, "%s: a constant is wanted in place of %s", in, s)
			return
		}
	}
	n := in.Bytes()
	switch {
	case !c.placed(th, in):
		c.errorf(in.Pos, "%s: an mbarrier lies in shared memory", in)
	case f.Kind == MbarWait && !c.own(th, in.Addr):
		c.errorf(in.Pos, "%s: a thread waits only at mbarriers of its own CTA, which is that of the first thread that names them", in)
	case f.Kind == MbarWait && in.Dst != "":
		c.reg(th, in, in.Dst, Pred, exact)
	case f.Kind == MbarArrive && in.Dst != "_":
		c.reg(th, in, in.Dst, B64, exact)
	case stores && (len(in.Src) != max(f.Vector, 1) || len(in.More) != 1):
		c.errorf(in.Pos, "%s has not the operands that it wants", in)
	case stores && !c.inShared(th, in.Addr):
		c.errorf(in.Pos, "%s: asynchronous stores are to shared memory", in)
	case stores && in.Addr.Offset%n != 0:
		c.errorf(in.Pos, "%s is not aligned to its %d bytes", in, n)
	case f.Kind == AsyncCopy && n != 4 && n != 8 && n != 16, f.Kind == AsyncCopy && n != 16 && strings.Contains(f.Name, ".cg."):
		c.errorf(in.Pos, "%s: cp.async.ca copies 4, 8 or 16 bytes, cp.async.cg 16", in)
	case f.Copies() && f.Kind != AsyncCopy && n != MaxBytes:
		c.errorf(in.Pos, "%s: bulk copies of litmus tests have %d bytes, as locations have at most", in, MaxBytes)
	}
}
