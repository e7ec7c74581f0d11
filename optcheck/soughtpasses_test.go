package optcheck

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/mutants"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// retrace is what the walk has found in a stored kernel, of which some is changed before the rules see it: whatever walks find, the rules
// say something of it.
type retrace struct {
	rnd *rand.Rand
	tr  *trace
	s   *spec.Spec
}

func (c *retrace) event() *event { return &c.tr.events[c.rnd.IntN(len(c.tr.events))] }

// value is one that some event or marker has, a constant, or a choice of two.
func (c *retrace) value() value {
	p := c.tr.pool
	switch c.rnd.IntN(6) {
	case 0:
		return p.constant(anyOf(c.rnd, constants))
	case 1:
		return p.mk(node{kind: kSel, a: c.value(), b: c.value(), c: c.flag()})
	case 2:
		return anyOf(c.rnd, c.tr.markers).oper
	case 3:
		return p.mk(node{kind: kFun, imm: uint64(isa.MicroMul) << 8, a: c.value(), b: c.value(), c: none})
	}
	if x := c.event(); len(x.data) > 0 {
		return anyOf(c.rnd, x.data)
	}
	return p.mk(node{kind: kLoad, a: value(c.rnd.IntN(max(1, len(c.tr.reads)))), b: 0, c: none})
}

// flag is a condition: that of an event, or a new one of what is read, of a lane, or of what nobody knows.
func (c *retrace) flag() value {
	p := c.tr.pool
	if x := c.event(); len(x.when) > 0 && x.when[0].pred >= 0 && c.rnd.IntN(2) == 0 {
		return x.when[0].pred
	}
	of := anyOf(c.rnd, []value{p.mk(node{kind: kLoad, a: value(c.rnd.IntN(max(1, len(c.tr.reads)))), b: 0, c: none}), p.param(0),
		p.mk(node{kind: kSpecial, imm: p.str("lane"), a: none, b: none, c: none}), p.mk(node{kind: kOpaque, a: 0, b: 0, c: none})})
	return p.mk(node{kind: kCmp, imm: uint64(c.rnd.IntN(2)), a: of, b: p.constant(uint32(c.rnd.IntN(2))), c: none})
}

// change changes something.
func (c *retrace) change() {
	rnd, tr, x, y := c.rnd, c.tr, c.event(), c.event()
	e := &c.s.Entries[rnd.IntN(len(c.s.Entries))]
	switch rnd.IntN(14) {
	case 0:
		*x, *y = *y, *x
	case 1:
		if i := rnd.IntN(len(tr.events)); tr.events[i].read < 0 && len(tr.events) > 1 {
			tr.events = slices.Delete(tr.events, i, i+1)
		}
	case 2:
		z := *x
		z.read = -1
		tr.events = slices.Insert(tr.events, rnd.IntN(len(tr.events)+1), z)
	case 3:
		for _, roles := range [][]isa.Role{{isa.RoleStore, isa.RoleReduction}, {isa.RoleLoad, isa.RoleAtomic}, {isa.RoleFence, isa.RoleBarrier,
			isa.RoleCache}} {
			if slices.Contains(roles, x.role) {
				x.role = anyOf(rnd, roles)
				break
			}
		}
	case 4, 5:
		c.mem(&x.mem, y.mem)
	case 6:
		switch rnd.IntN(3) {
		case 0:
			x.addr = y.addr
		case 1:
			x.addr.off += int64(4 * (rnd.IntN(5) - 2))
		case 2:
			x.addr.base = base(rnd.IntN(5))
		}
	case 7:
		switch rnd.IntN(4) {
		case 0:
			x.when, x.cond = y.when, y.cond
		case 1:
			x.when, x.cond = append(slices.Clone(x.when), sense{c.flag(), rnd.IntN(2) == 0}), true
		case 2:
			x.when, x.cond, x.condT = nil, false, 0
		case 3:
			if x.when = slices.Clone(x.when); len(x.when) > 0 {
				x.when[0].want = !x.when[0].want
			}
		}
	case 8:
		if x.data = slices.Clone(x.data); len(x.data) > 0 {
			x.data[rnd.IntN(len(x.data))] = c.value()
		}
	case 9:
		t := taint(1) << rnd.IntN(max(1, len(tr.reads)))
		*anyOf(rnd, []*taint{&x.addrT, &x.dataT, &x.condT}) ^= t
	case 10:
		b := anyOf(rnd, []*bool{&x.arm, &x.result, &x.loop, &x.cond, &tr.wild, &tr.loops})
		*b = !*b
	case 11:
		m := &tr.markers[rnd.IntN(len(tr.markers))]
		if rnd.IntN(4) == 0 && (m.m.Dep != nil || m.m.Operand != nil) {
			*m = tr.markers[0]
			return
		}
		m.oper = c.value()
	case 12, 13:
		c.entry(e)
	}
}

