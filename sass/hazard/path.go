package hazard

import (
	"slices"

	"optcheck/isa"
)

// Path is what is in flight in one thread while it performs one instruction of a function after the other.
type Path struct {
	t    *table
	w    walk
	s    state
	from int
	kind Kind
	regs []isa.Reg // of the last step
}

// NewPath begins a path on which a finding shows; nil if nothing is known of the function.
func NewPath(fn *isa.Func, f Finding) *Path {
	t, _ := tableOf(fn)
	if t == nil {
		return nil
	}
	return &Path{t: t, w: walk{fn: fn, effects: t.effects(fn), vain: t.setWait}, from: f.From, kind: f.Kind}
}

// Clone is the same path, to be followed in another way.
func (p *Path) Clone() *Path {
	q := *p
	q.s, q.regs = slices.Clone(p.s), nil
	return &q
}

// Step performs an instruction. It returns the registers that it uses while the first instruction of the finding is in flight, in the way of
// the finding. What calls do elsewhere is not followed: Reset says that a path was elsewhere.
func (p *Path) Step(i int) []isa.Reg {
	p.regs = p.regs[:0]
	p.w.visit = func(d dep) {
		if d.from != p.from || d.kind != p.kind {
			return
		}
		if _, broken, sure := p.t.judge(p.w.fn, d); broken && sure {
			p.regs = append(p.regs, d.reg)
		}
	}
	p.s = p.w.step(p.s, i)
	return p.regs
}

// Reset ends what is in flight.
func (p *Path) Reset() { p.s = p.s[:0] }

// Effects are the findings by which one shows: itself, or, if it waits for a scoreboard that is not yet set, those of a wait in vain.
func Effects(fn *isa.Func, f Finding) []Finding {
	return f.effects(func() []Finding { return inVain(fn) })
}

func (f Finding) effects(vain func() []Finding) (list []Finding) {
	if f.Kind != SetWait {
		return []Finding{f}
	}
	for _, g := range vain() {
		if g.From == f.From && g.Kind != SetWait && g.Sure {
			list = append(list, g)
		}
	}
	return list
}

// inVain are the findings in a function in which who waits for a scoreboard too early waits for nothing.
func inVain(fn *isa.Func) []Finding {
	t, _ := tableOf(fn)
	return check(fn, t.setWait).Findings
}
