package optcheck

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/model/explore"
	"optcheck/model/nvhw"
)

// NVMachine is a program of package nvhw.
type NVMachine struct{ nvhw.Program }

// Name implements Machine.
func (m *NVMachine) Name() string { return "nvhw" }

// Explore implements Machine.
func (m *NVMachine) Explore(ctx context.Context, fresh bool, end func(f *explore.Final, schedule func() []explore.Step) error) error {
	m.Fresh = fresh
	return nvhw.Explore(ctx, &m.Program, end)
}

// liftedNV is the machine code of one kernel for sm_70 and newer as operations of package nvhw. Waits for scoreboard
// barriers come from the control codes; nothing comes from the test.
type liftedNV struct {
	ops   []nvOp
	reads int
	regs  map[int]*expr
	key   string
}

// nvOp is an operation whose values are still expressions.
type nvOp struct {
	nvhw.Op
	inputs
}

// Key implements LiftedCode.
func (l *liftedNV) Key() string { return l.key }

// Size implements LiftedCode.
func (l *liftedNV) Size() int { return 200 + 400*len(l.ops) }

// values implements operations.
func (l *liftedNV) values() map[int]*expr { return l.regs }

// machine implements operations.
func (l *liftedNV) machine(t *litmus.Test, threads []LiftedThread, init []uint32) (Machine, error) {
	m := &NVMachine{nvhw.Program{Init: init}}
	for i := range threads {
		code, ok := threads[i].Lifted.(*liftedNV)
		if !ok {
			return nil, fmt.Errorf("thread %d is not of NVIDIA's machine code", i)
		}
		th := nvhw.Thread{CTA: groupOf(t, i), Reads: code.reads}
		params := paramsOf(threads[i].Values)
		for k := range code.ops {
			o := &code.ops[k]
			op := o.Op
			if op.Kind <= nvhw.RMW {
				if op.Loc >= len(init) {
					return nil, fmt.Errorf("location %d of %d", op.Loc, len(init))
				}
				op.Text = accessText(op.Text, t, op.Loc)
			}
			op.Data, op.Guard, op.Apply = o.with(params)
			th.Ops = append(th.Ops, op)
		}
		m.Threads = append(m.Threads, th)
	}
	return m, nil
}

// nvLifter turns a finished pass into a liftedNV.
type nvLifter struct {
	*lifter
	out *liftedNV
	ev  map[int]int // instruction → event
	// set holds the barriers that operations set and nothing has waited for since.
	set uint8
	// when returns the condition of the current block. It is evaluated on demand: most blocks whose condition is
	// unknown contain nothing that needs it.
	when func() ([]guardTerm, error)
}

