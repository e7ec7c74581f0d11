package audit

import (
	"slices"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/spec"
	"optcheck/target"
)

// mutant is one deliberate fault in validated machine code.
type mutant struct {
	operator string
	fn       *isa.Func
	want     []string // rules of which at least one must be reported
	note     string   // what was changed
}

// mutator makes mutants of one preserved kernel.
type mutator struct {
	v   kernelVisit
	pos []int // spec position → index of its instruction, -1 unknown
	out []mutant
}

// mutants lists the faults that can be planted in a preserved kernel.
func mutants(v kernelVisit, placed []int) []mutant {
	m := &mutator{v: v, pos: placed}
	m.swaps()
	for k, e := range v.kernel.Spec.Entries {
		if m.pos[k] < 0 {
			continue
		}
		if e.IsFence() {
			m.fence(k, e)
			continue
		}
		m.drop(k, e)
		m.double(k, e)
		m.weaken(k, e)
		m.retarget(k, e)
		m.value(k, e)
	}
	m.deps()
	m.merges()
	return m.out
}

func (m *mutator) inst(k int) *isa.Inst { return &m.v.fn.Insts[m.pos[k]] }

// clone copies a function so that single instructions can be replaced.
func clone(fn *isa.Func) *isa.Func {
	c := *fn
	c.Insts = slices.Clone(fn.Insts)
	return &c
}

func (m *mutator) add(op string, fn *isa.Func, want ...string) {
	m.out = append(m.out, mutant{operator: op, fn: fn, want: want})
}

// nop returns an instruction that does nothing, in place of another.
func nop(at isa.Inst) isa.Inst {
	return isa.Inst{Addr: at.Addr, Op: "NOP", Text: "NOP", Line: at.Line, Role: isa.RoleNop, Target: -1}
}

// insert puts an instruction before index i and repairs branch targets.
func insert(fn *isa.Func, i int, in isa.Inst) *isa.Func {
	c := clone(fn)
	c.Insts = slices.Insert(c.Insts, i, in)
	for j := range c.Insts {
		if c.Insts[j].Target > i { // a branch to i executes the new instruction too
			c.Insts[j].Target++
		}
	}
	c.BuildCFG()
	return c
}

func overlap(a, b []isa.Reg) bool {
	for _, x := range a {
		if slices.Contains(b, x) {
			return true
		}
	}
	return false
}

// swaps moves an access over an earlier one of the same block where register
// data flow allows it, so that only the order changes.
func (m *mutator) swaps() {
	fn := m.v.fn
	for j, e := range m.v.kernel.Spec.Entries {
		if e.IsFence() || m.pos[j] < 0 {
			continue
		}
		for i := j - 1; i >= 0; i-- {
			if m.v.kernel.Spec.Entries[i].IsFence() || m.pos[i] < 0 {
				continue
			}
			a, b := m.pos[i], m.pos[j]
			if a < b && m.movable(a, b) {
				c := clone(fn)
				moved := c.Insts[b]
				copy(c.Insts[a+1:b+1], fn.Insts[a:b])
				c.Insts[a] = moved
				m.add("swap", c, optcheck.Reordered.ID)
			}
			break
		}
	}
}

// movable reports whether instruction b can stand directly before a: straight
// code between them, and nothing there that b needs or that needs what b
// overwrites.
func (m *mutator) movable(a, b int) bool {
	fn := m.v.fn
	x := &fn.Insts[b]
	for i := a; i < b; i++ {
		y := &fn.Insts[i]
		if y.Role == isa.RoleBranch || y.Flow != isa.FlowNext {
			return false
		}
		for _, o := range fn.Blocks {
			if o.First > a && o.First <= b {
				return false
			}
		}
		if overlap(y.Defs, x.Uses) || overlap(y.Uses, x.Defs) || overlap(y.Defs, x.Defs) {
			return false
		}
	}
	return x.Flow == isa.FlowNext && !fn.Insts[a].Mem.Locked && !x.Mem.Locked
}

func (m *mutator) drop(k int, e spec.Entry) {
	if m.inst(k).Mem.Locked || m.inst(k).Flow != isa.FlowNext {
		return
	}
	c := clone(m.v.fn)
	c.Insts[m.pos[k]] = nop(*m.inst(k))
	want := []string{optcheck.Missing.ID}
	if e.Reads() {
		// The register may still hold what an earlier load put there.
		want = append(want, optcheck.Merged.ID)
	}
	m.add("drop", c, want...)
}

func (m *mutator) double(k int, e spec.Entry) {
	in := m.inst(k)
	if overlap(in.Defs, in.Addrs) || overlap(in.Defs, in.Data) || in.Mem.Locked || in.Flow != isa.FlowNext {
		return
	}
	m.add("double", insert(m.v.fn, m.pos[k], *in), optcheck.Duplicated.ID)
}

