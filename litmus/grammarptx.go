package litmus

// What PTX has. Sources are the sections of the PTX ISA manual, release 8.6. ptxas
// 11.2, 11.8 and 12.4 were asked (TestGrammarAgainstPtxas): 12.4 takes exactly what
// stands here, except for what is newer than PTX 8.4.

// Frequent entries of the tables. 0, "not written", is in the set of whatever may be omitted;
// in litmus tests this includes the type.
var (
	anySpace  = of(Generic, Global, Shared)
	anyScope  = of(ScopeCTA, ScopeCluster, ScopeGPU, ScopeSys)
	optScope  = anyScope | 1
	integers  = of(TypeNone, B8, U8, S8, B16, U16, S16, B32, U32, S32, B64, U64, S64)
	numbers   = of(TypeNone, U16, S16, U32, S32, U64, S64)
	bitTypes  = of(TypeNone, B16, B32, B64)
	wordTypes = bitTypes | numbers
	converted = of(U8, S8, U16, S16, U32, S32, U64, S64)
	atomSems  = of(SemNone, SemRelaxed, SemAcquire, SemRelease, SemAcqRel)
	redSems   = of(SemNone, SemRelaxed, SemRelease)
	bitwise   = of(AtomAnd, AtomOr, AtomXor)
	minMax    = of(AtomMin, AtomMax)
	sums      = of(TypeNone, U32, S32, U64)
	ordering  = of(CmpLt, CmpLe, CmpGt, CmpGe)
	equality  = of(CmpEq, CmpNe)
)

const (
	dataMovement = "Data Movement and Conversion Instructions: "
	parallelSync = "Parallel Synchronization and Communication Instructions: "
	secLd        = dataMovement + "ld"
	secSt        = dataMovement + "st"
	secAtom      = parallelSync + "atom"
	secRed       = parallelSync + "red"
	secMembar    = parallelSync + "membar, fence"
	secBar       = parallelSync + "bar, barrier"
	secArith     = "Integer Arithmetic Instructions"
	secLogic     = "Logic and Shift Instructions"
	secProxies   = "Memory Consistency Model: Proxies (no instruction of PTX: the vendor's formal model, and Dat3M)"
)

var (
	weak     = of(SemNone, SemWeak)
	loadOps  = of(CacheNone, CacheCA, CacheCG, CacheCS, CacheLU, CacheCV)
	storeOps = of(CacheNone, CacheWB, CacheCG, CacheCS, CacheWT)
)

var accessForms = []form{
	{ops: []Op{OpLd}, source: secLd, sets: sets{sem: weak, space: anySpace, cache: loadOps, typ: integers}},
	{ops: []Op{OpLd}, source: secLd, sets: sets{sem: of(SemVolatile), space: anySpace, typ: integers}},
	{ops: []Op{OpLd}, source: secLd, sets: sets{sem: of(SemRelaxed, SemAcquire), scope: anyScope, space: anySpace, typ: integers}},
	{ops: []Op{OpSt}, source: secSt, sets: sets{sem: weak, space: anySpace, cache: storeOps, typ: integers}},
	{ops: []Op{OpSt}, source: secSt, sets: sets{sem: of(SemVolatile), space: anySpace, typ: integers}},
	{ops: []Op{OpSt}, source: secSt, sets: sets{sem: of(SemRelaxed, SemRelease), scope: anyScope, space: anySpace, typ: integers}},
	{ops: []Op{OpLd, OpSt}, source: secLd + ", st", sets: sets{sem: of(SemMMIO), scope: of(ScopeSys),
		space: of(Generic, Global), typ: integers}},

	{ops: []Op{OpAtom}, source: secAtom, sets: sets{sem: atomSems, scope: optScope, space: anySpace, atom: of(AtomAdd), typ: sums}},
	{ops: []Op{OpAtom}, source: secAtom, sets: sets{sem: atomSems, scope: optScope, space: anySpace,
		atom: of(AtomInc, AtomDec), typ: of(TypeNone, U32)}},
	{ops: []Op{OpAtom}, source: secAtom, sets: sets{sem: atomSems, scope: optScope, space: anySpace,
		atom: bitwise | of(AtomExch), typ: of(TypeNone, B32, B64)}},
	{ops: []Op{OpAtom}, source: secAtom, sets: sets{sem: atomSems, scope: optScope, space: anySpace, atom: of(AtomCAS), typ: bitTypes}},
	{ops: []Op{OpAtom}, source: secAtom, sets: sets{sem: atomSems, scope: optScope, space: anySpace, atom: minMax,
		typ: of(TypeNone, U32, S32, U64, S64)}},

	{ops: []Op{OpRed}, source: secRed, sets: sets{sem: redSems, scope: optScope, space: anySpace, atom: of(AtomAdd), typ: sums}},
	{ops: []Op{OpRed}, source: secRed, sets: sets{sem: redSems, scope: optScope, space: anySpace,
		atom: of(AtomInc, AtomDec), typ: of(TypeNone, U32)}},
	{ops: []Op{OpRed}, source: secRed, sets: sets{sem: redSems, scope: optScope, space: anySpace, atom: bitwise, typ: of(TypeNone, B32, B64)}},
	{ops: []Op{OpRed}, source: secRed, sets: sets{sem: redSems, scope: optScope, space: anySpace, atom: minMax,
		typ: of(TypeNone, U32, S32, U64, S64)}},
}

