// Made of ct-octree-volatile.cu by scripts/programs.sh.
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
static inline u32 push(volatile global u32 *tail, volatile global u32 *cells, u32 first, u32 count, u32 level) {
 u32 at = *tail;
 if (at >= 128)
  return 0;
 cells[3 * at] = first;
 cells[3 * at + 1] = count;
 cells[3 * at + 2] = level;
 ;
 *tail = at + 1;
 return 1;
}
static inline u32 pop(global u32 *head, volatile global u32 *tail) {
 u32 at = *tail;
 if (at == 0)
  return 128;
 *tail = --at;
 ;
 u32 old = *(volatile global u32 *)head;
 if (at > ((old)&0xffff))
  return at;
 *tail = 0;
 ;
 if (at == ((old)&0xffff) && atomic_cmpxchg(head, old, (((old)&0xffff0000u) + 0x10000)) == old)
  return at;
 atomic_xchg(head, (((old)&0xffff0000u) + 0x10000));
 return 128;
}
static inline u32 steal(global u32 *head, volatile global u32 *tail, volatile global u32 *cells, local u32 *cell) {
 u32 old = *(volatile global u32 *)head;
 ;
 if (*tail <= ((old)&0xffff))
  return 0;
 ;
 for (u32 i = 0; i < 3; i++)
  cell[i] = cells[3 * ((old)&0xffff) + i];
 ;
 return atomic_cmpxchg(head, old, old + 1) == old;
}
static inline u32 find(global u32 *head, global u32 *tail, volatile global u32 *cells, local u32 *cell, u32 own, u32 queues) {
 u32 at = pop(head + own, tail + own);
 if (at < 128) {
  for (u32 i = 0; i < 3; i++)
   cell[i] = cells[3 * (own * 128 + at) + i];
  return 1;
 }
 for (u32 i = 1; i < queues; i++) {
  u32 other = (own + i) % queues;
  if (steal(head + other, tail + other, cells + 3 * other * 128, cell))
   return 1;
 }
 return 0;
}
static inline u32 octant(u32 code, u32 level) { return code >> 3 * (10 - 1 - level) & 7; }
kernel void begin(global u32 *tail, global u32 *cells, u32 n) {
 cells[0] = 0;
 cells[1] = n;
 cells[2] = 0;
 *tail = 1;
}
kernel void partition(global u32 *code, volatile global u32 *ids, global u32 *head, global u32 *tail, volatile global u32 *cells, global u32 *leaf, global u32 *placed,
 global u32 *gave_up, u32 n) {
 local u32 cell[3];
 local u32 found;
 local u32 inside[8];
 local u32 offset[8];
#pragma unroll 1
 for (u32 idle = 0; idle < (1u << 28) / 256; idle++) {
  if ((uint)get_local_id(0) == 0)
   found = load_relaxed(placed) >= n ? 2 : find(head, tail, cells, cell, (uint)get_group_id(0), (uint)get_num_groups(0));
  if ((uint)get_local_id(0) < 8)
   inside[(uint)get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  u32 state = found;
  if (state == 2)
   return;
  u32 first = cell[0], count = cell[1], level = cell[2];
  volatile global u32 *from = ids + (level % 2) * n, *to = ids + (1 - level % 2) * n;
  if (state == 1 && (count > n || first > n - count || level > 10)) {
   if ((uint)get_local_id(0) == 0)
    atomic_add(gave_up, 1u);
   state = 0;
  }
  u32 divide = state == 1 && count > 16 && level < 10;
  for (u32 i = (uint)get_local_id(0); state == 1 && i < count; i += (uint)get_local_size(0)) {
   u32 id = from[first + i] % n;
   if (divide)
    atomic_add(inside + octant(code[id], level), 1u);
   else
    atomic_add(leaf + id, 1u);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((uint)get_local_id(0) == 0 && divide) {
   u32 at = first;
   for (u32 i = 0; i < 8; i++) {
    offset[i] = at;
    at += inside[i];
   }
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (u32 i = (uint)get_local_id(0); divide && i < count; i += (uint)get_local_size(0)) {
   u32 id = from[first + i] % n;
   u32 at = atomic_add(offset + octant(code[id], level), 1u);
   if (at < n)
    to[at] = id;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if ((uint)get_local_id(0) == 0 && state == 1) {
   idle = 0;
   if (!divide)
    atomic_add(placed, count);
   for (u32 i = 0; divide && i < 8; i++)
    if (inside[i] > 0 && !push(tail + (uint)get_group_id(0), cells + 3 * (uint)get_group_id(0) * 128, offset[i] - inside[i], inside[i], level + 1))
     atomic_add(gave_up, 1u);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 }
 if ((uint)get_local_id(0) == 0)
  atomic_add(gave_up, 1u);
}
kernel void verify(global u32 *leaf, global u32 *errors, u32 n) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0))
  if (leaf[i] != 1)
   atomic_add(errors, 1u);
}
