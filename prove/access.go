package prove

import (
	"fmt"

	"optcheck/ir"
)

// at is the place of an access: of shared and a thread's own memory an offset.
func (m *moment) at(a *ir.Access) (ir.Space, term) {
	x := m.x
	t := x.num(64, uint64(a.Offset))
	if a.Addr != ir.None {
		t = x.add(x.zext(m.get(a.Addr), 64), t)
	}
	if a.AddrBits == 32 {
		t = x.zext(x.ext(t, 0, 32), 64)
	}
	switch a.Space {
	case ir.Shared:
		return ir.Shared, m.own(x.ext(t, 0, 32))
	case ir.Local:
		return ir.Local, m.private(x.ext(t, 0, 32))
	case ir.FuncParam, ir.Param, ir.ConstBank:
		return a.Space, x.ext(t, 0, 32)
	case ir.Generic:
		return m.generic(t)
	}
	return a.Space, t
}

// rankShift is where machine code has the number of the block in the cluster, in addresses of shared memory.
const rankShift = 24

// own is an address of shared memory of the thread's own block.
func (m *moment) own(t term) term {
	x := m.x
	l := &linear{x: x, w: 32}
	l.add(t, 1)
	rank := &linear{x: x, w: 32}
	rank.add(x.register32(m.side, ir.ClusterCtarank), 1<<rankShift)
	if len(rank.args) != 1 {
		return t
	}
	for i, a := range l.args {
		if a == rank.args[0] && l.coefs[i] == rank.coefs[0] {
			l.put(a, -l.coefs[i])
			break
		}
	}
	return l.term()
}

func (x *terms) register32(s *side, r ir.SpecialReg) term { return x.resize(s.register(r), 32) }

// generic is what a generic address is one of: what begins with the address of a window is in it.
func (m *moment) generic(t term) (ir.Space, term) {
	x := m.x
	for _, sp := range []ir.Space{ir.Shared, ir.Local} {
		d := x.sub(t, m.window(sp))
		if x.may(d)>>32 == 0 {
			if sp == ir.Shared {
				return sp, m.own(x.ext(d, 0, 32))
			}
			return sp, m.private(x.ext(d, 0, 32))
		}
	}
	return ir.Generic, t
}

// private is an address of the thread's own memory.
func (m *moment) private(t term) term {
	l := &linear{x: m.x, w: 32}
	l.add(t, 1)
	m.lowest = min(m.lowest, int32(l.c))
	l.c -= uint64(m.shift)
	return l.term()
}

// chunk is the unit in which memory is read and written: words, and what is narrower.
func chunk(bytes int) int { return min(bytes, 4) }

func (m *moment) access(a *ir.Access) {
	x := m.x
	if len(a.Fragments) > 0 || a.Mbarrier || a.OnlyGlobal || a.Behind || a.Total {
		fail("not followed: %s", m.in.Text)
	}
	space, addr := m.at(a)
	switch space {
	case ir.ConstBank, ir.Param:
		m.constantLoad(a, space, addr)
		return
	case ir.Local, ir.FuncParam:
		if a.Kind == ir.Atomic {
			fail("an atomic on a thread's own memory")
		}
	case ir.Generic:
		m.mayBeLocal()
	}
	private := space == ir.Local || space == ir.FuncParam
	if a.Kind == ir.Atomic || (a.Sem != ir.Weak || a.Volatile) && !private {
		m.strong(a, space, addr)
		return
	}
	mem := &m.mem
	if private {
		mem = &m.local
	}
	n := chunk(a.Bytes)
	each := min(a.Bytes, 8)
	here := m.here()
	for i, r := range a.Data {
		var parts []term
		for k := 0; k < each; k += n {
			p := place{space, x.add(addr, x.num(x.width(addr), uint64(i*each+k))), n}
			if a.Kind == ir.Store {
				v := m.get(r)
				*mem = x.store(*mem, p, x.ext(x.zext(v, 64), 8*k, 8*n), here)
				continue
			}
			from := *mem
			if a.Constant && !private {
				from = x.intern(node{kind: start})
			}
			parts = append([]term{x.load(from, p, here)}, parts...)
		}
		if a.Kind == ir.Load {
			m.put(r, m.extended(a, x.concat(parts...)))
		}
	}
}

// extended is what a register holds that a load has written.
func (m *moment) extended(a *ir.Access, v term) term {
	if a.Type.Signed() && a.Bytes < 4 {
		return m.x.sext(v, 32)
	}
	return v
}

// mayBeLocal: what a generic address points to is not known. Where addresses of a thread's own memory are made generic ones, it may be
// that.
func (m *moment) mayBeLocal() {
	if m.program.LocalBytes > 0 {
		fail("a generic address of what may be the thread's own memory")
	}
}

// constantLoad reads parameters, or a bank of constants.
func (m *moment) constantLoad(a *ir.Access, space ir.Space, addr term) {
	x := m.x
	at, ok := x.constant(addr)
	if a.Kind != ir.Load || !ok {
		fail("a place of constant memory that is computed")
	}
	if space == ir.ConstBank && !m.p.Machine {
		fail("a variable in constant memory")
	}
	each := min(a.Bytes, 8)
	for i, r := range a.Data {
		from := int64(at) + int64(i*each)
		if space == ir.ConstBank {
			m.put(r, m.extended(a, m.bank(a.Bank, from, each)))
			continue
		}
		var parts []term
		for k := each - 1; k >= 0; k-- {
			parts = append(parts, m.paramByte(from+int64(k)))
		}
		m.put(r, m.extended(a, x.concat(parts...)))
	}
}

// strong is an access that others may see in an order, or a read-modify-write: an event.
func (m *moment) strong(a *ir.Access, space ir.Space, addr term) {
	x := m.x
	each := min(a.Bytes, 8)
	words := func(regs []ir.Reg) (out []term) {
		for _, r := range regs {
			out = append(out, x.resize(m.get(r), 8*each))
		}
		return out
	}
	args := []term{addr}
	results := a.Data
	if space == ir.Global { // an address of global memory is the same as a generic one
		space = ir.Generic
	}
	what := fmt.Sprintf("%d %s %d x%d", a.Kind, space, a.Bytes, len(a.Data))
	switch a.Kind {
	case ir.Store:
		args, results = append(args, words(a.Data)...), nil
	case ir.Atomic:
		args, results = append(append(args, words(a.Data)...), words(a.Compare)...), a.Dst
		what += fmt.Sprintf(" %s %v %d", a.Atom, a.FTZ, atomType(a))
	}
	n := m.happen(what, args, true)
	m.events[n].scope = a.Scope
	for k, r := range results {
		m.put(r, m.extended(a, m.result(n, k, 8*each, true)))
	}
	if a.Done != ir.None {
		m.put(a.Done, m.swapped(a, n, args[1+len(a.Data):]))
	}
}

// swapped reports whether a compare-and-swap found what it compares with.
func (m *moment) swapped(a *ir.Access, n int, compare []term) term {
	x := m.x
	out := x.num(1, 1)
	for k, c := range compare {
		out = x.and(out, x.eq(m.result(n, k, x.width(c), true), c))
	}
	return out
}

// atomType is the type of a read-modify-write as far as it makes a difference.
func atomType(a *ir.Access) ir.Type {
	switch {
	case a.Type.Float(), a.Atom == ir.AtomMin, a.Atom == ir.AtomMax:
		return a.Type
	}
	return ir.Unsigned(min(8*a.Bytes, 64))
}
