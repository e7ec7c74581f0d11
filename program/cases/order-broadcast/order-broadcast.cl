// Made of order-broadcast.cu by scripts/programs.sh.
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
kernel void volatile_all(global u32 *data, global u64 *word, global u32 *gave_up, u32 n, u32 threshold) { ; u32 last = 0xffffffffu; for (u32 round = 0; round < last; round++) { for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) { u32 v = data[i] + 1; data[i] = v; if (i == 0) store_relaxed64(word, (u64)(v > threshold) << 32 | round + 1); } if (last == 0xffffffffu) { { u64 w = load_relaxed64(word);
#pragma unroll 1
 for (u32 i = 0; (u32)w <= round && i < (1u << 28) / 4; i++) { ; w = load_relaxed64(word); } if ((u32)w <= round) { atomic_add(gave_up, 1u); last = 0; } else if (w >> 32 != 0) last = (u32)w; } } } }
kernel void volatile_block(global u32 *data, global u64 *word, global u32 *gave_up, u32 n, u32 threshold) { local u32 told; u32 last = 0xffffffffu; for (u32 round = 0; round < last; round++) { for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) { u32 v = data[i] + 1; data[i] = v; if (i == 0) store_relaxed64(word, (u64)(v > threshold) << 32 | round + 1); } if (last == 0xffffffffu) { if ((uint)get_local_id(0) == 0) { { u64 w = load_relaxed64(word);
#pragma unroll 1
 for (u32 i = 0; (u32)w <= round && i < (1u << 28) / 4; i++) { ; w = load_relaxed64(word); } if ((u32)w <= round) { atomic_add(gave_up, 1u); last = 0; } else if (w >> 32 != 0) last = (u32)w; } told = last; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); last = told; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); } } }
kernel void nap_block(global u32 *data, global u64 *word, global u32 *gave_up, u32 n, u32 threshold) { local u32 told; u32 last = 0xffffffffu; for (u32 round = 0; round < last; round++) { for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) { u32 v = data[i] + 1; data[i] = v; if (i == 0) store_relaxed64(word, (u64)(v > threshold) << 32 | round + 1); } if (last == 0xffffffffu) { if ((uint)get_local_id(0) == 0) { { u64 w = load_relaxed64(word);
#pragma unroll 1
 for (u32 i = 0; (u32)w <= round && i < (1u << 28) / 4; i++) { nap(250); w = load_relaxed64(word); } if ((u32)w <= round) { atomic_add(gave_up, 1u); last = 0; } else if (w >> 32 != 0) last = (u32)w; } told = last; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); last = told; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); } } }
kernel void wait_block(global u32 *data, global u64 *word, global u32 *gave_up, u32 n, u32 threshold) { local u32 told; u32 last = 0xffffffffu; for (u32 round = 0; round < last; round++) { for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) { u32 v = data[i] + 1; data[i] = v; if (i == 0) store_relaxed64(word, (u64)(v > threshold) << 32 | round + 1); } if (last == 0xffffffffu) { if ((uint)get_local_id(0) == 0) { { u64 w = load_relaxed64(word);
#pragma unroll 1
 for (u32 i = 0; (u32)w <= round && i < (1u << 28) / 4; i++) { if (i >= 64) nap(i < 1024 ? i / 4 : 256); w = load_relaxed64(word); } if ((u32)w <= round) { atomic_add(gave_up, 1u); last = 0; } else if (w >> 32 != 0) last = (u32)w; } told = last; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); last = told; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); } } }
kernel void verify(global u32 *data, global u32 *errors, u32 n, u32 threshold) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < n; i += (uint)get_local_size(0) * (uint)get_num_groups(0))
  if (data[i] != threshold + 1)
   atomic_add(errors, 1u);
}
