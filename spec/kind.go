package spec

import (
	"fmt"
	"strings"

	"optcheck/litmus"
)

// The kinds are numbered densely in the fixed order of the loops below, so
// that an access fits 11 bits and a fence 6. The order is part of the
// encoding: see Version.

var (
	accessKinds []Kind
	accessCodes map[Kind]uint32
	fenceKinds  []Kind
	fenceCodes  map[Kind]uint32
)

type order struct {
	sem   litmus.Sem
	scope litmus.Scope
	cache litmus.CacheOp
}

var scopes = []litmus.Scope{litmus.ScopeCTA, litmus.ScopeCluster, litmus.ScopeGPU, litmus.ScopeSys}

func scoped(sems ...litmus.Sem) (out []order) {
	for _, s := range sems {
		for _, sc := range scopes {
			out = append(out, order{sem: s, scope: sc})
		}
	}
	return out
}

func cached(ops ...litmus.CacheOp) (out []order) {
	for _, c := range ops {
		out = append(out, order{cache: c})
	}
	return out
}

func init() {
	plain := []order{{}, {sem: litmus.SemVolatile}, {sem: litmus.SemMMIO, scope: litmus.ScopeSys}}
	loads := append(append(append([]order{}, plain...),
		cached(litmus.CacheCA, litmus.CacheCG, litmus.CacheCS, litmus.CacheLU, litmus.CacheCV)...),
		scoped(litmus.SemRelaxed, litmus.SemAcquire)...)
	stores := append(append(append([]order{}, plain...),
		cached(litmus.CacheWB, litmus.CacheCG, litmus.CacheCS, litmus.CacheWT)...),
		scoped(litmus.SemRelaxed, litmus.SemRelease)...)
	atoms := append([]order{{}}, scoped(litmus.SemNone, litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease, litmus.SemAcqRel)...)
	for _, sem := range []litmus.Sem{litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease, litmus.SemAcqRel} {
		atoms = append(atoms, order{sem: sem}) // an omitted scope means .gpu
	}
	spaces := []litmus.Space{litmus.Global, litmus.Shared}
	add := func(op litmus.Op, atom litmus.AtomOp, orders []order, widths ...int) {
		for _, o := range orders {
			for _, sp := range spaces {
				for _, w := range widths {
					accessKinds = append(accessKinds, Kind{Op: op, Atom: atom, Sem: o.sem, Scope: o.scope, Cache: o.cache, Space: sp, Width: w})
				}
			}
		}
	}
	add(litmus.OpLd, 0, loads, 1, 2, 4, 8)
	add(litmus.OpSt, 0, stores, 1, 2, 4, 8)
	for a := litmus.AtomAdd; a <= litmus.AtomMax; a++ {
		add(litmus.OpAtom, a, atoms, 4, 8)
	}
	for a := litmus.AtomAdd; a <= litmus.AtomMax; a++ {
		if a != litmus.AtomExch && a != litmus.AtomCAS {
			add(litmus.OpRed, a, atoms, 4, 8)
		}
	}
	for _, o := range append(scoped(litmus.SemSC, litmus.SemAcqRel, litmus.SemAcquire, litmus.SemRelease),
		order{sem: litmus.SemSC}, order{sem: litmus.SemAcqRel}) {
		fenceKinds = append(fenceKinds, Kind{Op: litmus.OpFence, Sem: o.sem, Scope: o.scope})
	}
	for _, sc := range []litmus.Scope{litmus.ScopeCTA, litmus.ScopeGPU, litmus.ScopeSys} {
		fenceKinds = append(fenceKinds, Kind{Op: litmus.OpMembar, Scope: sc})
	}
	for p := litmus.ProxyGeneric; p <= litmus.ProxyAlias; p++ {
		fenceKinds = append(fenceKinds, Kind{Op: litmus.OpFenceProxy, Proxy: p})
	}
	for id := 0; id < 16; id++ {
		fenceKinds = append(fenceKinds, Kind{Op: litmus.OpBar, Barrier: id}, Kind{Op: litmus.OpBar, Barrier: id, Arrive: true})
	}
	addOpenCL()
	accessCodes = index(accessKinds)
	fenceCodes = index(fenceKinds)
}

