// Made of order-corr.cu by scripts/programs.sh.
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
kernel void corr(global u32 *first, global u32 *second, global u32 *violated, global u32 *done, u32 rounds) { local u32 cache[128]; u32 me = (uint)get_local_id(0), i = first[me], k = second[me], writer = first[0], old = 0; cache[me] = 0; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); for (u32 round = 1; round <= rounds; round++) { if (me == writer) cache[me] = round; else { u32 r1 = cache[i]; u32 r2 = cache[k]; old += r2 < r1; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); } if (old > 0) atomic_add(violated, old); if (me == writer) atomic_add(done, 1u); }
kernel void corr_volatile(global u32 *first, global u32 *second, global u32 *violated, global u32 *done, u32 rounds) { local volatile u32 cache[128]; u32 me = (uint)get_local_id(0), i = first[me], k = second[me], writer = first[0], old = 0; cache[me] = 0; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); for (u32 round = 1; round <= rounds; round++) { if (me == writer) cache[me] = round; else { u32 r1 = cache[i]; u32 r2 = cache[k]; old += r2 < r1; } barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); } if (old > 0) atomic_add(violated, old); if (me == writer) atomic_add(done, 1u); }
