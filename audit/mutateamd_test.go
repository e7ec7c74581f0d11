package audit

import (
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/spec"
)

// mutantsAMD lists the faults that can be planted in a preserved kernel of an
// AMD target: those of any machine code, and waits and cache operations that are
// dropped or made weaker. Whether a wait is needed, faulty decides by itself.
func mutantsAMD(v kernelVisit, placed []int) []mutant {
	m := &mutator{v: v, pos: placed}
	m.swaps()
	for k, e := range v.kernel.Spec.Entries {
		if m.pos[k] < 0 {
			continue
		}
		if e.IsFence() {
			continue
		}
		m.drop(k, e)
		m.double(k, e)
		m.weaken(k, e)
		m.retarget(k, e)
		m.value(k, e)
	}
	m.deps()
	m.out = slices.DeleteFunc(m.out, func(x mutant) bool { return strings.HasSuffix(x.operator, "-control") })
	m.controls()
	m.merges()
	n := 0
	understood := !m.faulty(v.fn)
	for i := range v.fn.Insts {
		in := &v.fn.Insts[i]
		switch {
		case len(in.Waits) > 0:
			// Code of O0 has dozens of waits of the same kind.
			if n++; !understood {
				continue // FLAT instructions, which faulty knows too little of
			} else if len(v.fn.Insts) < 60 || n%7 == len(v.fn.Insts)%7 {
				m.wait(i)
			}
		case in.Role == isa.RoleCache:
			m.cacheOp(i)
		case in.Role == isa.RoleBarrier && m.hasBarrier():
			m.without("drop-barrier", i, optcheck.FenceRemoved.ID)
		}
	}
	return m.out
}

func (m *mutator) without(op string, i int, want ...string) {
	c := clone(m.v.fn)
	c.Insts[i] = nop(m.v.fn.Insts[i])
	m.add(op, c, want...)
}

func (m *mutator) hasBarrier() bool {
	return slices.ContainsFunc(m.v.kernel.Spec.Entries, func(e spec.Entry) bool { return e.Kind.Op == litmus.OpBar })
}

// controls makes conditional accesses unconditional, and inverts conditions: a
// scalar branch is dropped or inverted, or the instruction that narrows EXEC
// dropped.
func (m *mutator) controls() {
	for _, d := range m.v.kernel.Spec.Deps {
		from, to := m.pos[d.From], m.pos[d.To]
		if d.Kind != spec.DepCtrl || from < 0 || to < 0 || m.v.kernel.Spec.Entries[d.To].IsFence() || m.chained(d) {
			continue
		}
		i := to - 1
		for i > from && (m.v.fn.Insts[i].Flow != isa.FlowJump || m.v.fn.Insts[i].Guard == isa.Guard{} || m.v.fn.Insts[i].Target <= to) {
			i--
		}
		if i == from { // too little to skip for a branch: EXEC alone
			i = to - 1
		}
		want := []string{optcheck.ControlChanged.ID, optcheck.DependencyBroken.ID}
		if m.v.fn.Insts[i].Flow == isa.FlowJump && m.v.fn.Insts[i].Guard.Reg != isa.RegExec {
			c := clone(m.v.fn)
			c.Insts[i] = nop(c.Insts[i])
			c.BuildCFG()
			m.add("cut-control", c, want...)
			if !m.unread(d.To) {
				c := clone(m.v.fn)
				c.Insts[i].Guard.Neg = !c.Insts[i].Guard.Neg
				m.add("invert-control", c, optcheck.ControlChanged.ID, optcheck.Missing.ID)
			}
			continue
		}
		for ; i > from && !slices.Contains(m.v.fn.Insts[i].Defs, isa.RegExec); i-- {
		}
		if i > from {
			m.without("cut-control", i, want...)
		}
	}
}

