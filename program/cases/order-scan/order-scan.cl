// Made of order-scan.cu by scripts/programs.sh.
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
static inline u32 load_tile(global u32 *in, u32 *item, u32 at) {
 u32 sum = 0;
 for (u32 i = 0; i < 8; i++) {
  item[i] = in[at + i];
  sum += item[i];
 }
 return sum;
}
static inline void store_tile(global u32 *out, const u32 *item, u32 at, u32 prefix) {
 for (u32 i = 0; i < 8; i++) {
  out[at + i] = prefix;
  prefix += item[i];
 }
}
kernel void scan_tiles(global u32 *in, global u32 *out, global u32 *sums) {
 local u32 cache[128]; local u32 before; u32 item[8], tile = (uint)get_group_id(0), me = (uint)get_local_id(0), at = (tile * 128 + me) * 8; u32 mine = load_tile(in, item, at), sum = block_sum(cache, me, mine); if (me < 1) { u32 prefix = 0; if (me == 0) before = prefix; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); store_tile(out, item, at, before + block_scan(cache, me, mine));
 if (me == 0)
  sums[tile] = sum;
}
kernel void scan_sums(global u32 *sums, u32 tiles) {
 local u32 cache[128];
 u32 each = (tiles + 128 - 1) / 128, from = (uint)get_local_id(0) * each, sum = 0;
 for (u32 i = from; i < from + each && i < tiles; i++)
  sum += sums[i];
 u32 prefix = block_scan(cache, (uint)get_local_id(0), sum);
 for (u32 i = from; i < from + each && i < tiles; i++) {
  u32 own = sums[i];
  sums[i] = prefix;
  prefix += own;
 }
}
kernel void add_sums(global u32 *out, global u32 *sums) {
 u32 at = ((uint)get_group_id(0) * 128 + (uint)get_local_id(0)) * 8;
 for (u32 i = 0; i < 8; i++)
  out[at + i] += sums[(uint)get_group_id(0)];
}
static inline u64 pack(u32 value, u32 state) { return (u64)value << 32 | state; }
static inline u64 await(global u64 *word, global u32 *gave_up) {
 u64 w = load_relaxed64(word);
#pragma unroll 1
 for (u32 i = 0; (u32)w == 0 && i < (1u << 28); i++)
  w = load_relaxed64(word);
 if ((u32)w == 0) {
  atomic_add(gave_up, 1u);
  return 2;
 }
 return w;
}
static inline u32 chain(global u64 *words, global u32 *gave_up, u32 tile, u32 lane, u32 sum) {
 u32 prefix = 0;
 if (lane == 0) {
  if (tile > 0)
   prefix = (u32)(await(words + tile - 1, gave_up) >> 32);
  store_relaxed64(words + tile, pack(prefix + sum, 2));
 }
 return prefix;
}
kernel void scan_chained(global u32 *in, global u32 *out, global u64 *words, global u32 *gave_up) { local u32 cache[128]; local u32 before; u32 item[8], tile = (uint)get_group_id(0), me = (uint)get_local_id(0), at = (tile * 128 + me) * 8; u32 mine = load_tile(in, item, at), sum = block_sum(cache, me, mine); if (me < 1) { u32 prefix = chain(words, gave_up, tile, me, sum); if (me == 0) before = prefix; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); store_tile(out, item, at, before + block_scan(cache, me, mine)); }
static inline u32 look_back(global u64 *words, global u32 *gave_up, u32 tile, u32 lane, u32 sum) {
 u32 prefix = 0, done = 0;
 if (lane == 0)
  store_relaxed64(words + tile, pack(sum, tile == 0 ? 2 : 1));
 if (tile == 0)
  return 0;
 for (s32 at = (s32)tile - 1 - (s32)lane; done == 0; at -= 1) {
  u64 w = at >= 0 ? await(words + at, gave_up) : 2;
  done = (((u32)w == 2) ? 1u : 0u);
  u32 first = 31 - clz(done & -done);
  prefix += (done == 0 || lane <= first ? (u32)(w >> 32) : 0);
 }
 if (lane == 0)
  store_relaxed64(words + tile, pack(prefix + sum, 2));
 return prefix;
}
kernel void scan_look_back(global u32 *in, global u32 *out, global u64 *words, global u32 *gave_up) { local u32 cache[128]; local u32 before; u32 item[8], tile = (uint)get_group_id(0), me = (uint)get_local_id(0), at = (tile * 128 + me) * 8; u32 mine = load_tile(in, item, at), sum = block_sum(cache, me, mine); if (me < 1) { u32 prefix = look_back(words, gave_up, tile, me, sum); if (me == 0) before = prefix; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); store_tile(out, item, at, before + block_scan(cache, me, mine)); }
static inline u32 look_back_fenced(volatile global u32 *status, global u32 *values, global u32 *gave_up, u32 tile, u32 lane, u32 sum) {
 u32 prefix = 0, done = 0;
 if (lane == 0 && tile > 0) {
  values[2 * tile] = sum;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  status[tile] = 1;
 }
 for (s32 at = (s32)tile - 1 - (s32)lane; done == 0 && tile > 0; at -= 1) {
  u32 state = at >= 0 ? status[at] : 2, value = 0;
#pragma unroll 1
  for (u32 i = 0; state == 0 && i < (1u << 28); i++)
   state = status[at];
  if (state == 0) {
   atomic_add(gave_up, 1u);
   state = 2;
  }
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  if (at >= 0)
   value = values[2 * at + state - 1];
  done = ((state == 2) ? 1u : 0u);
  u32 first = 31 - clz(done & -done);
  prefix += (done == 0 || lane <= first ? value : 0);
 }
 if (lane == 0) {
  values[2 * tile + 1] = prefix + sum;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  status[tile] = 2;
 }
 return prefix;
}
kernel void scan_fenced(global u32 *in, global u32 *out, global u32 *status, global u32 *values, global u32 *gave_up) {
 local u32 cache[128]; local u32 before; u32 item[8], tile = (uint)get_group_id(0), me = (uint)get_local_id(0), at = (tile * 128 + me) * 8; u32 mine = load_tile(in, item, at), sum = block_sum(cache, me, mine); if (me < 1) { u32 prefix = look_back_fenced(status, values, gave_up, tile, me, sum); if (me == 0) before = prefix; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); store_tile(out, item, at, before + block_scan(cache, me, mine));
}
kernel void verify(global u32 *in, global u32 *out, global u32 *errors, u32 n) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0))
  if (out[i] != (i == 0 ? 0 : out[i - 1] + in[i - 1]))
   atomic_add(errors, 1u);
}