// weaken lowers strength, scope or cache operator one step below what the
// access needs.
func (m *mutator) weaken(k int, e spec.Entry) {
	in := m.inst(k)
	for _, change := range lesser(m.v.fn.Arch, e.Kind, in.Mem) {
		c := clone(m.v.fn)
		change(&c.Insts[m.pos[k]].Mem)
		m.add("weaken", c, optcheck.Weakened.ID)
	}
}

// lesser are changes of a machine access, each of one property that an access of kind k needs.
func lesser(arch string, k spec.Kind, m isa.Mem) (changes []func(*isa.Mem)) {
	atomic := k.Op == litmus.OpAtom || k.Op == litmus.OpRed
	strong := atomic || k.Sem != litmus.SemNone && k.Sem != litmus.SemWeak
	at, _ := target.Of(arch)
	switch {
	case k.Space == litmus.Shared || at.Family == target.TeraScale:
	case at.Vendor == target.AMD && strong:
		if at.Family == target.GFX940 || at.Family == target.GFX12 { // bits spell scopes
			if m.Scope > isa.ScopeNone {
				changes = append(changes, func(m *isa.Mem) { m.Scope-- })
			}
		} else if !atomic { // whose bits ask for a result
			for _, bit := range []isa.CacheBits{isa.BitGLC, isa.BitDLC} {
				if m.Bits.Has(bit) {
					changes = append(changes, func(m *isa.Mem) { m.Bits &^= bit })
				}
			}
		}
		changes = append(changes, func(m *isa.Mem) { m.Scalar = true })
	case m.Strength == isa.Strong || m.Strength == isa.MMIO:
		if strong || k.Cache == litmus.CacheCG || k.Cache == litmus.CacheCV || k.Cache == litmus.CacheWT {
			changes = append(changes, func(m *isa.Mem) { m.Strength = isa.Weak })
			if k.Scope != litmus.ScopeCTA && m.Scope > isa.ScopeCTA {
				changes = append(changes, func(m *isa.Mem) { m.Scope = isa.ScopeCTA })
			}
		}
	case !atomic && m.Cache != "":
		changes = append(changes, func(m *isa.Mem) { m.Cache = "" })
	}
	return changes
}

// retarget moves the address by one location.
func (m *mutator) retarget(k int, e spec.Entry) {
	in := m.inst(k)
	if in.Mem.Locked {
		return
	}
	step := int64(spec.Stride)
	if m.v.kernel.Spec.Layout == spec.Symbols {
		step = spec.SharedStride
	}
	for i := range in.Args {
		if in.Args[i].Kind != isa.OpdMem {
			continue
		}
		c := clone(m.v.fn)
		x := &c.Insts[m.pos[k]]
		x.Args = slices.Clone(in.Args)
		x.Args[i].Off += step
		m.add("retarget", c, optcheck.Retargeted.ID)
		return
	}
	_ = e
}

// value makes an atomic combine its own address instead of the test's value.
func (m *mutator) value(k int, e spec.Entry) {
	in := m.inst(k)
	if e.Kind.Op != litmus.OpAtom || in.Mem.Locked || len(in.Data) == 0 || len(in.Addrs) == 0 {
		return
	}
	for i := range e.Operands() {
		c := clone(m.v.fn)
		x := &c.Insts[m.pos[k]]
		x.Data = slices.Clone(in.Data)
		if j := i * e.Kind.Width / 4; j < len(x.Data) {
			x.Data[j] = in.Addrs[0]
			m.add("change-value", c, optcheck.ValueChanged.ID)
		}
	}
}

// fence drops a fence, narrows its scope, makes it weaker than sequentially
// consistent, or drops its invalidation.
func (m *mutator) fence(k int, e spec.Entry) {
	in := m.inst(k)
	c := clone(m.v.fn)
	c.Insts[m.pos[k]] = nop(*in)
	m.add("drop-fence", c, optcheck.FenceRemoved.ID, optcheck.FenceWeakened.ID)
	if in.Role != isa.RoleFence {
		return
	}
	if in.Mem.Scope > isa.ScopeCTA && e.Kind.Scope > 1 {
		c := clone(m.v.fn)
		c.Insts[m.pos[k]].Mem.Scope = isa.ScopeCTA
		m.add("weaken-fence", c, optcheck.FenceWeakened.ID)
	}
	sc := e.Kind.Op == litmus.OpMembar || e.Kind.Sem == litmus.SemSC
	invalidate := e.Kind.Op != litmus.OpFenceProxy && e.Kind.Sem != litmus.SemRelease && in.Mem.Scope > isa.ScopeCTA && e.Kind.Scope > litmus.ScopeCTA
	if at, _ := target.Of(m.v.fn.Arch); sc && at.SM >= 70 && in.Mem.Strength == isa.FenceSC {
		c := clone(m.v.fn)
		c.Insts[m.pos[k]].Mem.Strength = isa.FenceAll
		m.add("weaken-fence", c, optcheck.FenceWeakened.ID)
	}
	for i := m.pos[k] + 1; invalidate && i < len(m.v.fn.Insts); i++ {
		x := &m.v.fn.Insts[i]
		if x.Role.IsAccess() || x.Role == isa.RoleFence {
			break
		}
		if x.Role == isa.RoleCache && x.Mem.Invalidate {
			c := clone(m.v.fn)
			c.Insts[i] = nop(*x)
			m.add("drop-invalidate", c, optcheck.FenceWeakened.ID)
			break
		}
	}
}