// mem changes how an access is made.
func (c *retrace) mem(m *isa.Mem, as isa.Mem) {
	switch rnd := c.rnd; rnd.IntN(9) {
	case 0:
		m.Strength = isa.Strength(rnd.IntN(int(isa.FenceSC) + 1))
	case 1:
		m.Scope = isa.Scope(rnd.IntN(int(isa.ScopeSys) + 1))
	case 2:
		m.Cache = anyOf(rnd, []string{"", "CI", "CG", "CV", "glc", "L1"})
	case 3:
		m.Width = anyOf(rnd, []int{1, 2, 4, 4, 8})
	case 4:
		m.Space = anyOf(rnd, []isa.Space{isa.SpaceGlobal, isa.SpaceShared, isa.SpaceGeneric, as.Space})
	case 5:
		m.Invalidate, m.WriteBack = !m.Invalidate, rnd.IntN(2) == 0
	case 6:
		m.Locked = !m.Locked
	case 7:
		m.Atom, m.Type = as.Atom, as.Type
	case 8:
		*m = as
	}
}

// entry changes what the test asks for.
func (c *retrace) entry(e *spec.Entry) {
	k := &e.Kind
	switch rnd := c.rnd; rnd.IntN(10) {
	case 0:
		e.Unread = !e.Unread
	case 1:
		e.Guarded = !e.Guarded
	case 2:
		k.Sem = anyOf(rnd, []litmus.Sem{litmus.SemNone, litmus.SemWeak, litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease,
			litmus.SemAcqRel, litmus.SemSC})
	case 3:
		k.Scope = anyOf(rnd, []litmus.Scope{litmus.ScopeNone, litmus.ScopeCTA, litmus.ScopeGPU, litmus.ScopeSys})
	case 4:
		k.Atom = litmus.AtomOp(rnd.IntN(int(litmus.AtomMax) + 1))
	case 5:
		k.Op = anyOf(rnd, c.s.Entries).Kind.Op
	case 6:
		e.Loc = anyOf(rnd, c.s.Entries).Loc
	case 7:
		if e.Pos > 0 {
			e.Back = rnd.IntN(2)
		}
	case 8:
		k.Width = anyOf(rnd, []int{4, 8})
	case 9:
		*k = anyOf(rnd, c.s.Entries).Kind
	}
}

// otherWaits is a function that waits for something else, or counts it by another counter.
func otherWaits(rnd *rand.Rand, of *isa.Func) *isa.Func {
	f := *of
	f.Insts = slices.Clone(of.Insts)
	var at []int
	for i := range f.Insts {
		if in := &f.Insts[i]; len(in.Waits) > 0 || len(in.Counts) > 0 || in.Mem != (isa.Mem{}) {
			at = append(at, i)
		}
	}
	for range 1 + rnd.IntN(3) {
		if len(at) == 0 {
			break
		}
		in, as := &f.Insts[anyOf(rnd, at)], &f.Insts[anyOf(rnd, at)]
		switch rnd.IntN(6) {
		case 0:
			if in.Waits = slices.Clone(in.Waits); len(in.Waits) > 0 {
				in.Waits[rnd.IntN(len(in.Waits))].N = rnd.IntN(4)
			}
		case 1:
			in.Waits = as.Waits
		case 2:
			in.Counts = as.Counts
		case 3:
			in.Waits, in.Counts = nil, nil
		case 4:
			if in.Target < 0 && as.Target < 0 {
				*in, *as = *as, *in
			}
		case 5:
			in.Mem.Space, in.Mem.Scalar = anyOf(rnd, []isa.Space{isa.SpaceGlobal, isa.SpaceGeneric, isa.SpaceShared}), rnd.IntN(3) == 0
		}
	}
	f.BuildCFG()
	return &f
}