// liftMachine returns the machine code as operations of package nvhw.
func (a nvidia) liftMachine(p *pass) (LiftedCode, error) {
	if a.sm < 70 {
		return nil, errors.New("no model of the memory system before sm_70")
	}
	l := &nvLifter{lifter: newLifter(p, a), ev: p.eventsAt(), out: &liftedNV{reads: len(p.tr.reads)}}
	if p.tr.loops {
		return nil, errors.New("the code has a loop")
	}
	for _, b := range p.tr.order {
		l.when = sync.OnceValues(func() ([]guardTerm, error) { return l.blockGuard(b) })
		for i := p.tr.fn.Blocks[b].First; i < p.tr.fn.Blocks[b].End; i++ {
			if err := l.inst(i); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if l.out.regs, err = l.lifter.values(); err != nil {
		return nil, err
	}
	l.out.identify()
	return l.out, nil
}

// inst lifts one instruction, and what it waits for.
func (l *nvLifter) inst(i int) error {
	in := &l.p.tr.fn.Insts[i]
	if in.Control.Kind != isa.ControlFields {
		return l.errorAt(i, "its control code is not known")
	}
	op := nvOp{Op: nvhw.Op{Kind: nvhw.Wait, Text: mnemonic(in), Read: -1, Sets: nvhw.NoBarrier, Waits: in.Control.Wait}}
	ev, ok := l.ev[i]
	switch {
	case in.Op == "DEPBAR":
		return l.depbar(i, op)
	case !ok && in.Role.IsAccess() || ok && l.p.tr.events[ev].result && !l.p.onLocation(&l.p.tr.events[ev]):
		// Private memory, or a store of results.
	case ok && in.Role.IsAccess():
		return l.access(i, ev, op)
	case in.Role == isa.RoleBarrier || in.Role == isa.RoleFence || in.Role == isa.RoleCache && in.Mem.Invalidate:
		return l.order(i, ev, op)
	}
	return l.waits(op)
}

// waits adds an operation that only waits, if there is something to wait for.
func (l *nvLifter) waits(op nvOp) (err error) {
	if op.Waits&l.set == 0 {
		return nil
	}
	op.guard, err = l.when()
	l.add(op)
	return err
}

func (l *nvLifter) add(op nvOp) {
	if len(op.guard) == 0 {
		l.set &^= op.Waits
	}
	if op.Sets != nvhw.NoBarrier {
		l.set |= 1 << op.Sets
	}
	l.out.ops = append(l.out.ops, op)
}

// depbar lifts DEPBAR.LE SB4, 0x0, which waits for a barrier as control codes do.
func (l *nvLifter) depbar(i int, op nvOp) error {
	n, all := depbar(&l.p.tr.fn.Insts[i])
	if !all {
		return l.errorAt(i, "it waits for some of a barrier's operations, or for something unknown")
	}
	op.Waits |= 1 << n
	return l.waits(op)
}

// depbar returns the scoreboard barrier for which a DEPBAR.LE SB4, 0x0 waits; all is false
// if it does not wait for all of its operations.
func depbar(in *isa.Inst) (barrier uint8, all bool) {
	if in.Op != "DEPBAR" || len(in.Args) != 2 || in.Args[1].Kind != isa.OpdImm && !in.Args[1].Zero || in.Args[1].Imm != 0 {
		return 0, false
	}
	_, err := fmt.Sscanf(in.Args[0].String(), "SB%d", &barrier)
	return barrier, err == nil && barrier <= 5
}

// access lifts an access to a location of the test.
func (l *nvLifter) access(i, ev int, op nvOp) error {
	p := l.p
	x := &p.tr.events[ev]
	loc, base, err := l.located(i, ev)
	if err != nil {
		return err
	}
	op.guard, op.data = base.guard, base.words()
	if x.mem.NonCoherent() {
		return l.errorAt(i, "it goes through the cache for constants")
	}
	op.Loc, op.Shared, op.Read, op.Sets = loc, p.isShared(loc), x.read, p.tr.fn.Insts[i].Control.Write
	switch x.role {
	case isa.RoleLoad:
		op.Kind, op.Far = nvhw.Load, (x.mem.Strength == isa.Strong || x.mem.Strength == isa.MMIO) && x.mem.Scope > isa.ScopeCTA
	case isa.RoleStore:
		op.Kind, op.Sets = nvhw.Store, nvhw.NoBarrier
	case isa.RoleAtomic, isa.RoleReduction:
		op.Kind, op.atom = nvhw.RMW, x.mem.Atom
		if f, n := atomicWord(op.atom); f == nil || n != len(op.data) {
			return l.errorAt(i, "an atomic operation that is not known")
		}
	default:
		return l.errorAt(i, "it has no meaning here")
	}
	l.add(op)
	return nil
}

// order lifts a fence, an invalidation or a barrier.
func (l *nvLifter) order(i, ev int, op nvOp) error {
	in := &l.p.tr.fn.Insts[i]
	base := liftOp{entry: -1}
	var err error
	if _, ok := l.ev[i]; ok {
		err = l.guard(ev, &base)
	} else {
		base.guard, err = l.when()
	}
	if err != nil {
		return err
	}
	op.guard = base.guard
	switch in.Role {
	case isa.RoleCache:
		op.Kind = nvhw.Invalidate
	case isa.RoleFence:
		op.Kind, op.Far, op.SC = nvhw.Fence, in.Mem.Scope > isa.ScopeCTA, in.Mem.Strength == isa.FenceSC
		// On sm_90 MEMBAR signals its completion through a barrier.
		op.Sets = min(in.Control.Read, in.Control.Write)
	case isa.RoleBarrier:
		id, arrives, ok := barOf(in)
		if len(op.guard) > 0 || l.p.tr.arch.barrier(in) != 0 || arrives || !ok {
			return l.errorAt(i, "a barrier of another kind")
		}
		op.Kind, op.Loc = nvhw.Barrier, int(id)
	}
	l.add(op)
	return nil
}

// identify hashes everything that decides what the operations mean.
func (l *liftedNV) identify() {
	b := fmt.Append(nil, "nv", l.reads)
	for i := range l.ops {
		o := &l.ops[i]
		b = fmt.Append(b, "\n", o.Kind, o.Loc, o.Shared, o.Far, o.SC, o.Read, o.Sets, o.Waits, o.atom, o.Text)
		b = o.render(b)
	}
	l.key = keyOf(b, l.regs)
}
