package optcheck

import (
	"fmt"

	"optcheck/isa"
	"optcheck/model/amdhw"
)

// LiftedAMD is the machine code of one kernel for an AMD target as operations of package amdhw. Its values still lack
// the test's constants; NewMachine inserts them. Waits and cache operations are those of the code; nothing comes from
// the test.
type LiftedAMD struct {
	system amdhw.System
	ops    []amdOp
	reads  int
	regs   map[int]*expr // what the access at a position read, by position
	key    string
}

// amdOp is an operation whose values are still expressions.
type amdOp struct {
	amdhw.Op
	inputs
}

// Key implements LiftedCode.
func (l *LiftedAMD) Key() string { return l.key }

// amdLifter turns a finished pass into a LiftedAMD.
type amdLifter struct {
	*lifter
	m   *amdModel
	w   *waits
	out *LiftedAMD
	ev  map[int]int // instruction → event
}

// liftMachine implements lifting. AMD code has one form only.
func (a *amd) liftMachine(p *pass) (LiftedCode, error) { return a.lift(p) }

// lift turns a kernel into operations.
func (a *amd) lift(p *pass) (LiftedCode, error) {
	if a.model.hardware.Name == "" {
		return nil, fmt.Errorf("no model of the memory system of %s", a.name)
	}
	l := &amdLifter{m: a.model, w: p.waits, ev: map[int]int{}, lifter: newLifter(p, nil),
		out: &LiftedAMD{system: a.model.hardware, reads: len(p.tr.reads), regs: map[int]*expr{}}}
	if err := l.sound(); err != nil {
		return nil, err
	}
	for k := range p.tr.events {
		i := p.tr.events[k].inst
		if _, two := l.ev[i]; two {
			return nil, l.errorAt(i, "two accesses of one instruction")
		}
		l.ev[i] = k
	}
	for _, b := range p.tr.order {
		blk := p.tr.fn.Blocks[b]
		guard, err := l.blockGuard(b)
		if err != nil {
			return nil, err
		}
		for i := blk.First; i < blk.End; i++ {
			if err := l.inst(i, guard); err != nil {
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

// sound rejects code whose operations alone do not determine what it does.
func (l *amdLifter) sound() error {
	p := l.p
	if p.tr.loops {
		return fmt.Errorf("the code has a loop")
	}
	c := &amdCheck{pass: p, m: l.m, w: l.w}
	for i := range p.tr.fn.Insts {
		for _, o := range l.w.before[i] {
			if r, how := c.hazard(&p.tr.fn.Insts[i], &p.tr.fn.Insts[o.inst], &o); how != "" {
				return l.errorAt(i, "register %v is %s although %s may be outstanding", r, how, trim(p.tr.fn.Insts[o.inst].Text))
			}
		}
	}
	return nil
}

// inst lifts one instruction: what it waits for, then what it starts.
func (l *amdLifter) inst(i int, guard []guardTerm) error {
	in := &l.p.tr.fn.Insts[i]
	if len(in.Waits) > 0 {
		op := amdOp{inputs: inputs{guard: guard}, Op: amdhw.Op{Kind: amdhw.Wait, Text: mnemonic(in), Read: -1}}
		for _, w := range in.Waits {
			op.Until = append(op.Until, amdhw.Until{Counter: uint8(w.Counter), N: w.N})
		}
		l.out.ops = append(l.out.ops, op)
	}
	op := amdOp{inputs: inputs{guard: guard},
		Op: amdhw.Op{Kind: amdhw.Other, Text: mnemonic(in), Read: -1, Counts: l.counts(i, in)}}
	ev, ok := l.ev[i]
	switch {
	case !ok && in.Role.IsAccess() || ok && l.p.tr.events[ev].result && !l.p.onLocation(&l.p.tr.events[ev]):
		// Private memory, or a store of results.
	case ok && in.Role.IsAccess():
		return l.access(i, ev, op)
	case in.Role == isa.RoleBarrier:
		return l.barrier(i, op)
	case in.Role == isa.RoleCache:
		return l.cacheOp(i, op)
	}
	if len(op.Counts) > 0 {
		l.out.ops = append(l.out.ops, op)
	}
	return nil
}

// counts returns the counters of an instruction in the form that the simulation of waits takes.
func (l *amdLifter) counts(i int, in *isa.Inst) (list []amdhw.Count) {
	for _, c := range in.Counts {
		list = append(list, amdhw.Count{Counter: uint8(c), Class: uint8(l.w.class(i, in, c)), Completes: l.w.completes(i, c)})
	}
	return list
}

// access lifts an access to a location of the test.
func (l *amdLifter) access(i, ev int, op amdOp) error {
	p := l.p
	x := &p.tr.events[ev]
	loc, base, err := l.located(i, ev)
	if err != nil {
		return err
	}
	op.guard, op.data = base.guard, base.words()
	if x.mem.Space == isa.SpaceGeneric && p.isShared(loc) {
		return l.errorAt(i, "local memory by a flat address")
	}
	op.Loc, op.LDS, op.Scalar, op.Read = loc, x.mem.Space == isa.SpaceShared, x.mem.Scalar, x.read
	switch x.role {
	case isa.RoleLoad:
		op.Kind, op.Level = amdhw.Load, l.level(x.mem)
	case isa.RoleStore:
		if x.mem.Scalar {
			return l.errorAt(i, "a store through the scalar cache")
		}
		op.Kind, op.Through = amdhw.Store, !l.out.system.WriteBack || l.m.store[amdAgent].ok(x.mem)
	case isa.RoleAtomic, isa.RoleReduction:
		op.Kind, op.atom = amdhw.RMW, x.mem.Atom
		if f, n := atomicWord(op.atom); f == nil || n != len(op.data) {
			return l.errorAt(i, "an atomic operation that is not known")
		}
	default:
		return l.errorAt(i, "it has no meaning here")
	}
	l.out.ops = append(l.out.ops, op)
	return nil
}

// level returns which caches a load bypasses: those that the table requires at agent or work-group scope, if it
// requires anything there.
func (l *amdLifter) level(m isa.Mem) amdhw.Level {
	asks := func(scope int) bool { return l.m.load[scope] != amdBits{} && l.m.load[scope].ok(m) }
	switch {
	case asks(amdAgent):
		return amdhw.Coherent
	case asks(amdGroup):
		return amdhw.BypassFirst
	}
	return amdhw.Cached
}

// barrier lifts an execution barrier.
func (l *amdLifter) barrier(i int, op amdOp) error {
	arrive, meet := op, op
	arrive.Kind, meet.Kind = amdhw.Arrive, amdhw.Meet
	switch l.p.tr.fn.Insts[i].Op {
	case "s_barrier":
		l.out.ops = append(l.out.ops, arrive, meet)
	case "s_barrier_signal":
		l.out.ops = append(l.out.ops, arrive)
	case "s_barrier_wait":
		l.out.ops = append(l.out.ops, meet)
	default:
		return l.errorAt(i, "a barrier of another kind")
	}
	if len(op.guard) > 0 {
		return l.errorAt(i, "a barrier under a condition")
	}
	return nil
}

// cacheOp lifts an invalidation or a write-back. It has no effect if two waves of one agent cannot see a difference
// in the cache it reaches.
func (l *amdLifter) cacheOp(i int, op amdOp) error {
	in := &l.p.tr.fn.Insts[i]
	agent := in.Mem.Scope >= isa.ScopeGPU
	switch in.Op {
	case "buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_gl0_inv":
		op.Kind, op.First = amdhw.Invalidate, true
	case "buffer_gl1_inv":
		op.Kind, op.Middle = amdhw.Invalidate, true
	case "buffer_inv", "global_inv":
		op.Kind, op.First, op.Middle = amdhw.Invalidate, in.Mem.Scope >= isa.ScopeCTA, agent
	case "s_dcache_inv", "s_dcache_inv_vol":
		op.Kind, op.ScalarCache = amdhw.Invalidate, true
	case "buffer_wbl2":
		if agent {
			op.Kind = amdhw.WriteBack
		}
	}
	l.out.ops = append(l.out.ops, op) // any other is only counted
	return nil
}

// identify hashes everything that decides what the operations mean.
func (l *LiftedAMD) identify() {
	b := fmt.Append(nil, l.system, l.reads)
	for i := range l.ops {
		o := &l.ops[i]
		b = fmt.Append(b, "\n", o.Kind, o.Loc, o.LDS, o.Scalar, o.Level, o.Through, o.Read, o.Counts, o.Until, o.First, o.Middle, o.ScalarCache,
			o.atom, o.Text)
		b = o.render(b)
	}
	l.key = keyOf(b, l.regs)
}

// Size implements LiftedCode.
func (l *LiftedAMD) Size() int {
	return 200 + 500*len(l.ops)
}
