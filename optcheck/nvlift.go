package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
)

// lift turns machine code into PTX instructions.
func (a nvidia) lift(p *pass) (LiftedCode, error) { return liftPass(p, a) }

// beyond reports code that has more strength or an additional fence.
func (nvidia) beyond(c *Checked) string {
	const ask = "; name the test with --against to learn whether it matters"
	for _, f := range c.Notes {
		if f.Rule == Strengthened.ID {
			return f.Detail + ask
		}
	}
	code, err := c.Lift()
	if err != nil {
		return err.Error()
	}
	if extra := code.(*Lifted).Extra; len(extra) > 0 {
		return "a fence that the test does not have: " + extra[0] + ask
	}
	return ""
}

// family distinguishes the targets whose code has strengths and scopes.
func (a nvidia) family() string {
	if a.sm >= 70 {
		return "sm_70"
	}
	return ""
}

// texture treats the non-coherent cache as the texture proxy.
func (a nvidia) texture(m isa.Mem) (yes bool, why string) {
	switch {
	case !m.NonCoherent():
		return false, ""
	case a.sm < 70:
		return true, "the model has no word for the non-coherent cache"
	}
	return true, ""
}

func (a nvidia) access(role isa.Role, m isa.Mem) (litmus.Instr, bool) {
	row, ok := a.meaning(role, m)
	if !ok {
		return litmus.Instr{}, false
	}
	return litmus.Instr{Sem: row.Sem, Scope: row.To, Cache: row.Op}, true
}

// fence looks up a fence in the table of meanings.
func (a nvidia) fence(l *lifter, ev int) (in litmus.Instr, why string) {
	x := &l.p.tr.events[ev]
	in, ok := a.rawFence(l.p, x)
	switch {
	case !ok:
		return in, "it has no meaning in the table"
	case x.role == isa.RoleFence && !x.mem.Invalidate && x.mem.Scope > isa.ScopeCTA && a.stale(l, ev):
		// Later weak loads may still find stale values in the L1.
		if in.Sem != litmus.SemAcqRel {
			return in, "no invalidation of the L1 stands between it and a later weak load"
		}
		in.Sem = litmus.SemRelease
	}
	return in, ""
}

// rawFence looks up a fence in the table of meanings; OpNop means nothing.
func (a nvidia) rawFence(p *pass, x *event) (litmus.Instr, bool) {
	switch x.role {
	case isa.RoleCache:
		if a.sm < 70 {
			return litmus.Instr{Op: litmus.OpNop}, true
		}
		return litmus.Instr{Op: litmus.OpFence, Sem: invalidateMeans, Scope: litmus.ScopeSys}, true
	case isa.RoleBarrier:
		id, arrives, ok := barOf(&p.tr.fn.Insts[x.inst])
		return litmus.Instr{Op: litmus.OpBar, Barrier: litmus.Barrier{Arrive: arrives, ID: litmus.Const(id)}}, ok
	}
	m, ok := a.meaning(x.role, isa.Mem{Strength: x.mem.Strength, Scope: x.mem.Scope})
	if !ok {
		return litmus.Instr{}, false
	}
	if m.Sem == litmus.SemNone {
		return litmus.Instr{Op: litmus.OpMembar, Scope: m.To}, true
	}
	return litmus.Instr{Op: litmus.OpFence, Sem: m.Sem, Scope: m.To}, true
}

// belongs reports whether a fence or invalidation is part of another instruction: a fence before a release access, if
// it is no stronger than every release makes it; an invalidation after an acquire access; or a companion of a fence
// that adds nothing to it.
func (a nvidia) belongs(l *lifter, ev int) bool {
	p := l.p
	x := &p.tr.events[ev]
	if x.role == isa.RoleCache && !x.mem.Invalidate {
		return true // CCTL.E.IV of one line, prefetches
	}
	if len(p.owner[ev]) == 0 {
		return a.implied(l, ev)
	}
	is := false
	for _, k := range p.owner[ev] {
		if e := &p.s.Entries[k]; !e.IsFence() && !l.bad[k] {
			is = !beyondRelease(e.Kind, x.mem)
		}
	}
	return is
}

// implied reports whether a fence or invalidation without an entry of its own adds nothing to its neighbours, with no
// access in between.
func (a nvidia) implied(l *lifter, ev int) bool {
	p := l.p
	x := &p.tr.events[ev]
	for _, step := range []int{-1, 1} {
		for o := ev + step; o >= 0 && o < len(p.tr.events); o += step {
			y := &p.tr.events[o]
			if y.role.IsAccess() {
				if step < 0 && x.role == isa.RoleCache && l.acquires(o) {
					return true
				}
				break
			}
			if y.role == isa.RoleBarrier {
				if x.role == isa.RoleFence && a.sm < 70 && x.mem.Scope <= isa.ScopeCTA {
					return true // the MEMBAR.CTA of every barrier of sm_50 to sm_62
				}
				continue
			}
			if y.role != isa.RoleFence || !p.runsWith(o, ev) {
				continue
			}
			if x.role == isa.RoleCache {
				if step < 0 && a.invalidates(l, o) {
					return true
				}
				continue
			}
			owned := len(p.owner[o]) > 0
			if owned && y.mem.Scope >= x.mem.Scope && (y.mem.Strength == isa.FenceSC || x.mem.Strength != isa.FenceSC) {
				return true
			}
		}
	}
	return false
}

// invalidates reports whether what a fence is lifted to implies an invalidation of the L1: a fence within a CTA does
// not, nor one that only releases.
func (a nvidia) invalidates(l *lifter, ev int) bool {
	p := l.p
	for _, k := range p.owner[ev] {
		if e := &p.s.Entries[k]; e.IsFence() && !l.bad[k] {
			n := a.fenceNeed(e.Kind)
			return n.invalidate || n.any
		}
	}
	return !l.done[ev] && p.tr.events[ev].mem.Scope > isa.ScopeCTA
}

// acquires reports whether an event implements an acquire access that an invalidation follows. Within a CTA none
// does.
func (l *lifter) acquires(ev int) bool {
	for _, k := range l.p.owner[ev] {
		kind := l.p.s.Entries[k].Kind
		if (kind.Sem == litmus.SemAcquire || kind.Sem == litmus.SemAcqRel) && accessScope(kind) > isa.ScopeCTA && !l.bad[k] {
			return true
		}
	}
	return false
}
