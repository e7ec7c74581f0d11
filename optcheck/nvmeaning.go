package optcheck

import (
	"slices"

	"optcheck/isa"
	"optcheck/litmus"
)

// Meaning is a row of the table that says how strong a machine instruction is taken to be when machine code is lifted
// back to a litmus test. Every verdict "miscompiled" rests on this table: to question a verdict, begin here.
//
// It takes the strongest reading that the compilers' own mapping supports: if every release compiles ld.acquire.cta
// to a bare LDG.STRONG.SM, then that instruction is an acquire of its CTA, or the compilers would be wrong from the
// start. An access or fence that satisfies its source instruction (no rule is broken there) is lifted to exactly that
// source instruction, which lies between the weakest and this strongest reading. The table decides for all others:
// weakened accesses, weakened or additional fences, additional accesses.
type Meaning struct {
	From     int // lowest sm
	Until    int // highest sm, 0 for no limit
	Roles    []isa.Role
	Shared   bool // shared memory, which has no strengths; else global and generic
	Strength isa.Strength
	Scope    isa.Scope
	Cache    string
	Machine  string // how the machine code spells it
	Sem      litmus.Sem
	To       litmus.Scope
	Op       litmus.CacheOp
	Means    string // how PTX spells it
	Source   string // why
}

var (
	loads   = []isa.Role{isa.RoleLoad}
	stores  = []isa.Role{isa.RoleStore}
	atomics = []isa.Role{isa.RoleAtomic, isa.RoleReduction}
	fences  = []isa.Role{isa.RoleFence}
)

const (
	mapping  = "mapping of ld, st, atom and fence by ptxas 11.2 to 13.0 (optcheck mapping)"
	paper15  = "Alglave et al., GPU Concurrency, ASPLOS 2015, Tab. 5 and Sec. 5: loads and stores with .cg, fences per scope"
	inOrder  = "ptxas emits ld.acquire.cta as this instruction and a wait for it: the threads of a CTA share one L1; without the wait it is relaxed"
	release0 = "ptxas puts MEMBAR.ALL in front of a release store: the store itself is relaxed"
)