var fenceForms = []form{
	// Without an order a fence is .acq_rel.
	{ops: []Op{OpFence}, source: secMembar, sets: sets{sem: of(SemNone, SemAcquire, SemRelease, SemAcqRel, SemSC), scope: anyScope}},
	{ops: []Op{OpMembar}, source: secMembar, sets: sets{scope: of(ScopeCTA, ScopeGPU, ScopeSys)}},
	{ops: []Op{OpFenceProxy}, source: secMembar, sets: sets{proxy: of(ProxyAlias)}},
	{ops: []Op{OpBar}, source: secBar},
}

// formalForms belong to the memory models that dialect PTX is written for: the vendor's own
// writes accesses through other proxies like accesses, with a fence for each proxy.
var formalForms = append(proxied(accessForms), form{ops: []Op{OpFenceProxy}, source: secProxies, formal: true, dialects: onlyPTX,
	sets: sets{proxy: of(ProxyGeneric, ProxyTexture, ProxySurface, ProxyConstant)}})

// proxied returns the forms of accesses through other proxies: as accesses, but
// without cache operators, .volatile and .mmio.
func proxied(forms []form) (list []form) {
	for _, f := range forms {
		if f.sem.has(uint8(SemVolatile)) || f.sem.has(uint8(SemMMIO)) {
			continue
		}
		f.source, f.formal, f.dialects, f.cache, f.proxy = secProxies, true, onlyPTX, 0, of(ProxySurface)
		if f.ops[0] == OpLd {
			f.proxy = of(ProxyTexture, ProxySurface, ProxyConstant)
		}
		list = append(list, f)
	}
	return list
}

// plainForms are the forms that do not access memory. All dialects have them, in their own
// spelling.
var plainForms = []form{
	{ops: []Op{OpMov}, source: dataMovement + "mov", sets: sets{typ: wordTypes | of(Pred)}},
	{ops: []Op{OpCvt}, source: dataMovement + "cvt", sets: sets{typ: converted, from: converted}},
	{ops: []Op{OpAdd, OpSub, OpMul, OpDiv}, source: secArith, sets: sets{typ: numbers}},
	{ops: []Op{OpAnd, OpOr, OpXor, OpNot}, source: secLogic, sets: sets{typ: bitTypes | of(Pred)}},
	{ops: []Op{OpShl}, source: secLogic, sets: sets{typ: bitTypes}},
	{ops: []Op{OpShr}, source: secLogic, sets: sets{typ: wordTypes}},
	{ops: []Op{OpSetp}, source: "Comparison and Selection Instructions: setp", sets: sets{cmp: equality, typ: wordTypes}},
	{ops: []Op{OpSetp}, source: "Comparison and Selection Instructions: setp", sets: sets{cmp: ordering, typ: numbers}},
	{ops: []Op{OpSelp}, source: "Comparison and Selection Instructions: selp", sets: sets{typ: wordTypes}},
	// With a comparison it exists only in litmus tests, and is emitted as setp and bra.
	{ops: []Op{OpBra}, source: "Control Flow Instructions: bra", sets: sets{cmp: 1 | equality | ordering}},
	{ops: []Op{OpNop}, source: "Of litmus tests alone, an empty cell that carries a label"},
}

// sinceTable is ordered: the first requirement that a target does not meet is the one reported.
var sinceTable = []since{
	{what: "fence.proxy.alias", ops: []Op{OpFenceProxy}, sets: sets{proxy: of(ProxyAlias)}, ptx: 75, sm: 70},
	{what: "fence", ops: []Op{OpFence}, ptx: 60, sm: 70},
	{what: "fence.{sem}", ops: []Op{OpFence}, sets: sets{sem: of(SemAcquire, SemRelease)}, ptx: 86, sm: 90},
	{what: ".{sem}", ops: []Op{OpLd, OpSt, OpAtom, OpRed},
		sets: sets{sem: of(SemWeak, SemRelaxed, SemAcquire, SemRelease, SemAcqRel)}, ptx: 60, sm: 70},
	{what: ".mmio", ops: []Op{OpLd, OpSt}, sets: sets{sem: of(SemMMIO)}, ptx: 82, sm: 70},
	{what: "a scope on {op}", ops: []Op{OpAtom, OpRed}, sets: sets{scope: anyScope}, ptx: 50, sm: 60},
	{what: "64-bit {op}.{atom}", ops: []Op{OpAtom, OpRed}, sets: sets{atom: bitwise | minMax, typ: of(B64, U64, S64)}, ptx: 31, sm: 32},
	{what: "16-bit {op}.{atom}", ops: []Op{OpAtom}, sets: sets{atom: of(AtomCAS), typ: of(B16)}, ptx: 63, sm: 70},
	{what: ".cluster", ops: []Op{OpLd, OpSt, OpAtom, OpRed, OpFence}, sets: sets{scope: of(ScopeCluster)}, ptx: 78, sm: 90},
}

