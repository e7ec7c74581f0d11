// Made of order-interleave.cu by scripts/programs.sh.
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
kernel void interleave(volatile global u32 *words, global u32 *seen, global u32 *wrong, u32 second, u32 third, u32 fourth) { if ((uint)get_local_id(0) != 0) return; if ((uint)get_group_id(0) == 0) { words[0] = 1; words[second] = 2; ; words[third] = 3; words[fourth] = 4; return; } for (u32 i = 0; i < 256; i++) { u32 r1 = words[0], r2 = words[second]; ; u32 r3 = words[third], r4 = words[fourth]; if (r1 == 1 && r2 == 0 && r3 == 3 && r4 == 0) atomic_add(seen, 1u); if (r1 > 1 || r2 != 0 && r2 != 2 || r3 != 0 && r3 != 3 || r4 != 0 && r4 != 4) atomic_add(wrong, 1u); if (r4 != 0) return; } }
kernel void interleave_fenced(volatile global u32 *words, global u32 *seen, global u32 *wrong, u32 second, u32 third, u32 fourth) { if ((uint)get_local_id(0) != 0) return; if ((uint)get_group_id(0) == 0) { words[0] = 1; words[second] = 2; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); words[third] = 3; words[fourth] = 4; return; } for (u32 i = 0; i < 256; i++) { u32 r1 = words[0], r2 = words[second]; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); u32 r3 = words[third], r4 = words[fourth]; if (r1 == 1 && r2 == 0 && r3 == 3 && r4 == 0) atomic_add(seen, 1u); if (r1 > 1 || r2 != 0 && r2 != 2 || r3 != 0 && r3 != 3 || r4 != 0 && r4 != 4) atomic_add(wrong, 1u); if (r4 != 0) return; } }