// Meanings is the table; the first row that matches counts.
var Meanings = []Meaning{
	// Since sm_70: strengths and scopes (model ptx).
	{From: 70, Roles: loads, Shared: true, Machine: "LDS", Sem: litmus.SemAcquire, To: litmus.ScopeCTA, Means: "ld.acquire.cta.shared",
		Source: inOrder},
	{From: 70, Roles: stores, Shared: true, Machine: "STS", Sem: litmus.SemRelaxed, To: litmus.ScopeCTA, Means: "st.relaxed.cta.shared",
		Source: mapping},
	{From: 70, Roles: atomics, Shared: true, Machine: "ATOMS", Sem: litmus.SemAcquire, To: litmus.ScopeCTA, Means: "atom.acquire.cta.shared",
		Source: inOrder},
	{From: 70, Roles: loads, Strength: isa.Strong, Scope: isa.ScopeCTA, Machine: "LDG.STRONG.CTA, .SM", Sem: litmus.SemAcquire,
		To: litmus.ScopeCTA, Means: "ld.acquire.cta", Source: inOrder},
	{From: 70, Roles: loads, Strength: isa.Strong, Scope: isa.ScopeGPU, Machine: "LDG.STRONG.GPU", Sem: litmus.SemRelaxed, To: litmus.ScopeGPU,
		Means: "ld.relaxed.gpu", Source: mapping},
	{From: 70, Roles: loads, Strength: isa.Strong, Scope: isa.ScopeSys, Machine: "LDG.STRONG.SYS", Sem: litmus.SemRelaxed, To: litmus.ScopeSys,
		Means: "ld.relaxed.sys", Source: mapping},
	{From: 70, Roles: loads, Strength: isa.MMIO, Scope: isa.ScopeSys, Machine: "LDG.MMIO.SYS", Sem: litmus.SemMMIO, To: litmus.ScopeSys,
		Means: "ld.mmio.relaxed.sys", Source: mapping},
	{From: 70, Roles: loads, Machine: "LDG, LDG.CONSTANT, .EF, .LU", Sem: litmus.SemWeak, Means: "ld.weak", Source: mapping},
	{From: 70, Roles: stores, Strength: isa.Strong, Scope: isa.ScopeCTA, Machine: "STG.STRONG.CTA, .SM", Sem: litmus.SemRelaxed,
		To: litmus.ScopeCTA, Means: "st.relaxed.cta", Source: release0},
	{From: 70, Roles: stores, Strength: isa.Strong, Scope: isa.ScopeGPU, Machine: "STG.STRONG.GPU", Sem: litmus.SemRelaxed,
		To: litmus.ScopeGPU, Means: "st.relaxed.gpu", Source: release0},
	{From: 70, Roles: stores, Strength: isa.Strong, Scope: isa.ScopeSys, Machine: "STG.STRONG.SYS", Sem: litmus.SemRelaxed,
		To: litmus.ScopeSys, Means: "st.relaxed.sys", Source: release0},
	{From: 70, Roles: stores, Strength: isa.MMIO, Scope: isa.ScopeSys, Machine: "STG.MMIO.SYS", Sem: litmus.SemMMIO, To: litmus.ScopeSys,
		Means: "st.mmio.relaxed.sys", Source: mapping},
	{From: 70, Roles: stores, Machine: "STG, STG.EF", Sem: litmus.SemWeak, Means: "st.weak", Source: mapping},
	{From: 70, Roles: atomics, Strength: isa.Strong, Scope: isa.ScopeCTA, Machine: "ATOMG.STRONG.CTA, .SM", Sem: litmus.SemAcquire,
		To: litmus.ScopeCTA, Means: "atom.acquire.cta", Source: inOrder},
	{From: 70, Roles: atomics, Strength: isa.Strong, Scope: isa.ScopeGPU, Machine: "ATOMG.STRONG.GPU", Sem: litmus.SemRelaxed,
		To: litmus.ScopeGPU, Means: "atom.relaxed.gpu", Source: mapping},
	{From: 70, Roles: atomics, Strength: isa.Strong, Scope: isa.ScopeSys, Machine: "ATOMG.STRONG.SYS", Sem: litmus.SemRelaxed,
		To: litmus.ScopeSys, Means: "atom.relaxed.sys", Source: mapping},
	// An atomic without strength is single-copy atomic and atomic at least within its CTA.
	{From: 70, Roles: atomics, Machine: "ATOMG", Sem: litmus.SemRelaxed, To: litmus.ScopeCTA, Means: "atom.relaxed.cta", Source: mapping},
	{From: 70, Roles: fences, Strength: isa.FenceSC, Scope: isa.ScopeCTA, Machine: "MEMBAR.SC.CTA", Sem: litmus.SemSC, To: litmus.ScopeCTA,
		Means: "fence.sc.cta", Source: mapping},
	{From: 70, Roles: fences, Strength: isa.FenceSC, Scope: isa.ScopeGPU, Machine: "MEMBAR.SC.GPU", Sem: litmus.SemSC, To: litmus.ScopeGPU,
		Means: "fence.sc.gpu", Source: mapping},
	{From: 70, Roles: fences, Strength: isa.FenceSC, Scope: isa.ScopeSys, Machine: "MEMBAR.SC.SYS", Sem: litmus.SemSC, To: litmus.ScopeSys,
		Means: "fence.sc.sys", Source: mapping},
	{From: 70, Roles: fences, Strength: isa.FenceAll, Scope: isa.ScopeCTA, Machine: "MEMBAR.ALL.CTA", Sem: litmus.SemAcqRel,
		To: litmus.ScopeCTA, Means: "fence.acq_rel.cta", Source: mapping},
	{From: 70, Roles: fences, Strength: isa.FenceAll, Scope: isa.ScopeGPU, Machine: "MEMBAR.ALL.GPU", Sem: litmus.SemAcqRel,
		To: litmus.ScopeGPU, Means: "fence.acq_rel.gpu", Source: mapping},
	{From: 70, Roles: fences, Strength: isa.FenceAll, Scope: isa.ScopeSys, Machine: "MEMBAR.ALL.SYS", Sem: litmus.SemAcqRel,
		To: litmus.ScopeSys, Means: "fence.acq_rel.sys", Source: mapping},

	// Before sm_70: cache operators and MEMBAR (model ptx-2015).
	{Until: 69, Roles: loads, Cache: "CG", Machine: "LD.CG", Op: litmus.CacheCG, Means: "ld.cg", Source: paper15},
	{Until: 69, Roles: loads, Cache: "CV", Machine: "LD.CV", Sem: litmus.SemVolatile, Means: "ld.volatile", Source: mapping},
	{Until: 69, Roles: loads, Shared: true, Machine: "LDS", Means: "ld.shared", Source: paper15},
	{Until: 69, Roles: loads, Machine: "LD, LDG and other cache operators", Means: "ld", Source: paper15},
	{Until: 69, Roles: stores, Cache: "CG", Machine: "ST.CG", Op: litmus.CacheCG, Means: "st.cg", Source: paper15},
	{Until: 69, Roles: stores, Cache: "WT", Machine: "ST.WT", Sem: litmus.SemVolatile, Means: "st.volatile", Source: mapping},
	{Until: 69, Roles: stores, Shared: true, Machine: "STS", Means: "st.shared", Source: paper15},
	{Until: 69, Roles: stores, Machine: "ST, STG and other cache operators", Means: "st", Source: paper15},
	{Until: 69, Roles: atomics, Shared: true, Machine: "ATOMS, LDSLK … STSCUL", Means: "atom.shared", Source: paper15},
	{Until: 69, Roles: atomics, Machine: "ATOM, RED", Means: "atom", Source: paper15},
	{Until: 69, Roles: fences, Strength: isa.FenceSC, Scope: isa.ScopeCTA, Machine: "MEMBAR.CTA", To: litmus.ScopeCTA, Means: "membar.cta",
		Source: paper15},
	{Until: 69, Roles: fences, Strength: isa.FenceSC, Scope: isa.ScopeGPU, Machine: "MEMBAR.GL", To: litmus.ScopeGPU, Means: "membar.gl",
		Source: paper15},
	{Until: 69, Roles: fences, Strength: isa.FenceSC, Scope: isa.ScopeSys, Machine: "MEMBAR.SYS", To: litmus.ScopeSys, Means: "membar.sys",
		Source: paper15},
}

// invalidateMeans is the meaning of an L1 invalidation (CCTL.IVALL) that belongs to no fence. Since sm_70 it is what
// follows an acquire load, and what ptxas 12.8 and newer emit for fence.acquire. Before, the model of 2015 has no
// word for it and it is left out, which can only make the lifted test weaker.
const invalidateMeans = litmus.SemAcquire

// meaning looks up an access or fence in the table.
func (a nvidia) meaning(role isa.Role, m isa.Mem) (*Meaning, bool) {
	shared := m.Space == isa.SpaceShared
	for i := range Meanings {
		r := &Meanings[i]
		if a.sm < r.From || r.Until > 0 && a.sm > r.Until || !slices.Contains(r.Roles, role) || shared != r.Shared {
			continue
		}
		if shared && a.sm >= 70 {
			return r, true
		}
		if a.sm >= 70 && r.Strength == isa.Weak && (m.Strength == isa.Weak || m.Strength == isa.Constant) {
			return r, true
		}
		if r.Strength != m.Strength || r.Scope != m.Scope || r.Cache != "" && r.Cache != m.Cache {
			continue
		}
		return r, true
	}
	return nil, false
}