// wait drops a wait, and lets it pass with one more operation outstanding.
func (m *mutator) wait(i int) {
	fn := m.v.fn
	want := []string{optcheck.WaitMissing.ID, optcheck.WaitWeakened.ID}
	c := clone(fn)
	c.Insts[i] = nop(fn.Insts[i])
	if m.faulty(c) {
		m.add("drop-wait", c, want...)
		m.out[len(m.out)-1].note = fn.Insts[i].Text
	}
	for k := range fn.Insts[i].Waits {
		c := clone(fn)
		c.Insts[i].Waits = slices.Clone(fn.Insts[i].Waits)
		c.Insts[i].Waits[k].N++
		if m.faulty(c) {
			m.add("weaken-wait", c, want...)
			m.out[len(m.out)-1].note = fn.Insts[i].Text
		}
	}
}

// cacheOp drops an invalidation or a write-back that an entry of the test needs.
func (m *mutator) cacheOp(i int) {
	in := &m.v.fn.Insts[i]
	es := m.v.kernel.Spec.Entries
	for k, e := range es {
		acq, rel := synchronises(e)
		if !acq && !rel || e.IsFence() && e.Kind.Scope == litmus.ScopeNone {
			continue // mem_fence promises nothing of the caches
		}
		lo, hi := m.around(k)
		if i < lo || i > hi {
			continue
		}
		later := m.some(k+1, len(es), func(e spec.Entry) bool { return e.Reads() && e.Kind.Space == litmus.Global })
		earlier := m.some(0, k, func(e spec.Entry) bool { return e.Writes() && e.Kind.Space == litmus.Global })
		switch {
		case in.Mem.Invalidate && acq && later && i > m.pos[k] && m.alone(i, lo, hi):
			m.without("drop-invalidate", i, optcheck.InvalidateMissing.ID)
		case in.Mem.WriteBack && !in.Mem.Invalidate && rel && earlier && m.alone(i, lo, hi) && m.writesBack(e):
			m.without("drop-writeback", i, optcheck.WritebackMissing.ID)
		}
		return
	}
}

// writesBack reports whether LLVM's memory model has a write-back for a release of
// this scope; older releases write back in vain on gfx12.
func (m *mutator) writesBack(e spec.Entry) bool {
	t := m.v.cell.Target
	return e.Kind.Scope == litmus.ScopeSys && (t == "gfx90a" || t == "gfx942" || t == "gfx1200") ||
		(e.Kind.Scope == litmus.ScopeGPU || e.Kind.Scope == litmus.ScopeNone) && t == "gfx942"
}

// alone reports whether no other cache operation does the same in a range.
func (m *mutator) alone(i, lo, hi int) bool {
	x := &m.v.fn.Insts[i]
	for j := max(lo, 0); j <= hi && j < len(m.v.fn.Insts); j++ {
		y := &m.v.fn.Insts[j]
		if j != i && y.Role == isa.RoleCache && y.Op == x.Op {
			return false
		}
	}
	return true
}

func (m *mutator) some(from, to int, f func(spec.Entry) bool) bool {
	for k := from; k < to; k++ {
		if e := m.v.kernel.Spec.Entries[k]; !e.IsFence() && m.pos[k] >= 0 && f(e) {
			return true
		}
	}
	return false
}

// around returns the range of instructions between the accesses before and after an
// entry.
func (m *mutator) around(k int) (lo, hi int) {
	hi = len(m.v.fn.Insts)
	for j, e := range m.v.kernel.Spec.Entries {
		if e.IsFence() || m.pos[j] < 0 {
			continue
		}
		if j < k {
			lo = max(lo, m.pos[j])
		}
		if j > k {
			hi = min(hi, m.pos[j])
		}
	}
	return lo, hi
}

func synchronises(e spec.Entry) (acq, rel bool) {
	switch e.Kind.Sem {
	case litmus.SemSC, litmus.SemAcqRel:
		return e.IsFence() || e.Reads(), e.IsFence() || e.Writes()
	case litmus.SemAcquire:
		return true, false
	case litmus.SemRelease:
		return false, true
	}
	return false, false
}

