package cycle

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/litmus"
)

// editor applies one opportunity to a thread.
type editor struct {
	t      *litmus.Test
	th     *litmus.Thread
	o      Opportunity
	events []int        // indices of the events in the thread's body
	given  []string     // registers that reg made; in dialects without declarations they are not taken until they are written
	in     litmus.Instr // the event that the opportunity is at
}

// count finds the events.
func (e *editor) count() {
	e.events = e.events[:0]
	for i := range e.th.Body {
		if in := &e.th.Body[i]; in.IsAccess() || in.IsFence() || in.Op == litmus.OpBar {
			e.events = append(e.events, i)
		}
	}
}

// at returns the event in the body.
func (e *editor) at() *litmus.Instr { return &e.th.Body[e.events[e.o.Event]] }

// insert puts instructions before an event (after all, if there are no more).
func (e *editor) insert(slot int, list ...litmus.Instr) {
	at := len(e.th.Body)
	if slot < len(e.events) {
		at = e.events[slot]
	}
	e.th.Body = slices.Insert(e.th.Body, at, list...)
	e.count()
}

// taken reports whether a name is that of a register or location.
func (e *editor) taken(name string) bool {
	if e.t.Location(name) != nil || e.th.Decl(name) != nil {
		return true
	}
	return slices.ContainsFunc(e.th.Body, func(in litmus.Instr) bool { return in.Dst == name })
}

// reg declares a new register.
func (e *editor) reg(prefix string, t litmus.Type) string {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s%d", prefix, i)
		if e.taken(name) || slices.Contains(e.given, name) {
			continue
		}
		e.given = append(e.given, name)
		if e.t.Dialect != litmus.PTX {
			e.th.Regs = append(e.th.Regs, litmus.RegDecl{Name: name, Type: t})
		}
		return name
	}
}

// data returns the type of the event's values.
func (e *editor) data() litmus.Type {
	switch {
	case e.in.Type == litmus.TypeNone:
		return litmus.S32
	case e.in.Type.Bits() == 64:
		return litmus.S64
	}
	return litmus.S32
}

// loc returns the location of the event.
func (e *editor) loc() (string, error) {
	if l := e.th.AddrLoc(&e.in); l != "" {
		return l, nil
	}
	return "", fmt.Errorf("the location of %s is not known", &e.in)
}

// addr returns an address operand of a location.
func (e *editor) addr(loc string) litmus.Addr {
	if e.t.Dialect == litmus.PTX {
		return litmus.Addr{Loc: loc}
	}
	for _, d := range e.th.Regs {
		written := slices.ContainsFunc(e.th.Body, func(in litmus.Instr) bool { return in.Dst == d.Name })
		if d.Init.Kind == litmus.OperandLoc && d.Init.Name == loc && !written {
			return litmus.Addr{Reg: d.Name}
		}
	}
	r := e.reg("rd", litmus.B64)
	e.th.Regs[len(e.th.Regs)-1].Init = litmus.Loc(loc)
	return litmus.Addr{Reg: r}
}

// access returns an added access of the event's location: as the opportunity specifies, else as
// strong as the event, as far as its direction permits.
func (e *editor) access(op litmus.Op) (litmus.Instr, error) {
	loc, err := e.loc()
	if err != nil {
		return litmus.Instr{}, err
	}
	in := litmus.Instr{Op: op, Type: e.in.Type, Space: e.in.Space, Addr: e.addr(loc)}
	if in.Type == litmus.B32 || in.Type == litmus.B64 {
		in.Type = e.data()
	}
	how, given := e.o.How, e.o.How != (Ann{}) || e.o.Plain
	if !given {
		how = e.o.alike(&e.in, op)
	}
	if how.Atom != litmus.AtomNone {
		return in, errors.New("an atomic is no access to add")
	}
	in.Sem, in.Scope, in.Cache = how.Sem, how.Scope, how.Cache
	return in, how.allowed(direction(op))
}

func direction(op litmus.Op) Dir {
	if op == litmus.OpSt {
		return Write
	}
	return Read
}

// alike returns how to perform an access that is added without an annotation: as strong as the
// event, as far as its direction permits; a peek is volatile.
func (o Opportunity) alike(in *litmus.Instr, op litmus.Op) Ann {
	a := Ann{Sem: in.Sem, Scope: in.Scope, Cache: in.Cache}
	switch {
	case o.Kind == "peek":
		return Ann{Sem: litmus.SemVolatile}
	case in.Op == op:
	case a.Sem == litmus.SemAcquire || a.Sem == litmus.SemRelease || a.Sem == litmus.SemAcqRel || in.Atom != litmus.AtomNone:
		a.Sem = litmus.SemRelaxed
		if a.Scope == litmus.ScopeNone {
			a.Scope = litmus.ScopeGPU
		}
	case a.allowed(direction(op)) != nil:
		a.Cache = litmus.CacheNone
	}
	if a.Sem == litmus.SemWeak {
		a.Sem = litmus.SemNone
	}
	return a
}

