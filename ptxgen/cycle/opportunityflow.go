package cycle

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/litmus"
)

// predicate returns a predicate that is true, which the compiler cannot know.
func (e *editor) predicate() (p string, code []litmus.Instr) {
	q := e.reg("r", litmus.S32)
	p = e.reg("p", litmus.Pred)
	return p, []litmus.Instr{
		{Op: litmus.OpMov, Type: litmus.S32, Dst: q, Src: []litmus.Operand{litmus.Const(0)}},
		{Op: litmus.OpSetp, Cmp: litmus.CmpEq, Type: litmus.S32, Dst: p, Src: []litmus.Operand{litmus.Reg(q), litmus.Const(0)}},
	}
}

func (e *editor) unguarded() error {
	if e.in.Guard != nil || len(e.in.Labels) > 0 {
		return errors.New("it has a guard or a label already")
	}
	return nil
}

// twin performs the access under a predicate and again under its opposite.
func (e *editor) twin() error {
	if err := e.unguarded(); err != nil {
		return err
	}
	p, code := e.predicate()
	a, b := e.in, e.other()
	a.Guard, b.Guard = &litmus.Guard{Reg: p}, &litmus.Guard{Reg: p, Neg: true}
	*e.at() = a
	e.insert(e.o.Event+1, b)
	e.insert(e.o.Event, code...)
	return nil
}

// other returns the event in the second arm: performed as the opportunity specifies.
func (e *editor) other() litmus.Instr {
	b := e.in
	if e.o.How != (Ann{}) || e.o.Plain {
		b.Sem, b.Scope, b.Cache = e.o.How.Sem, e.o.How.Scope, e.o.How.Cache
	}
	return b
}

// when makes the access conditional on the nearest preceding load having read 1.
func (e *editor) when() error {
	if err := e.unguarded(); err != nil {
		return err
	}
	for i := e.o.Event - 1; i >= 0; i-- {
		at := &e.th.Body[e.events[i]]
		if at.Dst == "" || at.Dst == "_" || at.Guard != nil {
			continue
		}
		p := e.reg("p", litmus.Pred)
		e.at().Guard = &litmus.Guard{Reg: p}
		e.insert(e.o.Event, equals1(p, litmus.S32, at.Dst))
		return nil
	}
	return errors.New("no load stands in front of it")
}

// label returns a label that the thread does not have.
func (e *editor) label() string {
	for i := 0; ; i++ {
		name := fmt.Sprintf("L%d", i)
		used := false
		for _, in := range e.th.Body {
			for _, l := range in.Labels {
				used = used || l == name
			}
		}
		if !used {
			return name
		}
	}
}

// jump branches to a label if q, which is 0, is not.
func jump(q, label string) litmus.Instr {
	return litmus.Instr{Op: litmus.OpBra, Cmp: litmus.CmpNe, Target: label, Src: []litmus.Operand{litmus.Reg(q), litmus.Const(0)}}
}

// arms performs the access in both arms of a branch.
func (e *editor) arms() error {
	if err := e.unguarded(); err != nil {
		return err
	}
	q := e.reg("r", litmus.S32)
	set := litmus.Instr{Op: litmus.OpMov, Type: litmus.S32, Dst: q, Src: []litmus.Operand{litmus.Const(0)}}
	other := e.label()
	a, b := e.in, e.other()
	b.Labels = []string{other}
	*e.at() = a
	end := litmus.Instr{Op: litmus.OpBra}
	at := e.events[e.o.Event]
	e.th.Body = slices.Insert(e.th.Body, at+1, end, b)
	done := e.label()
	e.th.Body[at+1].Target = done
	e.th.Body = slices.Insert(e.th.Body, at+3, litmus.Instr{Op: litmus.OpNop, Labels: []string{done}})
	e.th.Body = slices.Insert(e.th.Body, at, set, jump(q, other))
	e.count()
	return nil
}