var onlyPTX = []Dialect{PTX}

// opcodes are the mnemonics of the dialects in PTX.
var opcodes = []opcode{
	{name: "ld", op: OpLd, mods: []class{clSem, clScope, clSpace, clCache, clType}, operands: "da"},
	{name: "st", op: OpSt, mods: []class{clSem, clScope, clSpace, clCache, clType}, operands: "as"},
	{name: "atom", op: OpAtom, mods: []class{clSem, clScope, clSpace, clAtom, clType}, operands: "das"},
	{name: "red", op: OpRed, mods: []class{clSem, clScope, clSpace, clAtom, clType}, operands: "as"},
	{name: "fence", op: OpFence, mods: []class{clSem, clScope}, takes: clProxy | clProxyKind},
	{name: "membar", op: OpMembar, mods: []class{clScope}},
	{name: "bar", op: OpBar, operands: "b", takes: clScope | clSync},
	{name: "barrier", op: OpBar, operands: "b", takes: clScope | clSync | clAligned},
	{name: "mov", op: OpMov, mods: []class{clType}, operands: "ds"},
	{name: "cvt", op: OpCvt, mods: []class{clType, clFrom}, operands: "ds"},
	{name: "add", op: OpAdd, mods: []class{clType}, operands: "dss"},
	{name: "sub", op: OpSub, mods: []class{clType}, operands: "dss"},
	{name: "mul", op: OpMul, mods: []class{clLo, clType}, operands: "dss"},
	{name: "div", op: OpDiv, mods: []class{clType}, operands: "dss"},
	{name: "and", op: OpAnd, mods: []class{clType}, operands: "dss"},
	{name: "or", op: OpOr, mods: []class{clType}, operands: "dss"},
	{name: "xor", op: OpXor, mods: []class{clType}, operands: "dss"},
	{name: "shl", op: OpShl, mods: []class{clType}, operands: "dss"},
	{name: "shr", op: OpShr, mods: []class{clType}, operands: "dss"},
	{name: "not", op: OpNot, mods: []class{clType}, operands: "ds"},
	{name: "setp", op: OpSetp, mods: []class{clCmp, clType}, operands: "dss", takes: clLo},
	{name: "selp", op: OpSelp, mods: []class{clType}, operands: "dsss"},
	{name: "goto", op: OpBra, operands: "l", dialects: onlyPTX},
	{name: "bra", op: OpBra, operands: "l", takes: clUni},
	{name: "beq", op: OpBra, operands: "ssl", cmp: CmpEq},
	{name: "bne", op: OpBra, operands: "ssl", cmp: CmpNe},
	{name: "blt", op: OpBra, operands: "ssl", cmp: CmpLt},
	{name: "ble", op: OpBra, operands: "ssl", cmp: CmpLe},
	{name: "bgt", op: OpBra, operands: "ssl", cmp: CmpGt},
	{name: "bge", op: OpBra, operands: "ssl", cmp: CmpGe},
	{name: "nop", op: OpNop},
	{name: "tld", op: OpLd, mods: []class{clSem, clScope, clSpace, clType}, operands: "da", proxy: ProxyTexture, dialects: onlyPTX},
	{name: "suld", op: OpLd, mods: []class{clSem, clScope, clSpace, clType}, operands: "da", proxy: ProxySurface, dialects: onlyPTX},
	{name: "cold", op: OpLd, mods: []class{clSem, clScope, clSpace, clType}, operands: "da", proxy: ProxyConstant, dialects: onlyPTX},
	{name: "sust", op: OpSt, mods: []class{clSem, clScope, clSpace, clType}, operands: "as", proxy: ProxySurface, dialects: onlyPTX},
	{name: "suatom", op: OpAtom, mods: []class{clSem, clScope, clSpace, clAtom, clType}, operands: "das",
		proxy: ProxySurface, dialects: onlyPTX},
	{name: "sured", op: OpRed, mods: []class{clSem, clScope, clSpace, clAtom, clType}, operands: "as", proxy: ProxySurface, dialects: onlyPTX},
}