// observe adds a register to what the test observes.
func (e *editor) observe(reg string) {
	e.t.Observed = append(e.t.Observed, litmus.Term{Kind: litmus.TermReg, Thread: e.th.ID, Name: reg})
}

// value returns a value that no store of the test uses yet.
func (e *editor) value() litmus.Operand {
	top := int64(1)
	for i := range e.t.Threads {
		for _, in := range e.t.Threads[i].Body {
			for _, s := range in.Src {
				if s.Kind == litmus.OperandConst && s.Value < 1<<20 {
					top = max(top, s.Value)
				}
			}
		}
	}
	return litmus.Const(top + 1)
}

// scratch returns a location of its own, for values that must be stored somewhere.
func (e *editor) scratch() litmus.Addr {
	for _, name := range []string{"w", "v", "u", "s", "q"} {
		if e.t.Location(name) == nil && !e.taken(name) {
			e.t.Locations = append(e.t.Locations, litmus.Location{Name: name, Space: litmus.Global})
			return e.addr(name)
		}
	}
	return litmus.Addr{}
}

// load adds a load at the slot.
func (e *editor) load(slot int, guard *litmus.Guard, before ...litmus.Instr) error {
	in, err := e.access(litmus.OpLd)
	if err != nil {
		return err
	}
	in.Dst, in.Guard = e.reg("r", e.data()), guard
	e.insert(slot, append(before, in)...)
	e.observe(in.Dst)
	return nil
}

// store adds a store at the slot.
func (e *editor) store(slot int, v litmus.Operand) error {
	in, err := e.access(litmus.OpSt)
	if err != nil {
		return err
	}
	in.Src = []litmus.Operand{v}
	e.insert(slot, in)
	return nil
}

// loadAt and storeAt add a load, and a store of another value, at the slot.
func (e *editor) loadAt() error  { return e.load(e.o.Slot, nil) }
func (e *editor) storeAt() error { return e.store(e.o.Slot, e.value()) }

func (e *editor) writeback() error { return e.store(e.o.Slot, litmus.Reg(e.in.Dst)) }

// restore stores the same register, which a compiler can see to hold the same value.
func (e *editor) restore() error {
	v := e.in.Src[0]
	if v.Kind == litmus.OperandConst {
		r := e.reg("r", e.data())
		e.at().Src = []litmus.Operand{litmus.Reg(r)}
		if err := e.store(e.o.Slot, litmus.Reg(r)); err != nil {
			return err
		}
		e.insert(e.o.Event, litmus.Instr{Op: litmus.OpMov, Type: e.data(), Dst: r, Src: []litmus.Operand{v}})
		return nil
	}
	return e.store(e.o.Slot, v)
}

// again repeats the atomic; its result is observed.
func (e *editor) again() error {
	in := e.in
	in.Labels, in.Guard = nil, nil
	if in.Dst != "" && in.Dst != "_" {
		in.Dst = e.reg("r", e.data())
		e.observe(in.Dst)
	}
	in.Src = slices.Clone(in.Src)
	e.insert(e.o.Slot, in)
	return nil
}

// settle rereads the location under a predicate that is true if the value was 1.
func (e *editor) settle() error {
	p, set := e.isOne()
	return e.load(e.o.Slot, p, set)
}

func (e *editor) settleData() error {
	p, set := e.isOne()
	in, err := e.access(litmus.OpSt)
	if err != nil {
		return err
	}
	in.Addr, in.Src, in.Guard = e.scratch(), []litmus.Operand{litmus.Reg(e.in.Dst)}, p
	e.insert(e.o.Slot, set, in)
	return nil
}

// isOne returns a predicate that is true if the event's value is 1, and the instruction that
// sets it.
func (e *editor) isOne() (*litmus.Guard, litmus.Instr) {
	p := e.reg("p", litmus.Pred)
	return &litmus.Guard{Reg: p}, equals1(p, e.data(), e.in.Dst)
}

// equals1 sets a predicate to whether a register holds 1.
func equals1(p string, t litmus.Type, reg string) litmus.Instr {
	return litmus.Instr{Op: litmus.OpSetp, Cmp: litmus.CmpEq, Type: t, Dst: p, Src: []litmus.Operand{litmus.Reg(reg), litmus.Const(1)}}
}

// refence repeats the fence.
func (e *editor) refence() error {
	in := e.in
	in.Labels = nil
	e.insert(e.o.Event+1, in)
	return nil
}

// subfence puts a fence that requires one thing less before the fence.
func (e *editor) subfence() error {
	in := e.in
	in.Labels = nil
	if in.Op == litmus.OpFence && in.Sem == litmus.SemSC {
		in.Sem = litmus.SemAcqRel
	} else if in.Scope = narrower(in.Scope, in.Op == litmus.OpMembar); in.Scope == litmus.ScopeNone {
		return fmt.Errorf("%s has no weaker form", &e.in)
	}
	e.insert(e.o.Event, in)
	return nil
}
