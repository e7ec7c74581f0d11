// Made of cub-scan-cg.cu by scripts/programs.sh.
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
 for (u32 i = 128 / 2; i > 0; i /= 2) {
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
 for (u32 i = 1; i < 128; i *= 2) {
  u32 before = me >= i ? cache[me - i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  cache[me] += before;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 }
 u32 sum = cache[me] - mine;
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 return sum;
}
static inline u32 look_back(global u32 *status, global u32 *partial, global u32 *inclusive, global u32 *gave_up, u32 tile, u32 lane) {
 s32 at = (s32)tile - 1 - (s32)lane;
 u32 sum = 0;
 for (;;) {
  u32 state = 2, value = 0;
  if (at >= 0) {
   state = load_cg(status + at);
#pragma unroll 1
   for (u32 i = 0; state == 0 && i < (1u << 28); i++) {
    ;
    state = load_cg(status + at);
   }
   if (state == 0) {
    atomic_add(gave_up, 1u);
    state = 2;
   } else
    value = load_cg((state == 2 ? inclusive : partial) + at);
  }
  u32 done = ((state == 2) ? 1u : 0u);
  u32 first = 31 - clz(done & -done);
  sum += (done == 0 || lane <= first ? value : 0);
  if (done != 0)
   return sum;
  at -= 1;
 }
}
kernel void scan(global u32 *in, global u32 *out, global u32 *status, global u32 *partial, global u32 *inclusive, global u32 *gave_up, u32 n) {
 local u32 cache[128];
 local u32 before;
 u32 tile = (uint)get_group_id(0), at = (tile * 128 + (uint)get_local_id(0)) * 4;
 u32 item[4], mine = 0;
 for (u32 i = 0; i < 4; i++) {
  item[i] = at + i < n ? in[at + i] : 0;
  mine += item[i];
 }
 u32 sum = block_sum(cache, (uint)get_local_id(0), mine);
 if ((uint)get_local_id(0) < 1) {
  u32 prefix = 0;
  if (tile > 0) {
   if ((uint)get_local_id(0) == 0) {
    store_cg(partial + tile, sum);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
    store_cg(status + tile, 1);
   }
   prefix = look_back(status, partial, inclusive, gave_up, tile, (uint)get_local_id(0));
  }
  if ((uint)get_local_id(0) == 0) {
   store_cg(inclusive + tile, prefix + sum);
   atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
   store_cg(status + tile, 2);
   before = prefix;
  }
 }
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 u32 prefix = before + block_scan(cache, (uint)get_local_id(0), mine);
 for (u32 i = 0; i < 4; i++) {
  if (at + i < n)
   out[at + i] = prefix;
  prefix += item[i];
 }
}
kernel void verify(global u32 *in, global u32 *out, global u32 *errors, u32 n) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0))
  if (out[i] != (i == 0 ? 0 : out[i - 1] + in[i - 1]))
   atomic_add(errors, 1u);
}