// deps cuts each dependency: the instruction that masks the loaded value takes
// zero instead; a predicated access loses its predicate.
func (m *mutator) deps() {
	fn := m.v.fn
	for _, d := range m.v.kernel.Spec.Deps {
		from, to := m.pos[d.From], m.pos[d.To]
		if from < 0 || to < 0 || m.v.kernel.Spec.Entries[d.To].IsFence() {
			continue
		}
		if d.Kind == spec.DepCtrl {
			if fn.Insts[to].Guard.Reg.Class == isa.ClassNone || m.chained(d) {
				continue
			}
			c := clone(fn)
			c.Insts[to].Guard = isa.Guard{}
			m.add("cut-control", c, optcheck.ControlChanged.ID, optcheck.DependencyBroken.ID)
			if !m.unread(d.To) {
				c := clone(fn)
				c.Insts[to].Guard.Neg = !c.Insts[to].Guard.Neg
				// Where the stored value is computed under the same predicate, the
				// store now writes another value: then it is the test's no more.
				m.add("invert-control", c, optcheck.ControlChanged.ID, optcheck.Missing.ID)
			}
			continue
		}
		if m.chained(d) {
			continue
		}
		for i := from + 1; i < to; i++ {
			x := &fn.Insts[i]
			if len(x.Micro) == 0 || !overlap(x.Uses, fn.Insts[from].Defs) || x.Role != isa.RoleALU || !masks(x) {
				continue
			}
			c := clone(fn)
			y := &c.Insts[i]
			y.Uses = nil
			y.Micro = slices.Clone(x.Micro)
			for q := range y.Micro {
				y.Micro[q].Src = slices.Clone(y.Micro[q].Src)
				for s := range y.Micro[q].Src {
					if y.Micro[q].Src[s].Kind == isa.OpdReg {
						y.Micro[q].Src[s] = isa.Operand{Kind: isa.OpdReg, Zero: true, Words: 1}
					}
				}
			}
			m.add("cut-dependency", c, optcheck.DependencyBroken.ID)
			break
		}
	}
}

// unread reports whether the checker said that it could not read a condition.
func (m *mutator) unread(k int) bool {
	for _, f := range m.v.result.Notes {
		if f.Rule == optcheck.ConditionUnread.ID && f.Access == k {
			return true
		}
	}
	return false
}

// chained reports whether the pair of accesses is tied by another dependency
// too, directly or through the same kind.
func (m *mutator) chained(d spec.Dep) bool {
	n := 0
	for _, o := range m.v.kernel.Spec.Deps {
		if o.From == d.From && o.To == d.To && o.Kind == d.Kind {
			n++
		}
	}
	return n > 1
}

// masks reports whether an instruction is the and with the high bit.
func masks(in *isa.Inst) bool {
	for i := range in.Args {
		if a := &in.Args[i]; a.Kind == isa.OpdImm && uint32(a.Imm) == 0x80000000 {
			return true
		}
	}
	return false
}

// merges replaces the later of two loads of one location by a copy.
func (m *mutator) merges() {
	es := m.v.kernel.Spec.Entries
	for i := range es {
		for j := i + 1; j < len(es); j++ {
			if es[i].Kind.Op != es[j].Kind.Op || !es[i].Reads() || es[i].Kind.Atom != 0 || es[i].Loc != es[j].Loc ||
				m.pos[i] < 0 || m.pos[j] < 0 {
				continue
			}
			a, b := m.inst(i), m.inst(j)
			if len(a.Defs) != 1 || len(b.Defs) != 1 || a.Guard != b.Guard || m.overwritten(a.Defs[0], m.pos[i], m.pos[j]) {
				continue
			}
			c := clone(m.v.fn)
			cp := nop(*b)
			cp.Op, cp.Text, cp.Role = "MOV", "MOV", isa.RoleALU
			cp.Defs, cp.Uses = b.Defs, a.Defs
			cp.Micro = []isa.Micro{{Op: isa.MicroMov, Dst: b.Defs[0], Src: []isa.Operand{{Kind: isa.OpdReg, Reg: a.Defs[0], Words: 1}}}}
			c.Insts[m.pos[j]] = cp
			m.add("merge", c, optcheck.Merged.ID)
		}
	}
}

func (m *mutator) overwritten(r isa.Reg, from, to int) bool {
	for i := from + 1; i < to; i++ {
		if slices.Contains(m.v.fn.Insts[i].Defs, r) {
			return true
		}
	}
	return false
}