// faulty simulates straight-line code, on its own: whether some instruction uses
// a register that may not have been loaded yet, or an access starts that a fence,
// an acquire or release of device scope or a volatile access orders after one
// that may not be complete. It knows fewer rules than the checker.
func (m *mutator) faulty(fn *isa.Func) bool {
	if len(fn.Blocks) != 1 {
		return false
	}
	var live []int // operations that may be outstanding, oldest first
	started := map[int]int{}
	for k, i := range m.pos {
		if i >= 0 && !m.v.kernel.Spec.Entries[k].IsFence() {
			started[i] = k
		}
	}
	for i := range fn.Insts {
		in := &fn.Insts[i]
		for _, o := range live {
			op := &fn.Insts[o]
			if (op.Role == isa.RoleLoad || op.Role == isa.RoleAtomic || op.Role == isa.RoleConst) && overlap(op.Defs, in.Uses) {
				return true
			}
			if k, ok := started[i]; ok {
				if j, ok := started[o]; ok && m.ordered(j, k) {
					return true
				}
			}
		}
		for _, w := range in.Waits {
			all := slices.Clone(live)
			live = slices.DeleteFunc(live, func(o int) bool { return !survives(fn, all, o, w) })
		}
		if in.Role != isa.RoleWait && len(completion(in)) > 0 {
			live = append(live, i)
		}
	}
	return false
}

// completion lists the counters that say that an operation is complete.
func completion(in *isa.Inst) []isa.Counter {
	return slices.DeleteFunc(slices.Clone(in.Counts), func(c isa.Counter) bool { return c == isa.CountExp || c == isa.CountX })
}

// survives reports whether an operation can still be outstanding after a wait:
// if it is, so are those after it that complete in order with it.
func survives(fn *isa.Func, live []int, o int, w isa.Wait) bool {
	op := &fn.Insts[o]
	if !slices.Contains(completion(op), w.Counter) {
		return true
	}
	n := 1
	for _, x := range live {
		y := &fn.Insts[x]
		if x > o && inOrder(op) && inOrder(y) && slices.Contains(completion(y), w.Counter) && (op.Mem.Space == isa.SpaceShared) == (y.Mem.Space == isa.SpaceShared) {
			n++
		}
	}
	return n <= w.N
}

func inOrder(in *isa.Inst) bool {
	return !in.Mem.Scalar && in.Role != isa.RoleConst && in.Mem.Space != isa.SpaceGeneric
}

// ordered reports whether the test orders access j after access i by a fence,
// an acquire or a release of device scope or wider, or volatile.
func (m *mutator) ordered(i, j int) bool {
	if i >= j {
		return false
	}
	es := m.v.kernel.Spec.Entries
	a, b := es[i], es[j]
	if a.Kind.Space != litmus.Global || b.Kind.Space != litmus.Global {
		return false
	}
	if a.Kind.Sem == litmus.SemVolatile && b.Kind.Sem == litmus.SemVolatile && j == i+1 {
		return true
	}
	wide := func(e spec.Entry) bool { return e.Kind.Scope >= litmus.ScopeGPU }
	for k := i; k <= j; k++ {
		acq, rel := synchronises(es[k])
		switch {
		case k == i && !es[k].IsFence():
			if acq && wide(es[k]) {
				return true
			}
		case k == j && !es[k].IsFence():
			if rel && wide(es[k]) {
				return true
			}
		case es[k].IsFence() && wide(es[k]) && (es[k].Kind.Sem == litmus.SemSC || acq && rel && (a.Reads() || b.Writes()) || acq && a.Reads() || rel && b.Writes()):
			return true
		case es[k].IsFence() && es[k].Kind.Scope == litmus.ScopeNone && es[k].Kind.Sem == litmus.SemAcqRel && es[k].Kind.Space != litmus.Shared:
			return true
		}
	}
	return false
}
