package optcheck

import (
	"optcheck/isa"
	"optcheck/model/amdhw"
	"optcheck/target"
)

// This file describes AMD's memory systems: the generation of each target, what its caches and counters do, and which
// instructions make up a synchronising access or fence of each scope. It holds facts only; the checks that use them
// are in amdorder.go and amdstrength.go.
//
// Sources. GCN to RDNA4: LLVM's "User Guide for AMDGPU Backend", section "Memory Model", one table per generation
// (GFX6-GFX9, GFX90A, GFX942, GFX10-GFX11, GFX12). Write-backs of GFX12: the notes of SIMemoryLegalizer; below system
// scope (below agent scope on gfx125x) global_wb does nothing and newer releases leave it out. TeraScale: AMD's
// Evergreen family ISA document, chapters on clauses and on memory writes (WAIT_ACK); LLVM publishes no memory model
// for r600.

// amdModel is the memory system of a family.
type amdModel struct {
	// load, store and atomic give, by scope, the cache-policy bits of an atomic access (relaxed or stronger) to
	// global memory. An access must have all of the bits, or name a scope at least as wide.
	load, store, atomic [4]amdBits
	// volatileLoad and volatileStore are the same for volatile accesses.
	volatileLoad, volatileStore amdBits
	// acquire lists, by scope, the cache invalidations that follow an acquire load (once it is complete) or belong to
	// an acquire fence; release lists the write-backs before a release store (and before its wait). Invalidations are
	// in this order, the more distant cache first: otherwise the nearer one may be refilled with the other's stale
	// lines (LLVM 19 corrected this for GFX10 and GFX11, github.com/llvm/llvm-project/pull/81450).
	acquire, release [4][]amdCacheOp
	// sharedL1 is set if the waves of a work-group share one first-level cache that performs their vector accesses in
	// order: between threads of a work-group, vector accesses then need no wait.
	sharedL1 bool
	// flatInOrder is set if FLAT instructions complete in order with the other operations of both their counters
	// (hasFlatLgkmVMemCountInOrder of LLVM's GCNSubtarget). Without it, only FLAT instructions whose address is in
	// global memory do.
	flatInOrder bool
	// expWAR is set if a vector store reads its data late: its registers must not be overwritten before expcnt
	// permits it.
	expWAR bool
	// clauses is set if ordering comes from clauses and acknowledgements
	// instead of counters (TeraScale).
	clauses bool
	// hardware is this memory system in package amdhw; its name is empty if amdhw has no model of it.
	hardware amdhw.System
	// loads, stores, lds and scalar name, for messages, the instruction that waits for each kind of access.
	loads, stores, lds, scalar string
}

// amdBits is what an access must carry: all of the bits or, where the instruction set names scopes, at least the
// scope.
type amdBits struct {
	bits  isa.CacheBits
	scope isa.Scope
}

// amdCacheOp is a cache operation: any of the named instructions with at least this scope. The scope is the one that
// the decoder gives the instruction.
type amdCacheOp struct {
	ops    []string
	scope  isa.Scope
	writes bool // a write-back; else an invalidation
}

func inv(scope isa.Scope, ops ...string) amdCacheOp { return amdCacheOp{ops: ops, scope: scope} }
func wb(scope isa.Scope, ops ...string) amdCacheOp {
	return amdCacheOp{ops: ops, scope: scope, writes: true}
}

// byScope builds a table indexed by scope: 0 no scope (or a wave), then work-group, agent, system.
func byScope(group, agent, system amdBits) [4]amdBits {
	return [4]amdBits{1: group, 2: agent, 3: system}
}

// Indices of the scopes in the tables.
const (
	amdNone = iota
	amdGroup
	amdAgent
	amdSystem
)

func amdScope(s isa.Scope) int {
	switch s {
	case isa.ScopeCTA:
		return amdGroup
	case isa.ScopeCluster, isa.ScopeGPU:
		return amdAgent
	case isa.ScopeSys:
		return amdSystem
	}
	return amdNone
}

var (
	glc    = amdBits{bits: isa.BitGLC}
	glcDLC = amdBits{bits: isa.BitGLC | isa.BitDLC}
	l1     = []string{"buffer_wbinvl1_vol", "buffer_wbinvl1"}
)

