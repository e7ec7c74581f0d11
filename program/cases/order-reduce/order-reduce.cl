// Made of order-reduce.cu by scripts/programs.sh.
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
static inline u32 block_sum(local u32 *cache, u32 me, u32 mine) {
 cache[me] = mine;
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 for (u32 i = 256 / 2; i > 0; i /= 2) {
  if (me < i)
   cache[me] += cache[me + i];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 }
 u32 sum = cache[0];
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 return sum;
}
static inline u32 block_scan(local u32 *cache, u32 me, u32 mine) {
 cache[me] = mine;
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 for (u32 i = 1; i < 256; i *= 2) {
  u32 before = me >= i ? cache[me - i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  cache[me] += before;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 }
 u32 sum = cache[me] - mine;
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 return sum;
}
static inline u32 sum_of(global u32 *in, u32 from, u32 step, u32 n) {
 u32 sum = 0;
 for (u32 i = from; i < n; i += step)
  sum += in[i];
 return sum;
}
kernel void reduce_blocks(global u32 *in, global u32 *sums, u32 n) {
 local u32 cache[256];
 u32 sum = block_sum(cache, (uint)get_local_id(0), sum_of(in, (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0), (uint)get_local_size(0) * (uint)get_num_groups(0), n));
 if ((uint)get_local_id(0) == 0)
  sums[(uint)get_group_id(0)] = sum;
}
kernel void reduce_sums(global u32 *sums, global u32 *result, u32 n) {
 local u32 cache[256];
 u32 sum = block_sum(cache, (uint)get_local_id(0), sum_of(sums, (uint)get_local_id(0), (uint)get_local_size(0), n));
 if ((uint)get_local_id(0) == 0)
  *result = sum;
}
kernel void reduce_fence(global u32 *in, global u32 *sums, global u32 *result, global u32 *count, u32 n) { local u32 cache[256]; local u32 last; u32 sum = block_sum(cache, (uint)get_local_id(0), sum_of(in, (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0), (uint)get_local_size(0) * (uint)get_num_groups(0), n)); if ((uint)get_local_id(0) == 0) { sums[(uint)get_group_id(0)] = sum; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); last = atomic_add(count, 1u) == (uint)get_num_groups(0) - 1; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); if (!last) return; sum = block_sum(cache, (uint)get_local_id(0), sum_of(sums, (uint)get_local_id(0), (uint)get_local_size(0), (uint)get_num_groups(0))); if ((uint)get_local_id(0) == 0) *result = sum; }
kernel void reduce_release(global u32 *in, global u32 *sums, global u32 *result, global u32 *count, u32 n) { local u32 cache[256]; local u32 last; u32 sum = block_sum(cache, (uint)get_local_id(0), sum_of(in, (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0), (uint)get_local_size(0) * (uint)get_num_groups(0), n)); if ((uint)get_local_id(0) == 0) { sums[(uint)get_group_id(0)] = sum; ; last = add_release(count, 1u) == (uint)get_num_groups(0) - 1; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); if (!last) return; sum = block_sum(cache, (uint)get_local_id(0), sum_of(sums, (uint)get_local_id(0), (uint)get_local_size(0), (uint)get_num_groups(0))); if ((uint)get_local_id(0) == 0) *result = sum; }
kernel void reduce_acq_rel(global u32 *in, global u32 *sums, global u32 *result, global u32 *count, u32 n) { local u32 cache[256]; local u32 last; u32 sum = block_sum(cache, (uint)get_local_id(0), sum_of(in, (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0), (uint)get_local_size(0) * (uint)get_num_groups(0), n)); if ((uint)get_local_id(0) == 0) { sums[(uint)get_group_id(0)] = sum; ; last = add_acq_rel(count, 1u) == (uint)get_num_groups(0) - 1; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); if (!last) return; sum = block_sum(cache, (uint)get_local_id(0), sum_of(sums, (uint)get_local_id(0), (uint)get_local_size(0), (uint)get_num_groups(0))); if ((uint)get_local_id(0) == 0) *result = sum; }
kernel void reduce_seq_cst(global u32 *in, global u32 *sums, global u32 *result, global u32 *count, u32 n) { local u32 cache[256]; local u32 last; u32 sum = block_sum(cache, (uint)get_local_id(0), sum_of(in, (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0), (uint)get_local_size(0) * (uint)get_num_groups(0), n)); if ((uint)get_local_id(0) == 0) { sums[(uint)get_group_id(0)] = sum; ; last = add_seq_cst_system(count, 1u) == (uint)get_num_groups(0) - 1; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); if (!last) return; sum = block_sum(cache, (uint)get_local_id(0), sum_of(sums, (uint)get_local_id(0), (uint)get_local_size(0), (uint)get_num_groups(0))); if ((uint)get_local_id(0) == 0) *result = sum; }
kernel void verify(global u32 *in, global u32 *result, global u32 *errors, u32 n) {
 local u32 cache[256];
 u32 sum = block_sum(cache, (uint)get_local_id(0), sum_of(in, (uint)get_local_id(0), (uint)get_local_size(0), n));
 if ((uint)get_local_id(0) == 0 && sum != *result)
  atomic_add(errors, 1u);
}
