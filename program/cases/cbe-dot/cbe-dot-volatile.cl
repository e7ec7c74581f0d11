// Made of cbe-dot-volatile.cu by scripts/programs.sh.
typedef uint u32;
typedef int s32;
typedef ulong u64;
typedef long s64;
static inline u32 load_relaxed(global u32 *p) {
 return atomic_load_explicit((volatile global atomic_uint *)p, memory_order_relaxed, memory_scope_device);
}
static inline u32 load_acquire(global u32 *p) {
 return atomic_load_explicit((volatile global atomic_uint *)p, memory_order_acquire, memory_scope_device);
}
static inline void store_release(global u32 *p, u32 v) {
 atomic_store_explicit((volatile global atomic_uint *)p, v, memory_order_release, memory_scope_device);
}
static inline u32 load_cg(global u32 *p) { return *(volatile global u32 *)p; }
static inline void store_cg(global u32 *p, u32 v) { *(volatile global u32 *)p = v; }
static inline u32 add_release(global u32 *p, u32 v) {
 return atomic_fetch_add_explicit((volatile global atomic_uint *)p, v, memory_order_release, memory_scope_device);
}
static inline u32 add_acq_rel(global u32 *p, u32 v) {
 return atomic_fetch_add_explicit((volatile global atomic_uint *)p, v, memory_order_acq_rel, memory_scope_device);
}
static inline u32 add_seq_cst_system(global u32 *p, u32 v) {
 return atomic_fetch_add_explicit((volatile global atomic_uint *)p, v, memory_order_seq_cst, memory_scope_device);
}
static inline u64 load_relaxed64(global u64 *p) { return *(volatile global u64 *)p; }
static inline void store_relaxed64(global u64 *p, u64 v) { *(volatile global u64 *)p = v; }
static inline void nap(u32 nanoseconds) { (void)nanoseconds; }
typedef float f32;
static inline u32 lock(global u32 *mutex, global u32 *gave_up) {
#pragma unroll 1
 for (u32 i = 0; i < (1u << 28); i++)
  if (atomic_cmpxchg(mutex, 0u, 1u) == 0u)
   return 1;
 atomic_add(gave_up, 1u);
 return 0;
}
static inline void unlock(global u32 *mutex) { atomic_xchg(mutex, 0u); }
static inline f32 block_sum(local f32 *cache, u32 me, f32 mine) {
 cache[me] = mine;
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 for (u32 i = 64 / 2; i > 0; i /= 2) {
  if (me < i)
   cache[me] += cache[me + i];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 }
 f32 sum = cache[0];
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 return sum;
}
static inline f32 block_scan(local f32 *cache, u32 me, f32 mine) {
 cache[me] = mine;
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 for (u32 i = 1; i < 64; i *= 2) {
  f32 before = me >= i ? cache[me - i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  cache[me] += before;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 }
 f32 sum = cache[me] - mine;
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 return sum;
}
kernel void dot_product(global u32 *mutex, global f32 *a, global f32 *b, volatile global f32 *c, global u32 *gave_up, u32 n) {
 local f32 cache[64];
 ;
 f32 mine = 0;
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0))
  mine += a[i] * b[i];
 mine = block_sum(cache, (uint)get_local_id(0), mine);
 if ((uint)get_local_id(0) == 0 && lock(mutex, gave_up)) {
  fence_site(1);
  *c += mine;
  fence_site(2);
  unlock(mutex);
 }
}
kernel void verify(global f32 *a, global f32 *b, global f32 *c, global u32 *errors, u32 n) {
 local f32 cache[64];
 ;
 f32 mine = 0;
 for (u32 i = (uint)get_local_id(0); i < n; i += (uint)get_local_size(0))
  mine += a[i] * b[i];
 mine = block_sum(cache, (uint)get_local_id(0), mine);
 if ((uint)get_local_id(0) == 0 && mine != *c)
  atomic_add(errors, 1u);
}
