package litmus

// What OpenCL C has. Sources are sections of the OpenCL C specification, 1.2 and 2.0.

const (
	secCLAccess = "OpenCL C 2.0, 6.13.11 Atomic Functions, and plain accesses in C"
	secCLAtomic = "OpenCL C 1.2, 6.12.11 Atomic Functions"
	secCLOrder  = "OpenCL C 2.0, 6.13.11 Atomic Functions"
	secCLFence  = "OpenCL C 1.2, 6.12.9 Explicit Memory Fence Functions"
	secCLSync   = "OpenCL C 1.2, 6.12.8 Synchronization Functions"
)

var (
	clScopes   = of(ScopeCTA, ScopeGPU, ScopeSys)
	clOrders   = of(SemRelaxed, SemAcquire, SemRelease, SemAcqRel, SemSC)
	clBitTypes = of(TypeNone, B32, B64)
	clTypes    = of(TypeNone, U32, S32, U64, S64)
)

var clForms = []form{
	{ops: []Op{OpLd, OpSt}, source: secCLAccess, sets: sets{sem: of(SemNone, SemWeak, SemVolatile), space: anySpace, typ: integers}},
	{ops: []Op{OpLd}, source: secCLOrder, sets: sets{sem: of(SemRelaxed, SemAcquire, SemSC), scope: clScopes, space: anySpace, typ: integers}},
	{ops: []Op{OpSt}, source: secCLOrder, sets: sets{sem: of(SemRelaxed, SemRelease, SemSC), scope: clScopes, space: anySpace, typ: integers}},

	{ops: []Op{OpAtom, OpRed}, source: secCLAtomic, sets: sets{space: anySpace, atom: of(AtomAdd), typ: sums}},
	{ops: []Op{OpAtom, OpRed}, source: secCLAtomic, sets: sets{space: anySpace, atom: bitwise, typ: clBitTypes}},
	{ops: []Op{OpAtom, OpRed}, source: secCLAtomic, sets: sets{space: anySpace, atom: minMax, typ: clTypes}},
	{ops: []Op{OpAtom, OpRed}, source: secCLAtomic, sets: sets{space: anySpace, atom: of(AtomIncOne, AtomDecOne),
		typ: of(TypeNone, U32, S32)}},
	{ops: []Op{OpAtom}, source: secCLAtomic, sets: sets{space: anySpace, atom: of(AtomExch, AtomCAS), typ: clBitTypes}},

	{ops: []Op{OpAtom, OpRed}, source: secCLOrder, sets: sets{sem: clOrders, scope: clScopes, space: anySpace, atom: of(AtomAdd), typ: sums}},
	{ops: []Op{OpAtom, OpRed}, source: secCLOrder, sets: sets{sem: clOrders, scope: clScopes, space: anySpace,
		atom: bitwise, typ: clBitTypes}},
	{ops: []Op{OpAtom, OpRed}, source: secCLOrder, sets: sets{sem: clOrders, scope: clScopes, space: anySpace, atom: minMax, typ: clTypes}},
	{ops: []Op{OpAtom}, source: secCLOrder, sets: sets{sem: clOrders, scope: clScopes, space: anySpace,
		atom: of(AtomExch, AtomCAS), typ: clBitTypes}},

	{ops: []Op{OpFence}, source: secCLOrder, sets: sets{sem: of(SemAcquire, SemRelease, SemAcqRel, SemSC), scope: clScopes, space: anySpace}},
	{ops: []Op{OpFence}, source: secCLFence, sets: sets{sem: of(SemAcquire, SemRelease, SemAcqRel), space: anySpace}},
	{ops: []Op{OpBar}, source: secCLSync, sets: sets{space: anySpace}},
}
