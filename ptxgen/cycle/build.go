package cycle

import (
	"fmt"
	"slices"

	"optcheck/depgen"
	"optcheck/litmus"
)

// Test builds the litmus test: the cycle's accesses, what opportunities add, and a condition
// for exactly the cycle's outcome. Its doc string is the edge list. Opportunities must fit;
// ParseName and the generator ensure that.
func (s *Spec) Test() *litmus.Test {
	t, err := s.composed()
	if err != nil {
		panic(err)
	}
	return t
}

// composed is Test with the error of an opportunity that does not fit.
func (s *Spec) composed() (*litmus.Test, error) {
	base := *s
	base.Opportunities = nil
	b := builder{s: s, c: s.Cycle, dst: make([]string, len(s.Cycle.Edges))}
	return Apply(b.build(base.Name()), s.Opportunities...)
}

type builder struct {
	s   *Spec
	c   *Cycle
	t   *litmus.Test
	dst []string // register of each event, "" for plain stores
	// waits are the answers of waits, which the outcome wants to be true.
	waits []litmus.Term
}

func (b *builder) build(name string) *litmus.Test {
	c := b.c
	b.t = &litmus.Test{Dialect: litmus.GPUPTX, Name: name, Doc: c.String(),
		Locations: make([]litmus.Location, c.locs), Threads: make([]litmus.Thread, c.Threads())}
	for l := range b.t.Locations {
		b.t.Locations[l] = litmus.Location{Name: locNames[l], Space: b.s.Map[l]}
	}
	for t := range b.t.Threads {
		b.thread(t)
	}
	b.t.Cond.Expr = b.outcome()
	slices.SortFunc(b.t.Locations, func(x, y litmus.Location) int { return litmus.CompareLocations(x.Name, y.Name) })
	return b.t
}

func (b *builder) thread(t int) {
	th := &b.t.Threads[t]
	*th = litmus.Thread{Name: fmt.Sprintf("T%d", t), ID: t, Placed: true, Place: b.s.Place[t]}
	from, to := b.c.span(t)
	addr := map[int]string{} // of locations
	for i := from; i < to; i++ {
		l := b.c.loc[i]
		if addr[l] == "" {
			addr[l] = fmt.Sprintf("rd%d", len(addr))
			th.Regs = append(th.Regs, litmus.RegDecl{Name: addr[l], Type: litmus.B64, Init: litmus.Loc(locNames[l])})
		}
	}
	d := &depgen.Builder{Thread: th}
	for i := from; i < to; i++ {
		b.event(d, i, i > from, addr[b.c.loc[i]])
	}
}

// event appends access i and, if it is not the thread's first, what the preceding edge puts
// between the two.
func (b *builder) event(d *depgen.Builder, i int, inner bool, addr string) {
	c := b.c
	in := litmus.Instr{Type: litmus.S32}
	value := litmus.Const(b.operand(i))
	if inner {
		e, src := c.Edges[i-1], b.dst[i-1]
		switch e.Kind {
		case Fence:
			d.Emit(e.instr())
		case Bar:
			d.Emit(litmus.Instr{Op: litmus.OpBar, Barrier: litmus.Barrier{ID: litmus.Const(0)}})
		case BarRed, BarWarp, Mbar, Cluster, ProxyAsync:
			in.Guard = b.meet(d, i)
		case Addr:
			addr = b.s.scheme().Addr(d, src, addr, 64)
		case Data:
			value = litmus.Reg(b.s.scheme().Data(d, src, value.Value))
		case Ctrl:
			in.Guard = b.s.scheme().Ctrl(d, src)
			if e.Op != litmus.OpNop {
				f := e.instr()
				f.Guard = &litmus.Guard{Reg: in.Guard.Reg}
				d.Emit(f)
			}
		}
	}
	a := c.Ann[i]
	if a.Copy {
		b.copied(d, i, in, addr, value)
		return
	}
	in.Sem, in.Scope, in.Cache = a.Sem, a.Scope, a.Cache
	in.Addr = litmus.Addr{Reg: addr}
	switch {
	case a.Atom != litmus.AtomNone:
		b.atomic(&in, i, a.Atom, value)
	case c.dir(i) == Read:
		in.Op = litmus.OpLd
	default:
		in.Op, in.Src = litmus.OpSt, []litmus.Operand{value}
	}
	if in.Op != litmus.OpSt {
		b.dst[i] = d.Reg("r", litmus.S32)
		in.Dst = b.dst[i]
	}
	d.Emit(in)
}

// operand returns the value operand of an access that writes.
func (b *builder) operand(i int) int64 {
	switch {
	case b.c.dir(i) == Read:
		return 0
	case b.c.Ann[i].Atom == litmus.AtomAdd:
		return 1 // values of a location are consecutive
	}
	return b.c.value[i]
}

// atomic makes the instruction an atomic that writes its value over the one
// before it in coherence order or, for a read, that writes back what it read:
// x + 0, or 0 if x is 0.
func (b *builder) atomic(in *litmus.Instr, i int, op litmus.AtomOp, value litmus.Operand) {
	in.Op, in.Atom, in.Src = litmus.OpAtom, op, []litmus.Operand{value}
	switch op {
	case litmus.AtomExch:
		in.Type = litmus.B32
	case litmus.AtomCAS:
		in.Type = litmus.B32
		expect := int64(0)
		if b.c.dir(i) == Write {
			expect = b.c.value[i] - 1
		}
		in.Src = []litmus.Operand{litmus.Const(expect), value}
	}
}

// instr returns the fence of a Fence edge, or of a Ctrl edge with one.
func (e Edge) instr() litmus.Instr { return litmus.Instr{Op: e.Op, Sem: e.Sem, Scope: e.Scope} }

func (s *Spec) scheme() *depgen.Scheme {
	if s.Scheme == nil {
		return depgen.Default
	}
	return s.Scheme
}

// outcome returns the condition's expression: what the reads of communications
// return, what the atomics that write return, and the final values of locations
// that are written more than once.
func (b *builder) outcome() litmus.Expr {
	c := b.c
	var list []litmus.Expr
	eq := func(t litmus.Term, v int64) {
		list = append(list, litmus.Atom{Left: t, Cmp: litmus.CmpEq, Right: litmus.Term{Kind: litmus.TermConst, Value: v}})
	}
	for i := range c.Edges {
		reg := litmus.Term{Kind: litmus.TermReg, Thread: c.thread[i], Name: b.dst[i]}
		switch {
		case c.dir(i) == Read && c.pinned[i]:
			eq(reg, c.value[i])
		case c.dir(i) == Write && c.Ann[i].Atom != litmus.AtomNone:
			eq(reg, c.value[i]-1)
		}
	}
	for _, w := range b.waits {
		eq(w, 1)
	}
	for l, n := range c.writes {
		if n > 1 {
			eq(litmus.Term{Kind: litmus.TermLoc, Name: locNames[l]}, int64(n))
		}
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return litmus.And{List: list}
}
