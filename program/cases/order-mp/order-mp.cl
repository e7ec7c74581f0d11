// Made of order-mp.cu by scripts/programs.sh.
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
kernel void plain(global u32 *flags, global u32 *data, global u32 *stale, global u32 *gave_up, global u32 *received, u32 n, u32 messages) { u32 pair = (uint)get_group_id(0) / 2, old = 0, message = 0; if ((uint)get_local_id(0) != 0) return; for (; message < messages; message++) { global u32 *flag = flags + pair * messages + message; global u32 *words = data + (pair * messages + message) * n; if ((uint)get_group_id(0) % 2 == 0) { for (u32 i = 0; i < n; i++) *(words + i) = (i + 1); *flag = 1; continue; } u32 there = 0;
#pragma unroll 1
 for (u32 i = 0; there == 0 && i < (1u << 28); i++) there = *flag; if (there == 0) { atomic_add(gave_up, 1u); break; } ; for (u32 i = 0; i < n; i++) old += *(words + i) != i + 1; } if ((uint)get_group_id(0) % 2 == 1) atomic_add(received, message); if (old > 0) atomic_add(stale, old); }
kernel void volatile_flag(global u32 *flags, global u32 *data, global u32 *stale, global u32 *gave_up, global u32 *received, u32 n, u32 messages) { u32 pair = (uint)get_group_id(0) / 2, old = 0, message = 0; if ((uint)get_local_id(0) != 0) return; for (; message < messages; message++) { global u32 *flag = flags + pair * messages + message; global u32 *words = data + (pair * messages + message) * n; if ((uint)get_group_id(0) % 2 == 0) { for (u32 i = 0; i < n; i++) *(words + i) = (i + 1); *(volatile global u32 *)(flag) = 1; continue; } u32 there = 0;
#pragma unroll 1
 for (u32 i = 0; there == 0 && i < (1u << 28); i++) there = *(volatile global u32 *)(flag); if (there == 0) { atomic_add(gave_up, 1u); break; } ; for (u32 i = 0; i < n; i++) old += *(words + i) != i + 1; } if ((uint)get_group_id(0) % 2 == 1) atomic_add(received, message); if (old > 0) atomic_add(stale, old); }
kernel void fence_writer(global u32 *flags, global u32 *data, global u32 *stale, global u32 *gave_up, global u32 *received, u32 n, u32 messages) { u32 pair = (uint)get_group_id(0) / 2, old = 0, message = 0; if ((uint)get_local_id(0) != 0) return; for (; message < messages; message++) { global u32 *flag = flags + pair * messages + message; global u32 *words = data + (pair * messages + message) * n; if ((uint)get_group_id(0) % 2 == 0) { for (u32 i = 0; i < n; i++) *(words + i) = (i + 1); atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); *(volatile global u32 *)(flag) = 1; continue; } u32 there = 0;
#pragma unroll 1
 for (u32 i = 0; there == 0 && i < (1u << 28); i++) there = *(volatile global u32 *)(flag); if (there == 0) { atomic_add(gave_up, 1u); break; } ; for (u32 i = 0; i < n; i++) old += *(words + i) != i + 1; } if ((uint)get_group_id(0) % 2 == 1) atomic_add(received, message); if (old > 0) atomic_add(stale, old); }
kernel void fence_reader(global u32 *flags, global u32 *data, global u32 *stale, global u32 *gave_up, global u32 *received, u32 n, u32 messages) { u32 pair = (uint)get_group_id(0) / 2, old = 0, message = 0; if ((uint)get_local_id(0) != 0) return; for (; message < messages; message++) { global u32 *flag = flags + pair * messages + message; global u32 *words = data + (pair * messages + message) * n; if ((uint)get_group_id(0) % 2 == 0) { for (u32 i = 0; i < n; i++) *(words + i) = (i + 1); *(volatile global u32 *)(flag) = 1; continue; } u32 there = 0;
#pragma unroll 1
 for (u32 i = 0; there == 0 && i < (1u << 28); i++) there = *(volatile global u32 *)(flag); if (there == 0) { atomic_add(gave_up, 1u); break; } atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); for (u32 i = 0; i < n; i++) old += *(words + i) != i + 1; } if ((uint)get_group_id(0) % 2 == 1) atomic_add(received, message); if (old > 0) atomic_add(stale, old); }
