// gpu.h has what CUDA C++ and OpenCL C spell differently, so that one text is a program for both. Programs are written in CUDA's words.
//
// Functions of OpenCL C stand for those of CUDA only as far as the programs need them: atomics are relaxed, __threadfence() is a sequentially
// consistent fence of the device, a warp has one lane. SITE(n) is a place where optcheck can put a fence, which it does by itself in PTX.
// Functions take ids as arguments, since optcheck permutes them in kernels only. Every wait is bounded by SPINS polls; a CPU's threads wait for others that the system has put to sleep, so that
// their bound is higher.
#ifdef __OPENCL_VERSION__
typedef uint u32;
typedef int s32;
typedef ulong u64;
typedef long s64;
#define KERNEL kernel void
#define GLOBAL global
#define SHARED local
#define FUNCTION static inline
#define LANES 1
#define SITE(n) fence_site(n)
#define __shared__ local
#define threadIdx ((uint3)((uint)get_local_id(0), 0, 0))
#define blockIdx ((uint3)((uint)get_group_id(0), 0, 0))
#define blockDim ((uint3)((uint)get_local_size(0), 1, 1))
#define gridDim ((uint3)((uint)get_num_groups(0), 1, 1))
#define __syncthreads() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define __threadfence() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)
#define __threadfence_block() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_group)
#define atomicAdd(p, v) atomic_add(p, v)
#define atomicSub(p, v) atomic_sub(p, v)
#define atomicMin(p, v) atomic_min(p, v)
#define atomicMax(p, v) atomic_max(p, v)
#define atomicExch(p, v) atomic_xchg(p, v)
#define atomicCAS(p, compare, v) atomic_cmpxchg(p, compare, v)
#define atomicInc(p, limit) atomic_inc(p) /* no program of these counts to its limit twice */
#define ballot(p) ((p) ? 1u : 0u)
#define warp_sum(v) (v)
#define all_lanes(p) (p)
#define __clz(x) clz(x)
#define SPINS (1u << 28)
FUNCTION u32 load_relaxed(GLOBAL u32 *p) {
	return atomic_load_explicit((volatile GLOBAL atomic_uint *)p, memory_order_relaxed, memory_scope_device);
}
FUNCTION u32 load_acquire(GLOBAL u32 *p) {
	return atomic_load_explicit((volatile GLOBAL atomic_uint *)p, memory_order_acquire, memory_scope_device);
}
FUNCTION void store_release(GLOBAL u32 *p, u32 v) {
	atomic_store_explicit((volatile GLOBAL atomic_uint *)p, v, memory_order_release, memory_scope_device);
}
FUNCTION u32 load_cg(GLOBAL u32 *p) { return *(volatile GLOBAL u32 *)p; }
FUNCTION void store_cg(GLOBAL u32 *p, u32 v) { *(volatile GLOBAL u32 *)p = v; }
FUNCTION u32 add_release(GLOBAL u32 *p, u32 v) {
	return atomic_fetch_add_explicit((volatile GLOBAL atomic_uint *)p, v, memory_order_release, memory_scope_device);
}
FUNCTION u32 add_acq_rel(GLOBAL u32 *p, u32 v) {
	return atomic_fetch_add_explicit((volatile GLOBAL atomic_uint *)p, v, memory_order_acq_rel, memory_scope_device);
}
FUNCTION u32 add_seq_cst_system(GLOBAL u32 *p, u32 v) {
	return atomic_fetch_add_explicit((volatile GLOBAL atomic_uint *)p, v, memory_order_seq_cst, memory_scope_device);
}
FUNCTION u64 load_relaxed64(GLOBAL u64 *p) { return *(volatile GLOBAL u64 *)p; }
FUNCTION void store_relaxed64(GLOBAL u64 *p, u64 v) { *(volatile GLOBAL u64 *)p = v; }
FUNCTION void nap(u32 nanoseconds) { (void)nanoseconds; }
#else
typedef unsigned u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define SHARED
#define SITE(n)
#define FUNCTION static __device__ __forceinline__
#define LANES 32
#define ballot(p) __ballot_sync(~0u, p)
#define all_lanes(p) __all_sync(~0u, p)
#define SPINS (1u << 20)
FUNCTION u32 warp_sum(u32 v) {
	for (u32 i = 16; i > 0; i /= 2)
		v += __shfl_xor_sync(~0u, v, i);
	return v;
}
FUNCTION u32 load_relaxed(u32 *p) {
	u32 v;
	asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)) : "memory");
	return v;
}
FUNCTION u32 load_acquire(u32 *p) {
	u32 v;
	asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)) : "memory");
	return v;
}
FUNCTION void store_release(u32 *p, u32 v) {
	asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(__cvta_generic_to_global(p)), "r"(v) : "memory");
}
FUNCTION u32 load_cg(u32 *p) {
	u32 v;
	asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)) : "memory");
	return v;
}
FUNCTION void store_cg(u32 *p, u32 v) {
	asm volatile("st.global.cg.u32 [%0], %1;" : : "l"(__cvta_generic_to_global(p)), "r"(v) : "memory");
}
FUNCTION u32 add_release(u32 *p, u32 v) {
	u32 old;
	asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;" : "=r"(old) : "l"(__cvta_generic_to_global(p)), "r"(v) : "memory");
	return old;
}
FUNCTION u32 add_acq_rel(u32 *p, u32 v) {
	u32 old;
	asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(old) : "l"(__cvta_generic_to_global(p)), "r"(v) : "memory");
	return old;
}
FUNCTION u32 add_seq_cst_system(u32 *p, u32 v) {
	u32 old;
	asm volatile("fence.sc.sys;\n\tatom.add.acquire.sys.global.u32 %0, [%1], %2;" : "=r"(old) : "l"(__cvta_generic_to_global(p)), "r"(v) : "memory");
	return old;
}
FUNCTION u64 load_relaxed64(u64 *p) {
	u64 v;
	asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(__cvta_generic_to_global(p)) : "memory");
	return v;
}
FUNCTION void store_relaxed64(u64 *p, u64 v) {
	asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(__cvta_generic_to_global(p)), "l"(v) : "memory");
}
FUNCTION void nap(u32 nanoseconds) { __nanosleep(nanoseconds); }
#endif
typedef float f32;

// DATA qualifies what blocks exchange by plain accesses. VOLATILE makes these accesses volatile, so that they do not find old lines in the L1.
#ifdef VOLATILE
#define DATA volatile GLOBAL
#else
#define DATA GLOBAL
#endif