// arm performs the access in one arm of a branch that is taken.
func (e *editor) arm() error {
	if err := e.unguarded(); err != nil {
		return err
	}
	q, done := e.reg("r", litmus.S32), e.label()
	set := litmus.Instr{Op: litmus.OpMov, Type: litmus.S32, Dst: q, Src: []litmus.Operand{litmus.Const(0)}}
	at := e.events[e.o.Event]
	e.th.Body = slices.Insert(e.th.Body, at+1, litmus.Instr{Op: litmus.OpNop, Labels: []string{done}})
	e.th.Body = slices.Insert(e.th.Body, at, set, jump(q, done))
	e.count()
	return nil
}

// call makes a function perform the event.
func (e *editor) call() error {
	if e.in.Call {
		return errors.New("a function performs it already")
	}
	e.at().Call = true
	return nil
}

// prefetch fetches the event's location before it.
func (e *editor) prefetch() error {
	loc, err := e.loc()
	switch {
	case err != nil:
		return err
	case e.in.Prefetch > 0 || e.t.Location(loc).Space == litmus.Shared:
		return errors.New("it is prefetched already, or in shared memory")
	}
	e.at().Prefetch = 2
	if isLoad(&e.in) {
		e.at().Prefetch = 1
	}
	return nil
}

// glance loads the event's location once more without using the result.
func (e *editor) glance() error {
	in, err := e.access(litmus.OpLd)
	if err != nil {
		return err
	}
	e.final()
	in.Dst = "_"
	e.insert(e.o.Slot, in)
	return nil
}

// crowded is the number of values that the opportunity crowd keeps, and crowd the number of
// registers it leaves: the fewest that every compiler for sm_70 and later accepts.
const (
	crowded   = 18
	registers = 24
)

// crowd keeps registers busy around the event.
func (e *editor) crowd() error {
	if e.t.Registers > 0 {
		return errors.New("it is crowded already")
	}
	e.t.Registers = registers
	a := e.scratch()
	for range crowded {
		r := e.reg("r", litmus.S32)
		e.insert(e.o.Event, litmus.Instr{Op: litmus.OpLd, Sem: litmus.SemVolatile, Type: litmus.S32, Dst: r, Addr: a})
		e.observe(r)
	}
	return nil
}

// repeat performs the access three times.
func (e *editor) repeat() error {
	for range 2 {
		in := e.in
		in.Labels = nil
		if isLoad(&in) {
			in.Dst = e.reg("r", e.data())
			e.observe(in.Dst)
		}
		e.insert(e.o.Event+1, in)
	}
	return nil
}

// Numbers of iterations: loop has an even number, so that the last iteration is the second copy
// of a body unrolled by two.
const (
	loopRounds = 4
	spinRounds = 3
)

// loop performs the access in a loop, together with what follows up to the slot.
func (e *editor) loop() error { return e.looped(e.o.Slot-1, loopRounds, nil) }

// spin loads until the value is 1, as the bounded loops of real code do.
func (e *editor) spin() error {
	p, set := e.isOne()
	return e.looped(e.o.Event, spinRounds, func(done string) []litmus.Instr {
		return []litmus.Instr{set, {Op: litmus.OpBra, Guard: p, Target: done}}
	})
}

// looped turns the events up to the last one into a loop; exit, if not nil, returns the code
// that leaves it.
func (e *editor) looped(last, rounds int, exit func(done string) []litmus.Instr) error {
	at, end := e.events[e.o.Event], e.events[last]+1
	for i := at; i < end; i++ {
		if in := &e.th.Body[i]; in.Guard != nil || len(in.Labels) > 0 || in.Op == litmus.OpBra || in.Op == litmus.OpBar {
			return fmt.Errorf("%s cannot be in a loop", in)
		}
	}
	e.final()
	i, p, head := e.reg("r", litmus.B32), e.reg("p", litmus.Pred), e.label()
	e.at().Labels = []string{head}
	code := []litmus.Instr{
		{Op: litmus.OpAdd, Type: litmus.S32, Dst: i, Src: []litmus.Operand{litmus.Reg(i), litmus.Const(1)}},
		{Op: litmus.OpSetp, Cmp: litmus.CmpLt, Type: litmus.S32, Dst: p, Src: []litmus.Operand{litmus.Reg(i), litmus.Const(int64(rounds))}},
		{Op: litmus.OpBra, Guard: &litmus.Guard{Reg: p}, Target: head},
	}
	if exit != nil {
		done := e.label()
		code = append(append(exit(done), code...), litmus.Instr{Op: litmus.OpNop, Labels: []string{done}})
	}
	e.th.Body = slices.Insert(e.th.Body, end, code...)
	e.th.Body = slices.Insert(e.th.Body, at, litmus.Instr{Op: litmus.OpXor, Type: litmus.B32, Dst: i,
		Src: []litmus.Operand{litmus.Reg(i), litmus.Reg(i)}})
	e.count()
	return nil
}

