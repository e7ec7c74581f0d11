package litmus

// The dialect GPU_OPENCL writes threads in OpenCL C, one statement a cell:
//
//	r0 = *x                     *x = r0                    plain access
//	r0 = *(volatile int *)x     *(volatile int *)x = 1     volatile access
//	r0 = atomic_add(x, 1)       atomic_add(x, 1)           OpenCL 1.2 (atomic_xchg, _cmpxchg, _inc, …)
//	r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device)
//	atomic_store_explicit(x, 1, memory_order_release, memory_scope_device)
//	r0 = atomic_fetch_add_explicit(x, 1, ORDER, SCOPE)     also exchange, fetch_and, …
//	r0 = atomic_compare_exchange_strong_explicit(x, 0, 1, ORDER, FAILURE, SCOPE)
//	mem_fence(CLK_GLOBAL_MEM_FENCE)                        also read_mem_fence, write_mem_fence
//	atomic_work_item_fence(FLAGS, ORDER, SCOPE)
//	barrier(CLK_LOCAL_MEM_FENCE)
//	if (p0) r0 = *x             if (!p0) …                 a guarded statement
//	p0 = r0 == 1                r1 = r0 & 0x80000000       r1 = (r0 | r2)
//	r2 = p0 ? r0 : r1           r1 = (ulong)r0             goto L, if (r0 == 0) goto L
//
// A pointer is a location, or a register that holds an address; a cast in front
// of it, (volatile global long *)x, says more of the access. Sums of addresses
// count bytes, as in the other dialects. A comparison-and-exchange gives the old
// value, as atomic_cmpxchg does, because the dialect has no private variables;
// its failure order must be the strongest that the order allows. Registers are
// declared in C too: 0:int r0; 0:int *p = x; 0:bool q.

// cTypes are the C types of registers and accesses.
var cTypes = []struct {
	name string
	typ  Type
}{{"int", S32}, {"uint", U32}, {"long", S64}, {"ulong", U64}, {"bool", Pred}}

// cTypeOf returns the type for a C name, TypeNone if there is none.
func cTypeOf(name string) Type {
	for _, c := range cTypes {
		if c.name == name {
			return c.typ
		}
	}
	return TypeNone
}

// cName returns the C name of a type, without a sign for bit types.
func cName(t Type) string {
	switch t {
	case TypeNone, B32:
		return "int"
	case B64:
		return "long"
	}
	for _, c := range cTypes {
		if c.typ == t {
			return c.name
		}
	}
	return t.String()
}

// cAccess returns the type in which an operation with a width and sign is stored: atomics and
// bitwise operations have no sign.
func cAccess(t Type, bitwise bool) Type {
	switch {
	case bitwise && t.Bits() == 64:
		return B64
	case bitwise:
		return B32
	case t == B64:
		return S64
	case t == B32 || t == TypeNone:
		return S32
	}
	return t
}

// cAtom is an OpenCL atomic: its names in OpenCL C 1.2 (after atomic_) and in
// 2.0 (between atomic_ and _explicit), "" where it has none.
type cAtom struct {
	op          AtomOp
	name, name2 string
}

var cAtoms = []cAtom{
	{AtomAdd, "add", "fetch_add"}, {AtomExch, "xchg", "exchange"}, {AtomCAS, "cmpxchg", "compare_exchange_strong"},
	{AtomAnd, "and", "fetch_and"}, {AtomOr, "or", "fetch_or"}, {AtomXor, "xor", "fetch_xor"},
	{AtomMin, "min", "fetch_min"}, {AtomMax, "max", "fetch_max"}, {AtomIncOne, "inc", ""}, {AtomDecOne, "dec", ""},
}

var cOrders = []struct {
	name string
	sem  Sem
}{{"memory_order_relaxed", SemRelaxed}, {"memory_order_acquire", SemAcquire}, {"memory_order_release", SemRelease},
	{"memory_order_acq_rel", SemAcqRel}, {"memory_order_seq_cst", SemSC}}

var cScopes = []struct {
	name  string
	scope Scope
}{{"memory_scope_work_group", ScopeCTA}, {"memory_scope_device", ScopeGPU}, {"memory_scope_all_svm_devices", ScopeSys}}

const (
	cLocalFlag  = "CLK_LOCAL_MEM_FENCE"
	cGlobalFlag = "CLK_GLOBAL_MEM_FENCE"
)

// memFence returns the name of the OpenCL 1.2 fence with an ordering. OpenCL 2.0, 6.13.8,
// defines mem_fence and its relatives as atomic_work_item_fence with acquire-release, acquire
// and release ordering.
func memFence(s Sem) string {
	switch s {
	case SemAcqRel:
		return "mem_fence"
	case SemAcquire:
		return "read_mem_fence"
	case SemRelease:
		return "write_mem_fence"
	}
	return ""
}

// failureOrder returns the strongest ordering of a failed compare-and-exchange.
func failureOrder(s Sem) Sem {
	switch s {
	case SemRelease:
		return SemRelaxed
	case SemAcqRel:
		return SemAcquire
	}
	return s
}
