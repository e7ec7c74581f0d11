// GPUVerify's annotations, for running: see cuda.h.
#define __assert(x) do { if (!(x)) __builtin_trap(); } while (0)
#define assert(x) __assert(x)
#define __requires(x) do { if (!(x)) return; } while (0)
#define __global_requires(x) ((void)0)
#define __assume(x) __requires(x)
#define __ensures(x) ((void)0)
#define __global_ensures(x) ((void)0)
#define __global_assert(x) __assert(x)
#define __invariant(x) ((void)0)
#define __global_invariant(x) ((void)0)
#define __candidate_invariant(x) ((void)0)
#define __candidate_global_invariant(x) ((void)0)
#define __function_wide_invariant(x) ((void)0)
#define __function_wide_candidate_invariant(x) ((void)0)
#define __barrier_invariant(...) ((void)0)
#define __barrier_invariant_1(...) ((void)0)
#define __barrier_invariant_2(...) ((void)0)
#define __requires_fresh_array(x) ((void)0)
#define __writes_to(x) ((void)0)
#define __reads_from(x) ((void)0)
#define __array_snapshot(...) ((void)0)
#define __implies(a, b) (!(a) || (b))
#define __implies_2(a, b) (!(a) || (b))
#define __read(p) 0
#define __write(p) 0
#define __no_read(p) 1
#define __no_write(p) 1
#define __read_implies(p, x) 1
#define __write_implies(p, x) 1
#define __enabled() 1
#define __dominator_enabled() 1
#define __all(x) (x)
#define __exclusive(x) 1
#define __distinct_int(x) 1
#define __uniform_int(x) 1
#define __uniform_bool(x) 1
#define __ite(c, a, b) ((c) ? (a) : (b))
