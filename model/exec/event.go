package exec

import "optcheck/litmus"

// Kind is the kind of an event.
type Kind uint8

// The kinds of event.
const (
	Write Kind = iota
	Read
	Fence
	Barrier
	Issue // of an asynchronous operation, or a wait for some
	Sync  // at an mbarrier, or the barrier of a cluster
)

// Event is one event of an execution. Initial writes have thread -1.
type Event struct {
	Kind   Kind
	Thread int16
	Instr  int16 // index in the thread's body, -1 for initial writes
	Loc    int16 // cell accessed (aliases resolved), -1 without one; see cells.go
	VLoc   int16 // cell by whose generic address it is accessed
	// Sem is the strength after defaults: weak, relaxed, acquire, release for
	// reads and writes; acquire, release, acq_rel, sc for fences; none else.
	Sem   litmus.Sem
	Scope litmus.Scope // ScopeNone for weak accesses
	Proxy litmus.Proxy
	Cache litmus.CacheOp
	// Volatile, Red, Membar and SC say how the instruction was written; SC is for sequentially
	// consistent accesses, whose Sem is acquire or release.
	Volatile, Red, Membar, SC bool
	Arrive                    bool  // bar.arrive
	Partner                   int16 // other half of an rmw, else -1
	BarID, Quorum             int64 // Quorum 0: not written
	Warps                     bool  // Quorum counts warps
	Bits                      int16 // width of an access
	Off                       int16 // where it begins in its location, in bytes
	Op                        int16 // number of the operation on its path
	Group                     int16 // number of the access, of which there may be several operations; 0 for none
	// Async: through the async proxy, or a fence of it. Agent: performed as if by another thread, and
	// so not in program order.
	Async, Agent bool
	Passes       bool           // passes a value between threads without memory: see together.go
	Only         litmus.Objects // of a fence
	OneWay       litmus.Sem     // a fence from the generic to the async proxy: its half
	Role         Role           // of kind Sync
	Obj          int16          // the mbarrier's location; -1 for barriers of clusters
	Count, Bytes int64          // arrivals; bytes that are expected, or have arrived (negative)
	Drop         bool           // later phases expect the arrivals no more
	Token        int16          // of a wait: the arrival that returned its token, -1
	Parity       int8           // of a wait, -1

	val              value
	addr, data, ctrl uint64 // reads of the path that the event depends on
	global           int16  // number in the graph
}

// access sets the strength and the scope of an access.
func (e *Event) access(in *litmus.Instr) {
	atomic := in.Op == litmus.OpAtom || in.Op == litmus.OpRed
	e.Cache, e.Red = in.Cache, in.Op == litmus.OpRed
	e.Volatile = in.Sem == litmus.SemVolatile
	e.SC = in.Sem == litmus.SemSC
	e.Scope = in.Scope
	switch in.Sem {
	case litmus.SemNone, litmus.SemWeak:
		e.Sem = litmus.SemWeak
		if atomic {
			e.Sem = litmus.SemRelaxed
		}
	case litmus.SemVolatile, litmus.SemMMIO:
		e.Sem, e.Scope = litmus.SemRelaxed, litmus.ScopeSys
	case litmus.SemAcqRel, litmus.SemSC:
		if e.Sem = litmus.SemAcquire; e.Kind == Write {
			e.Sem = litmus.SemRelease
		}
	case litmus.SemAcquire:
		if e.Sem = litmus.SemAcquire; e.Kind == Write {
			e.Sem = litmus.SemRelaxed
		}
	case litmus.SemRelease:
		if e.Sem = litmus.SemRelease; e.Kind == Read {
			e.Sem = litmus.SemRelaxed
		}
	default:
		e.Sem = litmus.SemRelaxed
	}
	switch {
	case e.Sem == litmus.SemWeak:
		e.Scope = litmus.ScopeNone
	case e.Scope == litmus.ScopeNone:
		e.Scope = litmus.ScopeGPU
	}
}

// fence sets the attributes of a fence: membar is fence.sc, a bare fence acq_rel.
func (e *Event) fence(in *litmus.Instr) {
	e.Proxy = litmus.ProxyGeneric
	switch in.Op {
	case litmus.OpFenceProxy:
		e.Proxy = in.Proxy
		return
	case litmus.OpMembar:
		e.Membar, e.Sem, e.Scope = true, litmus.SemSC, in.Scope
	default:
		e.Sem, e.Scope = in.Sem, in.Scope
		if e.Sem == litmus.SemNone {
			e.Sem = litmus.SemAcqRel
		}
	}
	if e.Scope == litmus.ScopeNone {
		e.Scope = litmus.ScopeGPU
	}
}
