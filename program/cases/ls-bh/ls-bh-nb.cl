// Made of ls-bh-nb.cu by scripts/programs.sh.
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
kernel void place(global u32 *x, global u32 *y, global u32 *z, global u32 *mass, u32 n) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) {
  u32 code = (i + 1) * 0x9e3779b1u & 0x3fffffff, p[3] = {0, 0, 0};
  for (u32 bit = 0; bit < 30; bit++)
   p[bit % 3] |= (code >> bit & 1) << bit / 3;
  x[i] = p[0];
  y[i] = p[1];
  z[i] = p[2];
  mass[i] = 1 + i % 3;
 }
}
kernel void bounds(global u32 *x, global u32 *y, global u32 *z, global u32 *part, global u32 *box, global u32 *retired, u32 n) {
 local u32 low[3];
 local u32 high[3];
 if ((uint)get_local_id(0) < 3) {
  low[(uint)get_local_id(0)] = 1 << 10;
  high[(uint)get_local_id(0)] = 0;
 }
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) {
  u32 p[3] = {x[i], y[i], z[i]};
  for (u32 axis = 0; axis < 3; axis++) {
   atomic_min(low + axis, p[axis]);
   atomic_max(high + axis, p[axis]);
  }
 }
 barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
 if ((uint)get_local_id(0) != 0)
  return;
 for (u32 axis = 0; axis < 3; axis++) {
  part[6 * (uint)get_group_id(0) + axis] = low[axis];
  part[6 * (uint)get_group_id(0) + 3 + axis] = high[axis];
 }
 atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
 if (atomic_inc(retired) != (uint)get_num_groups(0) - 1)
  return;
 ;
 u32 size = 1;
 for (u32 axis = 0; axis < 3; axis++) {
  u32 from = 1 << 10, to = 0;
  for (u32 i = 0; i < (uint)get_num_groups(0); i++) {
   u32 l = part[6 * i + axis], h = part[6 * i + 3 + axis];
   from = l < from ? l : from;
   to = h > to ? h : to;
  }
  while (size <= to - from && size < 1 << 10)
   size *= 2;
  box[axis] = from;
 }
 box[3] = size;
}
static inline u32 octant(global u32 *box, u32 x, u32 y, u32 z, u32 bit) {
 return ((x - box[0] & bit) != 0) | ((y - box[1] & bit) != 0) << 1 | ((z - box[2] & bit) != 0) << 2;
}
kernel void build(global u32 *x, global u32 *y, global u32 *z, global u32 *box, volatile global u32 *child, global u32 *lowest, global u32 *gave_up,
 u32 n, u32 root) {
 u32 polls = 0;
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n;) {
  u32 node = root, bit = box[3] / 2, slot = 8 * node + octant(box, x[i], y[i], z[i], bit), at = child[slot];
  while (at >= n && at <= root && bit > 0) {
   ;
   node = at;
   bit /= 2;
   slot = 8 * node + octant(box, x[i], y[i], z[i], bit);
   at = child[slot];
  }
  if (at == 0xfffffffeu || at >= n && at != 0xffffffffu || atomic_cmpxchg((global u32 *)child + slot, at, 0xfffffffeu) != at) {
   if (++polls == (1u << 28)) {
    atomic_add(gave_up, 1u);
    return;
   }
   continue;
  }
  u32 top = i;
  if (at != 0xffffffffu) {
   ;
   u32 into = slot;
   top = 0xffffffffu;
   for (u32 there = at; there != 0xffffffffu;) {
    u32 cell = atomic_sub(lowest, 1u) - 1;
    bit /= 2;
    if (cell < n || cell >= root || bit == 0) {
     atomic_add(gave_up, 1u);
     return;
    }
    if (top == 0xffffffffu)
     top = cell;
    else
     child[into] = cell;
    child[8 * cell + octant(box, x[at], y[at], z[at], bit)] = at;
    into = 8 * cell + octant(box, x[i], y[i], z[i], bit);
    there = child[into];
   }
   child[into] = i;
   ;
  }
  child[slot] = top;
  i += (uint)get_local_size(0) * (uint)get_num_groups(0);
 }
}
kernel void summarise(volatile global u32 *x, volatile global u32 *y, volatile global u32 *z, volatile global u32 *mass, volatile global u32 *count,
 global u32 *child, global u32 *lowest, global u32 *gave_up, u32 n, u32 root) {
 for (u32 k = *lowest + (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); k <= root; k += (uint)get_local_size(0) * (uint)get_num_groups(0)) {
  u32 m = 0, sx = 0, sy = 0, sz = 0, bodies = 0;
  for (u32 i = 0; i < 8; i++) {
   u32 at = child[8 * k + i];
   if (at > root)
    continue;
   u32 of = mass[at];
#pragma unroll 1
   for (u32 poll = 0; of == 0xffffffffu && poll < (1u << 28); poll++)
    of = mass[at];
   if (of == 0xffffffffu) {
    atomic_add(gave_up, 1u);
    return;
   }
   ;
   u32 each = at < n ? of : 1;
   m += of;
   sx += x[at] * each;
   sy += y[at] * each;
   sz += z[at] * each;
   bodies += at < n ? 1 : count[at];
  }
  x[k] = sx;
  y[k] = sy;
  z[k] = sz;
  count[k] = bodies;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  mass[k] = m;
 }
}
kernel void sort(global u32 *child, global u32 *count, volatile global u32 *start, global u32 *sorted, global u32 *lowest, global u32 *gave_up, u32 n,
 u32 root) {
 u32 bottom = *lowest;
 for (s32 k = (s32)(root - (uint)get_local_id(0) - (uint)get_group_id(0) * (uint)get_local_size(0)); k >= (s32)bottom; k -= (s32)((uint)get_local_size(0) * (uint)get_num_groups(0))) {
  u32 at = k == (s32)root ? 0 : start[k];
#pragma unroll 1
  for (u32 poll = 0; at == 0xffffffffu && poll < (1u << 28); poll++)
   at = start[k];
  if (at == 0xffffffffu) {
   atomic_add(gave_up, 1u);
   return;
  }
  for (u32 i = 0; i < 8; i++) {
   u32 c = child[8 * k + i];
   if (c < n) {
    if (at < n)
     sorted[at] = c;
    at++;
   } else if (c <= root) {
    start[c] = at;
    at += count[c];
   }
  }
 }
}
static inline u32 far(s32 dx, s32 dy, s32 dz, u32 side) { return (u32)(dx * dx + dy * dy + dz * dz) > 4 * side * side; }
static inline void pull(s32 *f, s32 dx, s32 dy, s32 dz, u32 mass) {
 s32 square = dx * dx + dy * dy + dz * dz + 1;
 f[0] += 1024 * (s32)mass * dx / square;
 f[1] += 1024 * (s32)mass * dy / square;
 f[2] += 1024 * (s32)mass * dz / square;
}
kernel void force(global u32 *x, global u32 *y, global u32 *z, global u32 *mass, global u32 *child, global u32 *box, global u32 *sorted, global s32 *moved,
 global u32 *gave_up, u32 n, u32 root) {
 for (u32 s = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); s < n; s += (uint)get_local_size(0) * (uint)get_num_groups(0)) {
  u32 i = sorted[s] % n, stack[96], side[96], depth = 1;
  s32 f[3] = {0, 0, 0};
  stack[0] = root;
  side[0] = box[3];
  for (u32 steps = 0; depth > 0; steps++) {
   u32 node = stack[--depth], edge = side[depth] / 2;
   if (steps > 8 * n) {
    atomic_add(gave_up, 1u);
    break;
   }
   for (u32 k = 0; k < 8; k++) {
    u32 c = child[8 * node + k];
    if (c > root)
     continue;
    u32 by = c < n ? 1 : mass[c];
    s32 dx = (s32)(x[c] / by - x[i]), dy = (s32)(y[c] / by - y[i]), dz = (s32)(z[c] / by - z[i]);
    if (c < n || far(dx, dy, dz, edge))
     pull(f, dx, dy, dz, mass[c]);
    else if (depth < 96) {
     side[depth] = edge;
     stack[depth++] = c;
    }
   }
  }
  moved[3 * i] = (s32)x[i] + f[0] / 16;
  moved[3 * i + 1] = (s32)y[i] + f[1] / 16;
  moved[3 * i + 2] = (s32)z[i] + f[2] / 16;
 }
}
kernel void verify(global u32 *x, global u32 *y, global u32 *z, global u32 *mass, global s32 *moved, global u32 *errors, u32 n) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) {
  u32 low[3] = {1 << 10, 1 << 10, 1 << 10}, high[3] = {0, 0, 0}, size = 1;
  for (u32 b = 0; b < n; b++) {
   u32 p[3] = {x[b], y[b], z[b]};
   for (u32 axis = 0; axis < 3; axis++) {
    low[axis] = p[axis] < low[axis] ? p[axis] : low[axis];
    high[axis] = p[axis] > high[axis] ? p[axis] : high[axis];
   }
  }
  for (u32 axis = 0; axis < 3; axis++)
   while (size <= high[axis] - low[axis])
    size *= 2;
  u32 corner[96][3], side[96], depth = 1;
  s32 f[3] = {0, 0, 0};
  corner[0][0] = corner[0][1] = corner[0][2] = 0;
  side[0] = size;
  while (depth > 0) {
   u32 edge = side[--depth] / 2, at[3] = {corner[depth][0], corner[depth][1], corner[depth][2]};
   u32 m[8], s[8][3], bodies[8];
   for (u32 k = 0; k < 8; k++)
    m[k] = s[k][0] = s[k][1] = s[k][2] = bodies[k] = 0;
   for (u32 b = 0; b < n; b++) {
    u32 p[3] = {x[b] - low[0], y[b] - low[1], z[b] - low[2]}, k = 0, inside = 1;
    for (u32 axis = 0; axis < 3; axis++) {
     inside &= p[axis] - at[axis] < 2 * edge;
     k |= ((p[axis] & edge) != 0) << axis;
    }
    if (!inside)
     continue;
    bodies[k]++;
    m[k] += mass[b];
    s[k][0] += x[b] * mass[b];
    s[k][1] += y[b] * mass[b];
    s[k][2] += z[b] * mass[b];
   }
   for (u32 k = 0; k < 8; k++) {
    if (bodies[k] == 0)
     continue;
    s32 dx = (s32)(s[k][0] / m[k] - x[i]), dy = (s32)(s[k][1] / m[k] - y[i]), dz = (s32)(s[k][2] / m[k] - z[i]);
    if (bodies[k] == 1 || far(dx, dy, dz, edge))
     pull(f, dx, dy, dz, m[k]);
    else if (depth < 96) {
     for (u32 axis = 0; axis < 3; axis++)
      corner[depth][axis] = at[axis] + (k >> axis & 1) * edge;
     side[depth++] = edge;
    }
   }
  }
  if (moved[3 * i] != (s32)x[i] + f[0] / 16 || moved[3 * i + 1] != (s32)y[i] + f[1] / 16 || moved[3 * i + 2] != (s32)z[i] + f[2] / 16)
   atomic_add(errors, 1u);
 }
}
