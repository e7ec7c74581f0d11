package ir

import "slices"

// AccessKind tells loads, stores and read-modify-writes apart.
type AccessKind uint8

// The kinds of accesses.
const (
	Load AccessKind = iota
	Store
	Atomic
)

// Access is an access to memory: of Elems elements of Bytes bytes each, one behind the other.
type Access struct {
	Kind  AccessKind
	Space Space
	Bytes int // of an element: 1, 2, 4, 8, 16
	Elems int
	// Type is that of an element: how a load extends it, as what a read-modify-write takes it.
	Type Type
	Sem  Sem
	// Scope is that of a strong access.
	Scope Scope
	// Volatile tells that the access may not be left out (.volatile, .mmio); Constant that nobody
	// writes what it reads (.nc, ld.const, ld.param); Cached that the cache operator of a weak
	// access makes the machine instruction a strong one (.ca, .cg, .cv, .wt).
	Volatile, Constant, Cached bool
	// Addr holds the address, to which Offset is added. An address of Shared, Local, ConstBank,
	// Param is an offset in the space; of Generic and Global 64 bits. AddrBits is 32 or 64.
	Addr     Reg
	Offset   int64
	AddrBits int
	Bank     int // of ConstBank
	// Data are the registers of the elements: what a load writes, what a store or
	// read-modify-write takes. For elements of 16 bytes there are two registers each.
	Data []Reg
	// Of a read-modify-write: what it does, the result (None if nobody takes it), what a
	// compare-and-swap compares with.
	Atom    Atom
	Dst     []Reg
	Compare []Reg
	// Done receives, of compare-and-swaps, whether it succeeded; with OnlyGlobal, whether it was performed.
	Done Reg
	// OnlyGlobal makes lanes whose generic address is not one of global memory do nothing. (ATOM with a predicate;
	// not of a compare-and-swap.)
	OnlyGlobal bool
	// FTZ flushes subnormal numbers of a floating-point addition.
	FTZ bool
	// Fragments, if there are any, are the registers of so many matrices of 8 x 8 halves (ldmatrix, stmatrix): lane 8m+r
	// accesses row r of matrix m, 16 bytes that Data hold, and each lane has two elements of each matrix; of its
	// transpose with Transposed. All lanes of the warp take part.
	Fragments  []Reg
	Transposed bool
	// Tile, if there is one, makes the fragments those of one larger matrix, each of whose elements is accessed by itself: Data hold one.
	Tile *Tile
	// Mbarrier tells that the place is one of a barrier object, which nobody outside of the launch writes.
	Mbarrier bool
	// Behind tells that an arrival is triggered by the asynchronous copies that the thread has begun (cp.async.mbarrier.arrive).
	Behind bool
	// Total makes a lane-counting atomic of a warp (ATOMS.POPC.INC): all lanes get the same old value.
	Total bool
}

// Atom is what a read-modify-write does.
type Atom uint8

// The read-modify-writes. Add, Min, Max take the operands as Type says.
const (
	NoAtom Atom = iota
	AtomAdd
	AtomMin
	AtomMax
	AtomInc
	AtomDec
	AtomAnd
	AtomOr
	AtomXor
	AtomExch
	AtomCAS
	// AtomArrive arrives at a barrier object: the low word of the operand is how often, the high one is added to the bytes of transactions
	// that its phase waits for. AtomDrop does, and the phases that follow expect as many arrivals less.
	AtomArrive
	AtomDrop
	// AtomArriveBehind arrives behind the copies of the thread, and its phase expects one arrival more (cp.async.mbarrier.arrive): one or
	// more read-modify-writes, as Mbarriers says.
	AtomArriveBehind
)

var atomNames = [...]string{"", "add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas", "arrive", "arrive_drop", "arrive_behind"}

// String is PTX's name of the operation.
func (a Atom) String() string { return atomNames[a] }

// Fence orders memory.
type Fence struct {
	Sem   Sem // Acquire for an instruction that only invalidates (CCTL.IVALL), Release, AcqRel, SC
	Scope Scope
	// Proxy is the proxy of a proxy fence: "async", "alias", "tensormap", "" for none.
	Proxy string
	// Part tells that it is part of an operation of the source rather than one of its own:
	// instructions that only wait (ERRBAR, CGAERRBAR).
	Part bool
}

// BarrierKind tells barriers apart.
type BarrierKind uint8

// The kinds of barriers.
const (
	BarrierSync   BarrierKind = iota // bar.sync: arrives and waits
	BarrierArrive                    // bar.arrive
	BarrierRed                       // bar.red: waits and combines a predicate
	BarrierWarp                      // bar.warp.sync: Count is the mask of lanes
	BarrierCluster
	BarrierClusterArrive
	BarrierClusterWait
)

