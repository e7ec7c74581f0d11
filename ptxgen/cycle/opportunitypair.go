package cycle

import (
	"errors"
	"slices"

	"optcheck/litmus"
)

// neighbour returns an access of another location in the thread, nearest to the event:
// preferably after it.
func (e *editor) neighbour() (litmus.Instr, error) {
	own := e.th.AddrLoc(&e.in)
	for _, step := range []int{1, -1} {
		for i := e.o.Event + step; i >= 0 && i < len(e.events); i += step {
			in := e.th.Body[e.events[i]]
			if l := e.th.AddrLoc(&in); in.IsAccess() && l != "" && l != own {
				return in, nil
			}
		}
	}
	return litmus.Instr{}, errors.New("the thread accesses no other location")
}

// around performs an access of another location before the event and again after it.
func (e *editor) around(in litmus.Instr) {
	e.insert(e.o.Event, in)
	e.insert(e.o.Event+2, in)
}

// bracket stores one register on both sides of the event, to another location.
func (e *editor) bracket() error {
	in, err := e.neighbour()
	if err != nil {
		return err
	}
	t := litmus.S32
	if in.Type.Bits() == 64 {
		t = litmus.S64
	}
	r := e.reg("r", t)
	set := litmus.Instr{Op: litmus.OpMov, Type: t, Dst: r, Src: []litmus.Operand{e.value()}}
	e.around(litmus.Instr{Op: litmus.OpSt, Type: t, Addr: e.addr(e.th.AddrLoc(&in)), Src: []litmus.Operand{litmus.Reg(r)}})
	e.insert(e.o.Event, set)
	return nil
}

// recount adds 1 to another location on both sides of the event, by reductions.
func (e *editor) recount() error {
	in, err := e.neighbour()
	if err != nil {
		return err
	}
	if in.Type.Bits() == 64 {
		return errors.New("the other location is a 64-bit word")
	}
	e.around(litmus.Instr{Op: litmus.OpRed, Atom: litmus.AtomAdd, Sem: litmus.SemRelaxed, Scope: litmus.ScopeGPU, Type: litmus.U32,
		Addr: e.addr(e.th.AddrLoc(&in)), Src: []litmus.Operand{litmus.Const(1)}})
	return nil
}

// unroll repeats the access before a fence, and the fence, as a loop unrolled.
func (e *editor) unroll() error {
	if e.o.Event == 0 {
		return errors.New("nothing stands in front of it")
	}
	before := e.th.Body[e.events[e.o.Event-1]]
	if !isPlain(&before) || before.Guard != nil || e.in.Guard != nil {
		return errors.New("no access stands in front of it")
	}
	before.Labels, e.in.Labels = nil, nil
	if isLoad(&before) {
		before.Dst = e.reg("r", litmus.S32)
		if before.Type.Bits() == 64 {
			return errors.New("a 64-bit word")
		}
		e.observe(before.Dst)
	}
	e.insert(e.o.Event+1, before, e.in)
	return nil
}

// rebar makes all threads wait once more: this one before the event that precedes its barrier,
// the others right at theirs.
func (e *editor) rebar() error {
	if e.o.Event == 0 {
		return errors.New("nothing stands in front of it")
	}
	for i := range e.t.Threads {
		if i == e.o.Thread {
			continue
		}
		other := &editor{t: e.t, th: &e.t.Threads[i]}
		other.count()
		slot := slices.IndexFunc(other.events, func(at int) bool { return other.th.Body[at].Op == litmus.OpBar })
		if slot < 0 {
			return errors.New("another thread has no barrier")
		}
		other.insert(slot, e.in)
	}
	e.insert(e.o.Event-1, e.in)
	return nil
}

// change reads another location before the event and, if it was 1, again after it, while
// another thread changes it once more.
func (e *editor) change() error {
	in, err := e.neighbour()
	if err != nil {
		return err
	}
	loc, top := e.th.AddrLoc(&in), e.value()
	i := slices.IndexFunc(e.t.Threads, func(th litmus.Thread) bool {
		return th.ID != e.th.ID && slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return stores1(&th, &in, loc) })
	})
	if i < 0 {
		return errors.New("no other thread stores 1 there")
	}
	other := &editor{t: e.t, th: &e.t.Threads[i]}
	other.count()
	slot := slices.IndexFunc(other.events, func(at int) bool { return stores1(other.th, &other.th.Body[at], loc) })
	st := other.th.Body[other.events[slot]]
	st.Labels, st.Src = nil, []litmus.Operand{top}
	other.insert(slot+1, st)

	p, a, b := e.reg("p", litmus.Pred), e.reg("r", litmus.S32), e.reg("r", litmus.S32)
	ld := litmus.Instr{Op: litmus.OpLd, Sem: litmus.SemRelaxed, Scope: litmus.ScopeGPU, Type: litmus.S32, Dst: b, Addr: e.addr(loc),
		Guard: &litmus.Guard{Reg: p}}
	e.insert(e.o.Event+1, equals1(p, litmus.S32, a), ld)
	ld.Dst, ld.Guard = a, nil
	e.insert(e.o.Event, ld)
	e.observe(a)
	e.observe(b)
	return nil
}