// addOpenCL adds what only OpenCL has: sequentially consistent accesses, counting by one, and
// the fences of OpenCL 1.2 by the memory that they order (for both memories, mem_fence has the
// code of fence.acq_rel without scope; the other two have none). The access codes are those of
// 8- and 16-bit loads and stores, which no kernel in audit form has: markers hold words.
func addOpenCL() {
	var more []Kind
	scopes := []litmus.Scope{litmus.ScopeCTA, litmus.ScopeGPU, litmus.ScopeSys}
	spaces := []litmus.Space{litmus.Global, litmus.Shared}
	sc := func(op litmus.Op, atom litmus.AtomOp) {
		for _, s := range scopes {
			for _, sp := range spaces {
				for _, w := range []int{4, 8} {
					more = append(more, Kind{Op: op, Atom: atom, Sem: litmus.SemSC, Scope: s, Space: sp, Width: w})
				}
			}
		}
	}
	sc(litmus.OpLd, litmus.AtomNone)
	sc(litmus.OpSt, litmus.AtomNone)
	for a := litmus.AtomAdd; a <= litmus.AtomMax; a++ {
		if a != litmus.AtomInc && a != litmus.AtomDec {
			sc(litmus.OpAtom, a)
		}
	}
	for _, a := range []litmus.AtomOp{litmus.AtomIncOne, litmus.AtomDecOne} {
		for _, sp := range spaces {
			more = append(more, Kind{Op: litmus.OpAtom, Atom: a, Space: sp, Width: 4})
		}
	}
	for i, k := range accessKinds {
		if k.Width < 4 && len(more) > 0 {
			accessKinds[i], more = more[0], more[1:]
		}
	}
	if len(more) > 0 {
		panic("spec: more OpenCL accesses than codes")
	}
	for _, s := range []litmus.Sem{litmus.SemAcqRel, litmus.SemAcquire, litmus.SemRelease} {
		for _, sp := range spaces {
			fenceKinds = append(fenceKinds, Kind{Op: litmus.OpFence, Sem: s, Space: sp})
		}
	}
}

func index(ks []Kind) map[Kind]uint32 {
	m := make(map[Kind]uint32, len(ks))
	for i, k := range ks {
		m[k] = uint32(i)
	}
	return m
}

// KindOf returns the kind of an access or fence instruction. Space is the
// state space of the location that it accesses.
func KindOf(in *litmus.Instr, space litmus.Space) Kind {
	k := Kind{Op: in.Op}
	switch in.Op {
	case litmus.OpFence:
		k.Sem, k.Scope = in.Order(), in.Scope
		if k.Scope == litmus.ScopeNone {
			k.Space = in.Space
		}
	case litmus.OpMembar:
		k.Scope = in.Scope
	case litmus.OpFenceProxy:
		k.Proxy = in.Proxy
	case litmus.OpBar:
		k.Barrier, k.Arrive = -1, in.Barrier.Arrive // -1: not a constant, no code
		if in.Barrier.ID.Kind == litmus.OperandConst {
			k.Barrier = int(in.Barrier.ID.Value)
		}
	default:
		k.Atom, k.Sem, k.Scope, k.Cache = in.Atom, in.Sem, in.Scope, in.Cache
		if k.Sem == litmus.SemWeak {
			k.Sem = litmus.SemNone // a plain access is .weak
		}
		if k.Sem == litmus.SemMMIO {
			k.Scope = litmus.ScopeSys
		}
		k.Space, k.Width = space, in.Type.Bits()/8
	}
	return k
}

// Names of the fences of OpenCL 1.2.
var (
	memFences = map[litmus.Sem]string{litmus.SemAcqRel: "mem_fence", litmus.SemAcquire: "read_mem_fence", litmus.SemRelease: "write_mem_fence"}
	memFlags  = map[litmus.Space]string{litmus.Global: "global", litmus.Shared: "local", litmus.Generic: "local|global"}
)

// String formats the kind as PTX does, without type: ld.relaxed.gpu.global. The fences of
// OpenCL 1.2, which have no scope, keep their names: mem_fence(global).
func (k Kind) String() string {
	var b strings.Builder
	dot := func(s string) {
		if s != "" {
			b.WriteByte('.')
			b.WriteString(s)
		}
	}
	switch k.Op {
	case litmus.OpFence:
		if name := memFences[k.Sem]; k.Scope == litmus.ScopeNone && name != "" {
			return name + "(" + memFlags[k.Space] + ")"
		}
		b.WriteString("fence")
		dot(k.Sem.String())
		dot(k.Scope.String())
		return b.String()
	case litmus.OpMembar:
		return "membar." + map[litmus.Scope]string{litmus.ScopeCTA: "cta", litmus.ScopeGPU: "gl", litmus.ScopeSys: "sys"}[k.Scope]
	case litmus.OpFenceProxy:
		return "fence.proxy." + k.Proxy.String()
	case litmus.OpBar:
		if k.Arrive {
			return fmt.Sprintf("bar.arrive %d", k.Barrier)
		}
		return fmt.Sprintf("bar.sync %d", k.Barrier)
	case litmus.OpLd:
		b.WriteString("ld")
	case litmus.OpSt:
		b.WriteString("st")
	case litmus.OpAtom:
		b.WriteString("atom")
	case litmus.OpRed:
		b.WriteString("red")
	}
	if k.Sem != litmus.SemNone {
		dot(k.Sem.String())
	}
	if k.Sem == litmus.SemMMIO {
		dot("relaxed")
	}
	if k.Scope != litmus.ScopeNone {
		dot(k.Scope.String())
	}
	if k.Space != litmus.Generic {
		dot(k.Space.String())
	}
	if k.Cache != litmus.CacheNone {
		dot(k.Cache.String())
	}
	if k.Atom != litmus.AtomNone {
		dot(k.Atom.String())
	}
	return b.String()
}