// Barrier is a barrier of the CTA, of a warp, or of the cluster.
type Barrier struct {
	Kind BarrierKind
	// Aligned tells that all threads of a warp must come to it together.
	Aligned bool
	// ID and Count are the number of the barrier and of its threads; None: 0 and all.
	ID, Count Reg
	// Of BarrierRed: "and", "or", "popc"; the predicate (Not inverts it), and the result.
	Red string
	Src Reg
	Not bool
	Dst Reg
	Sem Sem
}

// WarpKind is an operation between the lanes of a warp.
type WarpKind uint8

// The operations of a warp.
const (
	ShflIdx WarpKind = iota
	ShflUp
	ShflDown
	ShflBfly
	VoteAll
	VoteAny
	VoteUni
	VoteBallot
	MatchAny
	MatchAll
	ReduxAdd
	ReduxMin
	ReduxMax
	ReduxAnd
	ReduxOr
	ReduxXor
	ActiveMask
	Elect
	// Transpose: Src and Dst are fragments of a matrix of 8 x 8 halves (see Access.Fragments) and of its transpose.
	Transpose
	// First is the value of the lowest active lane (R2UR, uniform operations of a lane's value).
	First
	// Multiply: of matrices (see Product): Srcs are the registers of A, B and C, Dsts those of D.
	Multiply
)

// Warp is an operation between lanes. The lanes that take part are those of Mask (PTX: they
// wait for each other), or the active ones if Mask is None.
type Warp struct {
	Kind WarpKind
	Mask Reg
	// Of a shuffle: Src the value, Lane the lane operand, Clamp the operand c. Of a vote: Src the
	// predicate, Not inverts it. Of a match and reduction: Src, Type.
	Src, Lane, Clamp Reg
	Not              bool
	Type             Type
	Dst              Reg // the value; None if nobody takes it
	Pred             Reg // the predicate: of shuffles "in range", of match.all "all agree", of votes the truth
	Product          *Product
	Srcs             []Reg
	Dsts             []Reg
}

// FlowKind tells transfers of control apart.
type FlowKind uint8

// The kinds of control flow.
const (
	Jump     FlowKind = iota // to Target
	Indirect                 // PTX: Targets[Addr]; machine code: to the address in Addr (see Program.Code)
	Call                     // to Target, and comes back behind the instruction
	CallAt                   // to the address in Addr
	Return                   // from Call
	Exit                     // the thread ends
	Trap
	BarrierSet   // the active lanes will meet at Target (BSSY): Bar becomes their set
	BarrierWait  // the active lanes wait for the others of Bar's set, and all go on at its target (BSYNC)
	BarrierLeave // the active lanes leave Bar's set (BREAK)
	WarpSync     // the active lanes wait for those of Mask; all go on behind it
	// The same, whose lanes may come from several of these. What follows up to CollectiveEnd is done once, for all of them; each then goes on
	// at the Target of its own.
	WarpCollective
	CollectiveEnd
	Yield // another group of lanes may run
	// Jumps of all active lanes alike: JumpAny if Cond is 1 (0 with Not) for one of them; JumpTogether if those that pass the guard are
	// all the lanes of Mask that still run, JumpApart if they are not (BRA.CONV, BRA.DIV).
	JumpAny
	JumpTogether
	JumpApart
)

// Flow is a transfer of control. It is performed by the lanes that pass the guard; those of
// them for which Cond is 0 (1 with Not) go on behind it.
type Flow struct {
	Kind    FlowKind
	Cond    Reg // None: always
	Not     bool
	Target  int32 // instruction
	Targets []int32
	Addr    Reg
	// Signature is, of a call of PTX through a register, that of the functions that may be called.
	Signature string
	// Calls and Returns are what a jump of machine code is meant for: to call a function, and to come back behind a call. Nothing rests on that.
	Calls, Returns bool
	// Bar is the register of a convergence barrier: an ordinary register that holds the number of a set
	// of lanes, so that it can be copied (BMOV). BarrierSet writes it, the others read it.
	Bar  Reg
	Mask Reg
}

// CopyKind tells asynchronous copies apart.
type CopyKind uint8

// The kinds of asynchronous copies.
const (
	CopyAsync CopyKind = iota // cp.async, LDGSTS
	CopyCommit
	CopyWait // for all but Groups groups
	CopyWaitAll
	CopyBulk // cp.async.bulk, UBLKCP: Size bytes; a warp of machine code performs it once
	// st.async, STAS; red.async, REDAS: what registers hold, reported to a barrier object.
	CopyStore
	CopyReduce
	CopyProduct      // wgmma.mma_async: reads matrices from shared memory; performed by a warp as a whole
	CopyProductFence // wgmma.fence: registers that were written may be operands of the products that follow
)

// CopyFamily tells apart whose groups are committed and waited for.
type CopyFamily uint8

// The families.
const (
	Copies     CopyFamily = iota // cp.async
	BulkCopies                   // cp.async.bulk
	Products                     // wgmma.mma_async
)