// stores1 reports whether an instruction stores the constant 1 to a 32-bit location.
func stores1(th *litmus.Thread, in *litmus.Instr, loc string) bool {
	return isStore(in) && in.Type.Bits() != 64 && len(in.Src) == 1 && in.Src[0] == litmus.Const(1) && th.AddrLoc(in) == loc
}

// silent reads another location before the event and stores the value back after it.
func (e *editor) silent() error {
	in, err := e.neighbour()
	if err != nil {
		return err
	}
	if in.Type.Bits() == 64 {
		return errors.New("the other location is a 64-bit word")
	}
	r := e.reg("r", litmus.S32)
	a := e.addr(e.th.AddrLoc(&in))
	e.insert(e.o.Event+1, litmus.Instr{Op: litmus.OpSt, Type: litmus.S32, Addr: a, Src: []litmus.Operand{litmus.Reg(r)}})
	e.insert(e.o.Event, litmus.Instr{Op: litmus.OpLd, Type: litmus.S32, Addr: a, Dst: r})
	e.observe(r)
	return nil
}

// barring is ring with barriers: all threads wait once more, after the store and before
// everything that the other threads do.
func (e *editor) barring() error {
	loc, err := e.loc()
	if err != nil {
		return err
	}
	bar := slices.IndexFunc(e.th.Body, func(in litmus.Instr) bool { return in.Op == litmus.OpBar })
	if bar < 0 {
		return errors.New("the thread has no barrier")
	}
	wait := e.th.Body[bar]
	wait.Labels, wait.Guard = nil, nil
	for i := range e.t.Threads {
		if th := &e.t.Threads[i]; i != e.o.Thread {
			if !slices.ContainsFunc(th.Body, func(in litmus.Instr) bool { return in.Op == litmus.OpBar }) {
				return errors.New("another thread has no barrier")
			}
			other := &editor{t: e.t, th: th}
			other.count()
			other.insert(0, wait)
		}
	}
	e.insert(0, litmus.Instr{Op: litmus.OpSt, Type: e.data(), Addr: e.addr(loc), Src: []litmus.Operand{e.value()}}, wait)
	return nil
}

// handOver makes the thread release a new location after first, which is inserted before all
// its events, and the others acquire it before all of theirs: whoever reads 1 there comes
// later.
func (e *editor) handOver(first ...litmus.Instr) error {
	if len(e.t.Threads) != 2 {
		return errors.New("it takes two threads")
	}
	scope := litmus.ScopeGPU
	for _, at := range e.events {
		if s := e.th.Body[at].Scope; s != litmus.ScopeNone {
			scope = s
		}
	}
	g := e.scratch()
	name := e.t.Locations[len(e.t.Locations)-1].Name
	e.insert(0, append(first, litmus.Instr{Op: litmus.OpSt, Sem: litmus.SemRelease, Scope: scope, Type: litmus.S32, Addr: g,
		Src: []litmus.Operand{litmus.Const(1)}})...)
	other := &editor{t: e.t, th: &e.t.Threads[1-e.o.Thread]}
	other.count()
	r := other.reg("r", litmus.S32)
	other.insert(0, litmus.Instr{Op: litmus.OpLd, Sem: litmus.SemAcquire, Scope: scope, Type: litmus.S32, Dst: r, Addr: other.addr(name)})
	other.observe(r)
	return nil
}

// ring stores to the location of a load and hands it over before everything else: the other
// thread's store comes between the two.
func (e *editor) ring() error {
	loc, err := e.loc()
	if err != nil {
		return err
	}
	return e.handOver(litmus.Instr{Op: litmus.OpSt, Type: e.data(), Addr: e.addr(loc), Src: []litmus.Operand{e.value()}})
}

// ringstore is bracket in a ring: the other thread's store comes between the two stores of one
// register.
func (e *editor) ringstore() error {
	in, err := e.neighbour()
	if err != nil {
		return err
	}
	if in.Type.Bits() == 64 {
		return errors.New("the other location is a 64-bit word")
	}
	r := e.reg("r", litmus.S32)
	st := litmus.Instr{Op: litmus.OpSt, Type: litmus.S32, Addr: e.addr(e.th.AddrLoc(&in)), Src: []litmus.Operand{litmus.Reg(r)}}
	set := litmus.Instr{Op: litmus.OpMov, Type: litmus.S32, Dst: r, Src: []litmus.Operand{e.value()}}
	e.insert(e.o.Event+1, st)
	return e.handOver(set, st)
}

// closing ends the thread with a barrier after its last store, which the other threads
// read after theirs.
func (e *editor) closing() error {
	loc, err := e.loc()
	if err != nil {
		return err
	}
	if e.o.Event != len(e.events)-1 {
		return errors.New("it is not the thread's last")
	}
	wait := litmus.Instr{Op: litmus.OpBar, Barrier: litmus.Barrier{ID: litmus.Const(0)}}
	for i := range e.t.Threads {
		th := &e.t.Threads[i]
		if i == e.o.Thread {
			continue
		}
		if !th.Place.SameScope(e.th.Place, litmus.ScopeCTA) {
			return errors.New("the threads are of several CTAs")
		}
		other := &editor{t: e.t, th: th, in: e.in}
		other.count()
		r := other.reg("r", e.data())
		other.insert(len(other.events), wait, litmus.Instr{Op: litmus.OpLd, Type: e.data(), Dst: r, Addr: other.addr(loc)})
		other.observe(r)
	}
	e.insert(len(e.events), wait)
	return nil
}
