package optcheck

import (
	"errors"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// Total store order (Owens, Sarkar, Sewell, A Better x86 Memory Model: x86-TSO, TPHOLs
// 2009): every access is coherent, and of two in program order only a later load may be
// performed before an earlier store. Only MFENCE and locked instructions forbid that.

func (x86) strength(*pass) {} // an access is as strong as any; atomics without a lock are other accesses

// order checks the fences between which a store and a later load may not pass.
func (x86) order(p *pass) {
	for k, e := range p.s.Entries {
		switch {
		case e.Kind.Op == litmus.OpBar:
			p.report(FenceRemoved, k, -1, "%s: barriers of x86-64 code are not known", p.name(k))
		case e.Kind.Op == litmus.OpMembar || e.Kind.Op == litmus.OpFence && e.Kind.Sem == litmus.SemSC: // no other fence is an instruction
			lo, hi := p.window(k)
			p.checkFence(k, fenceNeed{sc: true, scope: isa.ScopeSys}, lo, hi)
		}
	}
}

// stronger notes fences that the test does not have, or that are stronger than the test's.
func (x86) stronger(p *pass) {
	first, last := len(p.tr.events), -1
	for _, ev := range p.match {
		if ev >= 0 {
			first, last = min(first, ev), max(last, ev)
		}
	}
	for ev := first; ev < last; ev++ {
		if x := &p.tr.events[ev]; x.role == isa.RoleFence && x.mem.Strength == isa.FenceSC && len(p.owner[ev]) == 0 {
			p.report(Strengthened, -1, ev, "a fence that the test does not have: %s", p.text(ev))
		}
	}
}

func (x86) barrier(*isa.Inst) int { return 0 }

func (a x86) lift(p *pass) (LiftedCode, error) { return liftPass(p, a) }

func (x86) liftMachine(*pass) (LiftedCode, error) {
	return nil, errors.New("there is no model of the hardware of x86-64 but tso, which judges tests")
}

func (x86) beyond(*Checked) string { return "" }

func (x86) family() string { return "x86" }

func (x86) access(isa.Role, isa.Mem) (litmus.Instr, bool) {
	return litmus.Instr{Sem: litmus.SemRelaxed, Scope: litmus.ScopeSys}, true
}

func (x86) texture(isa.Mem) (bool, string) { return false, "" }

func (x86) raised(spec.Kind, isa.Mem) *litmus.Instr { return nil }

func (x86) inexact(*lifter) {}

func (x86) belongs(*lifter, int) bool { return false }

func (x86) fence(l *lifter, ev int) (litmus.Instr, string) {
	if l.p.tr.events[ev].mem.Strength != isa.FenceSC {
		return litmus.Instr{Op: litmus.OpNop}, ""
	}
	return litmus.Instr{Op: litmus.OpMembar, Scope: litmus.ScopeSys}, ""
}