kernel void fences(global u32 *flags, global u32 *data, global u32 *stale, global u32 *gave_up, global u32 *received, u32 n, u32 messages) { u32 pair = (uint)get_group_id(0) / 2, old = 0, message = 0; if ((uint)get_local_id(0) != 0) return; for (; message < messages; message++) { global u32 *flag = flags + pair * messages + message; global u32 *words = data + (pair * messages + message) * n; if ((uint)get_group_id(0) % 2 == 0) { for (u32 i = 0; i < n; i++) *(words + i) = (i + 1); atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); *(volatile global u32 *)(flag) = 1; continue; } u32 there = 0;
#pragma unroll 1
 for (u32 i = 0; there == 0 && i < (1u << 28); i++) there = *(volatile global u32 *)(flag); if (there == 0) { atomic_add(gave_up, 1u); break; } atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); for (u32 i = 0; i < n; i++) old += *(words + i) != i + 1; } if ((uint)get_group_id(0) % 2 == 1) atomic_add(received, message); if (old > 0) atomic_add(stale, old); }
kernel void release_acquire(global u32 *flags, global u32 *data, global u32 *stale, global u32 *gave_up, global u32 *received, u32 n, u32 messages) { u32 pair = (uint)get_group_id(0) / 2, old = 0, message = 0; if ((uint)get_local_id(0) != 0) return; for (; message < messages; message++) { global u32 *flag = flags + pair * messages + message; global u32 *words = data + (pair * messages + message) * n; if ((uint)get_group_id(0) % 2 == 0) { for (u32 i = 0; i < n; i++) *(words + i) = (i + 1); store_release(flag, 1); continue; } u32 there = 0;
#pragma unroll 1
 for (u32 i = 0; there == 0 && i < (1u << 28); i++) there = load_acquire(flag); if (there == 0) { atomic_add(gave_up, 1u); break; } ; for (u32 i = 0; i < n; i++) old += *(words + i) != i + 1; } if ((uint)get_group_id(0) % 2 == 1) atomic_add(received, message); if (old > 0) atomic_add(stale, old); }
kernel void ld_cg(global u32 *flags, global u32 *data, global u32 *stale, global u32 *gave_up, global u32 *received, u32 n, u32 messages) { u32 pair = (uint)get_group_id(0) / 2, old = 0, message = 0; if ((uint)get_local_id(0) != 0) return; for (; message < messages; message++) { global u32 *flag = flags + pair * messages + message; global u32 *words = data + (pair * messages + message) * n; if ((uint)get_group_id(0) % 2 == 0) { for (u32 i = 0; i < n; i++) *(words + i) = (i + 1); atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); *(volatile global u32 *)(flag) = 1; continue; } u32 there = 0;
#pragma unroll 1
 for (u32 i = 0; there == 0 && i < (1u << 28); i++) there = *(volatile global u32 *)(flag); if (there == 0) { atomic_add(gave_up, 1u); break; } ; for (u32 i = 0; i < n; i++) old += load_cg(words + i) != i + 1; } if ((uint)get_group_id(0) % 2 == 1) atomic_add(received, message); if (old > 0) atomic_add(stale, old); }
kernel void word(global u64 *data, global u32 *stale, global u32 *gave_up, global u32 *received, u32 n, u32 messages) {
 u32 pair = (uint)get_group_id(0) / 2, old = 0, message = 0;
 if ((uint)get_local_id(0) != 0)
  return;
 for (; message < messages; message++) {
  volatile global u64 *words = data + (pair * messages + message) * n;
  for (u32 i = 0; i < n; i++) {
   if ((uint)get_group_id(0) % 2 == 0) {
    words[i] = (u64)(i + 1) << 32 | 1;
    continue;
   }
   u64 w = 0;
#pragma unroll 1
   for (u32 k = 0; (w & 1) == 0 && k < (1u << 28); k++)
    w = words[i];
   if ((w & 1) == 0) {
    atomic_add(gave_up, 1u);
    return;
   }
   old += w >> 32 != i + 1;
  }
 }
 if ((uint)get_group_id(0) % 2 == 1)
  atomic_add(received, message);
 if (old > 0)
  atomic_add(stale, old);
}