// beside accesses a location of its own right after the event: a neighbour in the layout
// adjacent.
func (e *editor) beside() error {
	loc, err := e.loc()
	if err != nil {
		return err
	}
	in := e.in
	in.Labels, in.Guard = nil, nil
	in.Addr = e.scratch()
	e.t.Locations[len(e.t.Locations)-1].Space = e.t.Location(loc).Space
	if isLoad(&in) {
		in.Dst = e.reg("r", e.data())
		e.observe(in.Dst)
	} else {
		in.Src = []litmus.Operand{e.value()}
	}
	e.insert(e.o.Event+1, in)
	return nil
}

// raceFree replaces the test by its variant without data races. It must be the last
// composition.
func (e *editor) raceFree() error {
	if e.o.Thread != 0 || e.o.Event != 0 {
		return errors.New("it is the whole test's: at thread 0, event 0")
	}
	y, err := RaceFree(e.t)
	if err != nil {
		return err
	}
	y.Name = e.t.Name
	*e.t = *y
	return nil
}

// wideUnit replaces 1 in a 64-bit location: both words show the value.
const wideUnit = 1<<32 + 1

// wide makes the event's location a 64-bit word everywhere.
func (e *editor) wide() error {
	loc, err := e.loc()
	if err != nil {
		return err
	}
	read := map[litmus.Term]bool{{Kind: litmus.TermLoc, Name: loc}: true}
	for i := range e.t.Threads {
		th := &e.t.Threads[i]
		for k := range th.Body {
			in := &th.Body[k]
			if !in.IsAccess() || th.AddrLoc(in) != loc {
				continue
			}
			if in.Type.Bits() == 64 {
				return errors.New("it is one already")
			}
			if i < e.o.Thread || i == e.o.Thread && k < e.events[e.o.Event] {
				return errors.New("it is not the first event of the location")
			}
			if err := widen(th, in); err != nil {
				return err
			}
			read[litmus.Term{Kind: litmus.TermReg, Thread: th.ID, Name: in.Dst}] = true
		}
	}
	e.t.Location(loc).Init *= wideUnit
	e.t.Cond.Expr = rewritten(e.t.Cond.Expr, func(a litmus.Atom) litmus.Expr {
		if read[a.Left] && a.Right.Kind == litmus.TermConst {
			a.Right.Value *= wideUnit
		}
		return a
	})
	return nil
}

func widen(th *litmus.Thread, in *litmus.Instr) error {
	wide := map[litmus.Type]litmus.Type{litmus.TypeNone: litmus.S64, litmus.S32: litmus.S64, litmus.U32: litmus.U64,
		litmus.B32: litmus.B64}[in.Type]
	if wide == litmus.TypeNone {
		return fmt.Errorf("%s has no wider form", in)
	}
	for _, s := range in.Src {
		if s.Kind == litmus.OperandReg {
			return fmt.Errorf("%s has its value in a register", in)
		}
	}
	in.Type = wide
	in.Src = slices.Clone(in.Src)
	for i := range in.Src {
		in.Src[i].Value *= wideUnit
	}
	if in.Dst == "" {
		return nil
	}
	for i := range th.Body {
		other := &th.Body[i]
		if other == in {
			continue
		}
		if other.Dst == in.Dst {
			return fmt.Errorf("register %s is written twice", in.Dst)
		}
		for _, r := range other.Reads() {
			if r == in.Dst {
				return fmt.Errorf("register %s is used", in.Dst)
			}
		}
	}
	if d := th.Decl(in.Dst); d != nil {
		d.Type = litmus.S64
	}
	return nil
}