// retraced is the walk over a cell's kernel, or over what one role does of a kernel for devices, and what the test asks of it.
func (s *seeker) retraced(t *testing.T, check *Checker, k *JudgedKernel, f *isa.Func, seed uint64) (*trace, *spec.Spec, error) {
	if h := s.harness; h != nil {
		l, err := check.loopsOf(f, h)
		if err != nil {
			return nil, nil, err
		}
		role := int(seed/2) % len(h.Specs)
		tr, err := check.specialise(f, h, l, role)
		if err != nil {
			return nil, nil, err
		}
		want := *h.Specs[role]
		tr.markers = slices.DeleteFunc(tr.markers, func(m marker) bool { return m.m.Thread != role })
		return tr, &want, nil
	}
	want, err := spec.FromTest(s.test, k.Thread, s.layout)
	require.NoError(t, err)
	if want.Digest = k.Digest; seed%2 == 1 {
		flat, _, err := s.test.Unrolled()
		require.NoError(t, err)
		want.SetCode(&flat.Threads[k.Thread], k.Values)
	}
	tr, err := check.traceOf(f, want)
	return tr, want, err
}

// passSays is what the rules say of a cell's kernel whose walk is changed as a seed has it, and whose code waits for other things or not.
func (s *seeker) passSays(t *testing.T, kernel int, seed uint64, waits bool) string {
	t.Helper()
	k, rounds := &s.cell.Kernels[kernel], mutants.Rounds(seed)
	check, f := *k.Check, k.Func
	if waits {
		f = otherWaits(rand.New(rand.NewPCG(rounds[0], 7)), f)
	}
	tr, want, err := s.retraced(t, &check, k, f, rounds[0])
	if err != nil || len(tr.events) == 0 || len(tr.markers) == 0 || len(want.Entries) == 0 {
		return fmt.Sprint(err)
	}
	tr.recover(want)
	c := &retrace{tr: tr, s: want}
	want.Entries, tr.calls, tr.effects = slices.Clone(want.Entries), slices.Clone(tr.calls), slices.Clone(tr.effects)
	for _, x := range rounds {
		c.rnd = rand.New(rand.NewPCG(x, uint64(kernel)))
		n := c.rnd.IntN(3)
		if !waits {
			n++
		}
		for range n {
			c.change()
		}
	}
	for i := range tr.events {
		if r := tr.events[i].read; r >= 0 {
			tr.reads[r] = i
		}
	}
	r := &Checked{Result: &Result{Func: k.Func.Name, Thread: want.Thread}}
	r.Spec = want
	if r.pass, err = newPass(tr, want, r.Result, &check); err != nil {
		return err.Error()
	}
	r.pass.harness = s.harness != nil
	r.pass.run()
	if s.harness != nil {
		r.pass.checkApart()
		r.decide()
		h := &HarnessResult{}
		h.lift(r)
		return full(r, nil) + meaning(r) + fmt.Sprint(len(h.Lifted), h.LiftErr, r.Placed(), r.Findings, r.Notes)
	}
	said := full(r, nil) + meaning(r) + tr.arch.beyond(r)
	return said + fmt.Sprint(r.Placed(), r.Wild(), r.Lines, r.Source, r.Machine, r.Findings, r.Notes) + s.lifted(t, kernel, r, want)
}
