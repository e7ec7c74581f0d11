// OpenCL C's functions for a kernel that is compiled to PTX: see cuda.h.
#define FN __attribute__((overloadable)) static
#define SREG(name, d) (d == 0 ? __nvvm_read_ptx_sreg_##name##_x() : d == 1 ? __nvvm_read_ptx_sreg_##name##_y() : d == 2 ? __nvvm_read_ptx_sreg_##name##_z() : 0)
#define get_local_id(d) ((size_t)SREG(tid, (d)))
#define get_group_id(d) ((size_t)SREG(ctaid, (d)))
#define get_local_size(d) ((size_t)((d) < 3u ? SREG(ntid, (d)) : 1))
#define get_num_groups(d) ((size_t)((d) < 3u ? SREG(nctaid, (d)) : 1))
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d) + get_global_offset(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))
#define get_global_offset(d) ((size_t)((d) == 0 ? GLOBAL_OFFSET : 0))
#define get_work_dim() WORK_DIM
#define barrier(flags) __syncthreads()
#define work_group_barrier(...) __syncthreads()
#define mem_fence(flags) __nvvm_membar_cta()
#define read_mem_fence(flags) __nvvm_membar_cta()
#define write_mem_fence(flags) __nvvm_membar_cta()
#define ATOMIC(name, type, space, expr) FN type name(volatile space type *p, type v) { return expr; }
#define ATOMICS(name, expr) ATOMIC(name, int, __global, expr) ATOMIC(name, uint, __global, expr) ATOMIC(name, int, __local, expr) ATOMIC(name, uint, __local, expr)
#define COUNT(name, type, space, d) FN type name(volatile space type *p) { return __atomic_fetch_add(p, d, 0); }
#define COUNTS(name, d) COUNT(name, int, __global, d) COUNT(name, uint, __global, d) COUNT(name, int, __local, d) COUNT(name, uint, __local, d)
ATOMICS(verify_add, __atomic_fetch_add(p, v, 0)) ATOMICS(verify_sub, __atomic_fetch_sub(p, v, 0)) ATOMICS(verify_xchg, __atomic_exchange_n(p, v, 0))
ATOMICS(verify_and, __atomic_fetch_and(p, v, 0)) ATOMICS(verify_or, __atomic_fetch_or(p, v, 0)) ATOMICS(verify_xor, __atomic_fetch_xor(p, v, 0))
COUNTS(verify_inc, 1) COUNTS(verify_dec, -1)
#define atomic_add verify_add
#define atom_add verify_add
#define atomic_sub verify_sub
#define atomic_xchg verify_xchg
#define atomic_and verify_and
#define atomic_or verify_or
#define atomic_xor verify_xor
#define atomic_inc verify_inc
#define atom_inc verify_inc
#define atomic_dec verify_dec
