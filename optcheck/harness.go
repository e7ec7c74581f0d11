package optcheck

import (
	"fmt"
	"slices"

	"optcheck/isa"
	"optcheck/spec"
)

// A harness kernel holds all threads of a test, and code of its own. It is checked thread by thread: the code is
// specialised to the threads that play one role, which decides comparisons with the role parameters and the branches
// and predicates that follow from them. What remains is checked like a kernel of an audit.

// HarnessResult is the outcome of checking a harness kernel.
type HarnessResult struct {
	Threads []*Result
	// Class is the worst class of the threads; Unknown also if the stress code is not as it should be. Reason says
	// why it is Unknown.
	Class  Class
	Reason string
	// StressLoads and StressStores count the instructions that access scratch memory in loops.
	StressLoads, StressStores int
	// Lifted is the machine code of the threads, nil if one of them cannot be lifted; LiftErr then says why.
	Lifted  []LiftedCode
	LiftErr error
}

// Validated reports whether the kernel is the test: every access, fence and
// dependency of every thread was matched.
func (r *HarnessResult) Validated() bool { return r.Class == Preserved }

// Why describes in one line what is wrong, "" if nothing is.
func (r *HarnessResult) Why() string {
	if r.Reason != "" {
		return r.Reason
	}
	for _, t := range r.Threads {
		if t.Class == Unknown {
			return fmt.Sprintf("T%d: %s", t.Thread, t.Reason)
		}
		if len(t.Findings) > 0 {
			return t.Findings[0].Rule + ": T" + fmt.Sprint(t.Thread) + " " + t.Findings[0].Detail
		}
	}
	return ""
}

// CheckHarness checks a harness kernel.
func (c *Checker) CheckHarness(fn *isa.Func, h *spec.Harness) *HarnessResult {
	r := &HarnessResult{}
	l, err := c.loopsOf(fn, h)
	if err != nil {
		r.Class, r.Reason = Unknown, err.Error()
		return r
	}
	for i := range h.Specs {
		t := c.checkRole(fn, h, l, i)
		r.lift(t)
		r.Threads = append(r.Threads, t.Result)
		r.Class = max(r.Class, t.Class)
	}
	if err := c.checkStress(fn, h, l, r); err != nil {
		r.Class, r.Reason = Unknown, err.Error()
	}
	return r
}

// lift adds the machine code of a role.
func (r *HarnessResult) lift(t *Checked) {
	if r.LiftErr != nil {
		return
	}
	l, err := t.Lift()
	if err != nil {
		r.Lifted, r.LiftErr = nil, fmt.Errorf("thread %d: %w", t.Thread, err)
		return
	}
	r.Lifted = append(r.Lifted, l)
}

// apart marks what belongs to the harness and not to the test: accesses to its own memory, and fences and barriers
// before the first and after the last access or fence of the test, which order nothing in it.
func (l *lifter) apart() {
	p := l.p
	first, last := len(p.tr.events), -1
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if len(p.owner[ev]) > 0 || x.role.IsAccess() && !x.result && !x.arm {
			first, last = min(first, ev), max(last, ev)
		}
	}
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if x.own || !x.role.IsAccess() && (ev < first || ev > last) {
			l.done[ev] = true
		}
	}
}

// checkRole checks one thread of the test.
func (c *Checker) checkRole(fn *isa.Func, h *spec.Harness, l *loops, role int) *Checked {
	r := &Checked{Result: &Result{Func: fn.Name, Thread: role}}
	tr, err := c.specialise(fn, h, l, role)
	if err != nil {
		return r.unknown(err.Error())
	}
	tr.markers = slices.DeleteFunc(tr.markers, func(m marker) bool { return m.m.Thread != role })
	tr.recover(h.Specs[role])
	s, err := tr.specification()
	if err != nil {
		return r.unknown(err.Error())
	}
	if !s.Equal(h.Specs[role]) {
		return r.unknown("the specification in the machine code is not the one that was emitted")
	}
	if why := tr.undecidable(); why != "" {
		return r.unknown(why)
	}
	r.Spec = h.Specs[role]
	r.pass, err = newPass(tr, r.Spec, r.Result, c)
	if err != nil {
		return r.unknown(err.Error())
	}
	r.pass.harness = true
	r.pass.run()
	r.pass.checkApart()
	r.decide()
	return r
}

// checkApart notes stores of the harness between the test's accesses; any other access of the harness there is a
// finding.
func (p *pass) checkApart() {
	first, last := len(p.tr.events), -1
	for _, ev := range p.match {
		if ev >= 0 {
			first, last = min(first, ev), max(last, ev)
		}
	}
	for ev := first + 1; ev < last; ev++ {
		x := &p.tr.events[ev]
		switch {
		case !x.own:
		case p.inst(ev).Role == isa.RoleStore:
			p.report(Interleaved, -1, ev, "%s, a store of the harness, stands between accesses of the test", p.text(ev))
		default:
			p.report(ExtraAccess, -1, ev, "%s, an access of the harness, stands between those of the test", p.text(ev))
			p.r.Class, p.r.Undecided = Changed, ""
		}
	}
}

// checkStress requires that threads which execute stress access scratch memory in a loop, with loads and with stores,
// and count what they do.
func (c *Checker) checkStress(fn *isa.Func, h *spec.Harness, l *loops, r *HarnessResult) error {
	tr, err := c.specialise(fn, h, l, stressRole)
	if err != nil {
		return err
	}
	counted := false
	for i := range tr.events {
		x := &tr.events[i]
		if !x.own {
			continue
		}
		switch in := &tr.fn.Insts[x.inst]; {
		case x.addr.num == h.Scratch && x.loop && in.Role == isa.RoleLoad:
			r.StressLoads++
		case x.addr.num == h.Scratch && x.loop && in.Role == isa.RoleStore:
			r.StressStores++
		case x.addr.num == h.Counters && x.addr.off == h.Counted && in.Role == isa.RoleReduction:
			counted = true
		}
	}
	switch {
	case r.StressLoads != h.Sequences*spec.MaxSequence || r.StressStores != h.Sequences*spec.MaxSequence:
		return fmt.Errorf("the stress has %d loads and %d stores in the machine code, not %d of each", r.StressLoads, r.StressStores,
			h.Sequences*spec.MaxSequence)
	case !counted:
		return fmt.Errorf("the counter of the stress is not in the machine code")
	}
	return nil
}

// stressRole stands for threads that execute stress.
const stressRole = -1

// specialise evaluates the code of threads that play a role, with the loops of the test unrolled.
func (c *Checker) specialise(fn *isa.Func, h *spec.Harness, l *loops, role int) (*trace, error) {
	o := walkOptions{pool: takePool(), view: newView(h, l, role)}
	var want *spec.Spec
	if role != stressRole && h.Specs[role].Rounds() > 1 {
		want, o.fold = h.Specs[role], true
	}
	return c.reduced(fn, o, want)
}
