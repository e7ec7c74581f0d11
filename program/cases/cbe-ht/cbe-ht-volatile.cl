// Made of cbe-ht-volatile.cu by scripts/programs.sh.
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
kernel void add_to_table(global u32 *mutex, global u32 *keys, volatile global u32 *entries, volatile global u32 *pool_key, volatile global u32 *pool_value, volatile global u32 *pool_next,
 global u32 *gave_up, u32 n, u32 buckets) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) {
  u32 key = keys[i], bucket = key % buckets;
#pragma unroll 1
  for (u32 turn = 0; turn < 32; turn++)
   if ((uint)get_local_id(0) % 32 == turn && lock(mutex + bucket, gave_up)) {
    fence_site(1);
    pool_key[i] = key;
    pool_value[i] = i;
    pool_next[i] = entries[bucket];
    entries[bucket] = i + 1;
    fence_site(2);
    unlock(mutex + bucket);
   }
 }
}
kernel void mark(global u32 *entries, global u32 *pool_key, global u32 *pool_next, global u32 *seen, global u32 *errors, u32 n, u32 buckets) {
 u32 bucket = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0);
 if (bucket >= buckets)
  return;
 u32 at = entries[bucket], steps = 0;
 for (; at != 0 && at <= n && steps < n; steps++) {
  atomic_add(seen + at - 1, 1u);
  if (pool_key[at - 1] % buckets != bucket)
   atomic_add(errors, 1u);
  at = pool_next[at - 1];
 }
 if (at != 0)
  atomic_add(errors, 1u);
}
kernel void verify(global u32 *keys, global u32 *pool_key, global u32 *pool_value, global u32 *seen, global u32 *errors, u32 n) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0))
  if (seen[i] != 1 || pool_key[i] != keys[i] || pool_value[i] != i)
   atomic_add(errors, 1u);
}