// Copy is a thread's asynchronous copy from global into shared memory, or what waits for it. A bulk copy is one between any two spaces.
type Copy struct {
	Kind CopyKind
	// Of a bulk copy: the spaces, and the barrier object that its bytes are reported to, in shared memory of the cluster; None if there is none.
	ToSpace, FromSpace Space
	Mbarrier           Reg
	MbarrierOffset     int64
	// Multicast tells that it goes to the same place of each block of the cluster whose bit is set in Blocks, and is reported there.
	Multicast bool
	Blocks    Reg
	// To and From hold the addresses, to which the offsets are added. Bytes are written; Size, if
	// not None, says how many of them are read, the rest is zero.
	To, From             Reg
	ToOffset, FromOffset int64
	Bytes                int
	Size                 Reg
	// Ignore, if not None, is a predicate that makes the copy write zeros.
	Ignore    Reg
	IgnoreNot bool
	Groups    int
	// Tensor tells that a bulk copy is of a box of a tensor: the map that describes the tensor is at From, or at To, and Coords are where in it.
	Tensor bool
	Coords []Reg
	// What an asynchronous store or reduction writes: Elems elements of Bytes bytes. A bulk copy with an Atom is a reduction of elements of Type.
	Data  []Reg
	Elems int
	Atom  Atom
	Type  Type
	// Of groups: whose they are; OnlyReads tells that it is waited only until bulk copies have read.
	Family    CopyFamily
	OnlyReads bool
	Product   *GroupProduct
}

// Warp reports whether all lanes of a warp of PTX perform it together: wgmma's operations are .sync.aligned.
func (c *Copy) Warp() bool {
	return c.Family == Products || c.Kind == CopyProduct || c.Kind == CopyProductFence
}

// Stored is what a store or reduction would be to memory if it were not asynchronous.
func (c *Copy) Stored() *Access {
	a := &Access{Kind: Store, Bytes: c.Bytes, Elems: c.Elems, Data: c.Data, Type: c.Type}
	if c.Kind == CopyReduce {
		a.Kind, a.Atom = Atomic, c.Atom
	}
	return a
}

// SpecialReg is what a Special reads.
type SpecialReg uint8

// The special registers.
const (
	TidX SpecialReg = iota
	TidY
	TidZ
	NtidX
	NtidY
	NtidZ
	CtaidX
	CtaidY
	CtaidZ
	NctaidX
	NctaidY
	NctaidZ
	LaneID
	WarpID
	NwarpID
	SMID
	NSMID
	GridID
	LaneMaskEQ
	LaneMaskLT
	LaneMaskLE
	LaneMaskGT
	LaneMaskGE
	Clock
	Clock64
	GlobalTimer
	DynamicSharedSize
	TotalSharedSize
	ClusterIDX
	ClusterIDY
	ClusterIDZ
	NclusterIDX
	NclusterIDY
	NclusterIDZ
	ClusterCtaidX
	ClusterCtaidY
	ClusterCtaidZ
	ClusterNctaidX
	ClusterNctaidY
	ClusterNctaidZ
	ClusterCtarank
	ClusterNctarank
	SharedWindow // the generic address at which shared memory begins
	LocalWindow
	BarrierResult // the result of the last BarrierRed (B2R.RESULT)
	Undefined     // content that nothing defines; two runs of the emulator give different values
	SymbolAddr    // the address of the variable Special.Symbol, plus Offset; generic if Generic is set, else in its space
	ProgramCounter
	VirtualID // SR_VIRTID
	EnvReg1   // %envreg1 and %envreg2: the words of the address of the memory through which a grid synchronises, the high one first
	EnvReg2
	ParamWindow     // the generic address at which the parameters begin
	ParamWindowEnd  // the last one
	ConstWindow     // the generic address at which the variables of constant memory begin, in the order of their section
	ExplicitCluster // 1 if the launch has clusters
	ClusterInverseX // 1/%cluster_nctaid.x, as f32 rounded up
	ClusterInverseY
	ClusterInverseZ
)

// Special reads a special register.
type Special struct {
	Reg    SpecialReg
	Dst    Reg
	Symbol string
	Offset int64
	// Generic makes SymbolAddr a generic address.
	Generic bool
}

// Written are the registers that an instruction sets, but for those that only it reads.
func (in *Inst) Written() (regs []Reg) {
	add := func(list ...Reg) {
		for _, r := range list {
			if r >= 0 && !slices.Contains(regs, r) {
				regs = append(regs, r)
			}
		}
	}
	if in.Do == nil {
		for i := range in.Pre {
			add(in.Pre[i].Dst)
		}
	}
	for i := range in.Post {
		add(in.Post[i].Dst)
	}
	switch do := in.Do.(type) {
	case *Access:
		if do.Kind == Load {
			add(do.Data...)
			add(do.Fragments...)
		}
		add(do.Dst...)
		add(do.Done)
	case *Warp:
		add(do.Dst, do.Pred)
		add(do.Dsts...)
	case *Special:
		add(do.Dst)
	case *Barrier:
		add(do.Dst)
	case *Flow:
		if do.Kind == BarrierSet {
			add(do.Bar)
		}
	}
	return regs
}