func spelled(s isa.Scope) amdBits { return amdBits{scope: s} }

// allSpelled requires the scope itself.
var allSpelled = byScope(spelled(isa.ScopeCTA), spelled(isa.ScopeGPU), spelled(isa.ScopeSys))

// gcn is the memory system of GCN from Sea Islands to Vega, and of CDNA 1.
var gcn = amdModel{
	hardware: amdhw.System{Name: "GFX7-GFX9", SharedL1: true},
	load:     byScope(amdBits{}, glc, glc), volatileLoad: glc,
	acquire:  [4][]amdCacheOp{amdAgent: {inv(isa.ScopeGPU, l1...)}, amdSystem: {inv(isa.ScopeGPU, l1...)}},
	sharedL1: true,
	loads:    "s_waitcnt vmcnt(0)", stores: "s_waitcnt vmcnt(0)", lds: "s_waitcnt lgkmcnt(0)", scalar: "s_waitcnt lgkmcnt(0)",
}

// amdModels maps each family to its memory system.
var amdModels = map[target.Family]*amdModel{
	// Fetches go through a read-only cache that no instruction invalidates; writes are complete when acknowledged.
	target.TeraScale: {clauses: true, loads: "clause boundary", stores: "WAIT_ACK", lds: "clause boundary", scalar: "clause boundary"},

	// The waves of a work-group share one write-through vector L1. Nothing keeps the scalar cache coherent. There is
	// one L2.
	target.GFX6: {
		hardware: amdhw.System{Name: "GFX6", SharedL1: true},
		load:     byScope(amdBits{}, glc, glc), volatileLoad: glc,
		acquire:  [4][]amdCacheOp{amdAgent: {inv(isa.ScopeGPU, "buffer_wbinvl1")}, amdSystem: {inv(isa.ScopeGPU, "buffer_wbinvl1")}},
		sharedL1: true, expWAR: true,
		loads: "s_waitcnt vmcnt(0)", stores: "s_waitcnt vmcnt(0)", lds: "s_waitcnt lgkmcnt(0)", scalar: "s_waitcnt lgkmcnt(0)",
	},
	target.GFX7: &gcn, target.GFX8: &gcn, target.GFX9: &gcn,
	// As before, but other agents may have their own L2: system scope writes it back and invalidates it.
	target.GFX90A: {
		hardware: amdhw.System{Name: "GFX90A", SharedL1: true},
		load:     byScope(amdBits{}, glc, glc), volatileLoad: glc,
		acquire:  [4][]amdCacheOp{amdAgent: {inv(isa.ScopeGPU, l1...)}, amdSystem: {inv(isa.ScopeSys, "buffer_invl2"), inv(isa.ScopeGPU, l1...)}},
		release:  [4][]amdCacheOp{amdSystem: {wb(isa.ScopeSys, "buffer_wbl2")}},
		sharedL1: true,
		loads:    "s_waitcnt vmcnt(0)", stores: "s_waitcnt vmcnt(0)", lds: "s_waitcnt lgkmcnt(0)", scalar: "s_waitcnt lgkmcnt(0)",
	},
	// One agent may have several L2s: agent scope writes back too. sc0 and sc1 name the scope, on atomics sc1 alone.
	target.GFX940: {
		hardware:     amdhw.System{Name: "GFX942", SharedL1: true, Middle: true, WriteBack: true},
		load:         allSpelled,
		store:        allSpelled,
		atomic:       byScope(amdBits{}, amdBits{}, spelled(isa.ScopeSys)),
		volatileLoad: spelled(isa.ScopeSys), volatileStore: spelled(isa.ScopeSys),
		acquire:  [4][]amdCacheOp{amdAgent: {inv(isa.ScopeGPU, "buffer_inv")}, amdSystem: {inv(isa.ScopeSys, "buffer_inv")}},
		release:  [4][]amdCacheOp{amdAgent: {wb(isa.ScopeGPU, "buffer_wbl2")}, amdSystem: {wb(isa.ScopeSys, "buffer_wbl2")}},
		sharedL1: true,
		loads:    "s_waitcnt vmcnt(0)", stores: "s_waitcnt vmcnt(0)", lds: "s_waitcnt lgkmcnt(0)", scalar: "s_waitcnt lgkmcnt(0)",
	},
	// A work-group may run on two CUs with an L0 each (WGP mode, the default). Each shader array has an L1. Stores
	// have a counter of their own.
	target.GFX10: {
		hardware:    amdhw.System{Name: "GFX10", Middle: true},
		flatInOrder: true,
		load:        byScope(glc, glcDLC, glcDLC), volatileLoad: glcDLC,
		acquire: [4][]amdCacheOp{
			amdGroup:  {inv(isa.ScopeCTA, "buffer_gl0_inv")},
			amdAgent:  {inv(isa.ScopeGPU, "buffer_gl1_inv"), inv(isa.ScopeCTA, "buffer_gl0_inv")},
			amdSystem: {inv(isa.ScopeGPU, "buffer_gl1_inv"), inv(isa.ScopeCTA, "buffer_gl0_inv")},
		},
		loads: "s_waitcnt vmcnt(0)", stores: "s_waitcnt_vscnt null, 0x0", lds: "s_waitcnt lgkmcnt(0)", scalar: "s_waitcnt lgkmcnt(0)",
	},
	target.GFX11: {
		hardware:    amdhw.System{Name: "GFX11", Middle: true},
		flatInOrder: true,
		load:        byScope(glc, glc, glc), volatileLoad: glcDLC, volatileStore: amdBits{bits: isa.BitDLC},
		acquire: [4][]amdCacheOp{
			amdGroup:  {inv(isa.ScopeCTA, "buffer_gl0_inv")},
			amdAgent:  {inv(isa.ScopeGPU, "buffer_gl1_inv"), inv(isa.ScopeCTA, "buffer_gl0_inv")},
			amdSystem: {inv(isa.ScopeGPU, "buffer_gl1_inv"), inv(isa.ScopeCTA, "buffer_gl0_inv")},
		},
		loads: "s_waitcnt vmcnt(0)", stores: "s_waitcnt_vscnt null, 0x0", lds: "s_waitcnt lgkmcnt(0)", scalar: "s_waitcnt lgkmcnt(0)",
	},
	target.GFX12: {
		hardware:     amdhw.System{Name: "GFX12", Middle: true},
		flatInOrder:  true,
		load:         allSpelled,
		store:        allSpelled,
		atomic:       allSpelled,
		volatileLoad: spelled(isa.ScopeSys), volatileStore: spelled(isa.ScopeSys),
		acquire: globalInv, release: [4][]amdCacheOp{amdSystem: {wb(isa.ScopeSys, "global_wb")}},
		loads: "s_wait_loadcnt 0x0", stores: "s_wait_storecnt 0x0", lds: "s_wait_dscnt 0x0", scalar: "s_wait_kmcnt 0x0",
	},
	target.GFX125: {
		flatInOrder:  true,
		load:         allSpelled,
		store:        allSpelled,
		atomic:       allSpelled,
		volatileLoad: spelled(isa.ScopeSys), volatileStore: spelled(isa.ScopeSys),
		acquire: globalInv,
		release: [4][]amdCacheOp{amdAgent: {wb(isa.ScopeGPU, "global_wb")}, amdSystem: {wb(isa.ScopeSys, "global_wb")}},
		loads:   "s_wait_loadcnt 0x0", stores: "s_wait_storecnt 0x0", lds: "s_wait_dscnt 0x0", scalar: "s_wait_kmcnt 0x0",
	},
}

var globalInv = [4][]amdCacheOp{
	amdGroup:  {inv(isa.ScopeCTA, "global_inv")},
	amdAgent:  {inv(isa.ScopeGPU, "global_inv")},
	amdSystem: {inv(isa.ScopeSys, "global_inv")},
}

// scalarInv is what a later scalar load needs in addition: the scalar cache is not coherent, and no invalidation of
// the vector caches reaches it. LLVM uses scalar loads only for memory that it believes constant during the kernel.
var scalarInv = inv(isa.ScopeNone, "s_dcache_inv")
