package litmus

import (
	"slices"
)

// Asynchronous operations, mbarriers and barriers of clusters (PTX ISA, Asynchronous Operations; Data
// Movement: Asynchronous copy; Parallel Synchronization: mbarrier, barrier.cluster, fence.proxy). Their
// mnemonics are fixed words, of which a table lists each that litmus tests have.

// AsyncKind is what an instruction with OpAsync does.
type AsyncKind uint8

// The kinds.
const (
	AsyncNone        AsyncKind = iota
	AsyncCopy                  // cp.async: Addr, More[0], Src[0] bytes
	AsyncCommit                // cp.async.commit_group
	AsyncWait                  // cp.async.wait_group Src[0], or wait_all
	AsyncCopyArrive            // cp.async.mbarrier.arrive: Addr
	BulkCopy                   // cp.async.bulk: Addr, More[0], Src[0] bytes, and the mbarrier More[1] or a bulk group
	BulkCommit                 // cp.async.bulk.commit_group
	BulkWait                   // cp.async.bulk.wait_group Src[0]
	MbarArrive                 // Dst (the phase's token, or "_"), Addr, and a count or bytes Src[0]
	MbarExpect                 // mbarrier.expect_tx: Addr, Src[0] bytes
	MbarWait                   // test_wait, try_wait: Dst, Addr, Src[0] (a token, or a parity)
	ClusterArrive              // barrier.cluster.arrive
	ClusterWait                // barrier.cluster.wait
	AsyncProxyFence            // fence.proxy.async, perhaps of one state space (Only)
	MbarComplete               // mbarrier.complete_tx: Addr, Src[0] bytes
	StoreAsync                 // st.async: Addr, Src (Type), and the mbarrier More[0]
	ReduceAsync                // red.async: Addr, Src[0] (Atom, Type), and the mbarrier More[0]
	RestrictedFence            // fence.SEM.sync_restrict: of accesses of some objects (Only)
	OneWayProxyFence           // fence.proxy.async::generic.SEM.sync_restrict: from the generic to the async proxy (Only)
	InitFence                  // fence.mbarrier_init: of initialisations alone, which tests do not have
	GridControl                // griddepcontrol: of other launches, which tests do not have
)

// Objects says of which objects a fence orders the accesses.
type Objects uint8

// The objects: all; those in global memory; those in the shared memory of the own CTA; of the cluster.
const (
	AllObjects Objects = iota
	GlobalObjects
	SharedCTA
	SharedCluster
)

// AsyncForm is a mnemonic of an asynchronous operation and what it says.
type AsyncForm struct {
	Name  string
	Kind  AsyncKind
	Sem   Sem
	Scope Scope
	// Operands are d (destination), a (address), s (source), v (a value, of Type; Vector of them in braces), p (predicate), and
	// ? before one that may be left out.
	Operands string
	Vector   int
	Type     Type
	Atom     AtomOp
	Only     Objects
	Group    Group // of an operation of several threads, and the type of its result
	To       Type
	Drop     bool // of an arrival: later phases expect it no more
	Expect   bool // Src[0] of an arrival is a number of bytes, which the mbarrier expects
	Parity   bool // of a wait: Src[0] is a parity
	Read     bool // of a wait for bulk groups: for what they read alone
	All      bool // of a wait for groups: for all copies, committed or not
	NoInc    bool // of cp.async.mbarrier.arrive: it is one of the arrivals that the mbarrier expects
	PTX, SM  int  // version and first target that have it
}

// FormNamed returns the form with a mnemonic. It is shared, and must not be changed.
func FormNamed(name string) (*AsyncForm, bool) {
	f, ok := asyncByName[name]
	return f, ok
}

// AsyncForms lists the mnemonics, sorted.
func AsyncForms() []AsyncForm { return slices.Clone(asyncForms) }

// since returns the first version and target that have the instruction: an arrival of several has later ones.
func (in *Instr) since() (ptx, sm int) {
	f := in.Async
	switch {
	case f.Kind == MbarArrive && !f.Expect && len(in.Src) > 0:
		return max(f.PTX, 78), max(f.SM, 90)
	case in.Dst == "_":
		return max(f.PTX, 71), f.SM
	}
	return f.PTX, f.SM
}

// Extended reports whether the test has operations that only the tables of fixed words list: asynchronous ones, vectors,
// non-coherent loads, accesses of 128 bits and of floating point.
func (t *Test) Extended() bool {
	return slices.ContainsFunc(t.Threads, func(th Thread) bool {
		return slices.ContainsFunc(th.Body, func(in Instr) bool { return in.Op == OpAsync || in.Word != nil })
	})
}

// Bytes returns the number of bytes that a copy or an asynchronous store moves, or that an arrival expects; 0 for others.
func (in *Instr) Bytes() int64 {
	if f := in.Async; f != nil && (f.Kind == StoreAsync || f.Kind == ReduceAsync) {
		return int64(len(in.Src) * f.Type.Bits() / 8)
	}
	if f := in.Async; f != nil && len(in.Src) > 0 && in.Src[0].Kind == OperandConst &&
		(f.Copies() || f.Kind == MbarExpect || f.Kind == MbarComplete || f.Expect) {
		return in.Src[0].Value
	}
	return 0
}

// Mbarrier returns the address of the mbarrier that an operation is about.
func (in *Instr) Mbarrier() (Addr, bool) {
	if in.Async == nil {
		return Addr{}, false
	}
	switch in.Async.Kind {
	case AsyncCopyArrive, MbarArrive, MbarExpect, MbarComplete, MbarWait:
		return in.Addr, true
	case StoreAsync, ReduceAsync:
		if len(in.More) > 0 {
			return in.More[0], true
		}
	case BulkCopy, BulkReduce:
		if len(in.More) > 1 {
			return in.More[1], true
		}
	}
	return Addr{}, false
}
