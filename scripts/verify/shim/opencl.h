// OpenCL C's functions for a kernel that is compiled to PTX: see cuda.h.
#define FN __attribute__((overloadable)) static
#define SREG(name, d) (d == 0 ? __nvvm_read_ptx_sreg_##name##_x() : d == 1 ? __nvvm_read_ptx_sreg_##name##_y() : d == 2 ? __nvvm_read_ptx_sreg_##name##_z() : 0)
#define get_local_id(d) ((size_t)SREG(tid, (d)))
#define get_group_id(d) ((size_t)SREG(ctaid, (d)))
#define get_local_size(d) ((size_t)((d) < 3u ? SREG(ntid, (d)) : 1))
#define get_num_groups(d) ((size_t)((d) < 3u ? SREG(nctaid, (d)) : 1))
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define get_global_size(d) (get_num_groups(d) * get_local_size(d))
#define get_global_offset(d) ((size_t)0)
#define get_work_dim() 3
#define barrier(flags) __syncthreads()
#define work_group_barrier(...) __syncthreads()
#define mem_fence(flags) __nvvm_membar_cta()
#define read_mem_fence(flags) __nvvm_membar_cta()
#define write_mem_fence(flags) __nvvm_membar_cta()
#define ATOMIC(name, op) FN int name(volatile __global int *p, int v) { return op((int *)p, v); } FN uint name(volatile __global uint *p, uint v) { return op((int *)p, v); } \
  FN int name(volatile __local int *p, int v) { return op((int *)p, v); } FN uint name(volatile __local uint *p, uint v) { return op((int *)p, v); }
