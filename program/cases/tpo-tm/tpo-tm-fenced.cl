// Made of tpo-tm-fenced.cu by scripts/programs.sh.
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
static inline u32 children(u32 node, u32 nodes) {
 u32 n = 1 + (node * 2654435761u >> 20) % 4;
 return 4 * node + 4 < nodes ? n : 0;
}
static inline u32 put(global u32 *mutex, global u32 *length, global u32 *tasks, global u32 *gave_up, u32 queues, u32 first, u32 task) {
 for (u32 i = 0; i < queues; i++) {
  u32 q = (first + i) % queues, done = 0;
  if (!lock(mutex + q, gave_up))
   return 0;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  if (length[q] < 64) {
   tasks[q * 64 + length[q]] = task;
   length[q] = length[q] + 1;
   done = 1;
  }
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  unlock(mutex + q);
  if (done)
   return 1;
 }
 atomic_add(gave_up, 1u);
 return 0;
}
static inline u32 take(global u32 *mutex, global u32 *length, global u32 *tasks, global u32 *gave_up, u32 queues, u32 first, u32 none) {
 for (u32 i = 0; i < queues; i++) {
  u32 q = (first + i) % queues, task = none;
  if (!lock(mutex + q, gave_up))
   return none;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  if (length[q] > 0) {
   length[q] = length[q] - 1;
   task = tasks[q * 64 + length[q]];
  }
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
  unlock(mutex + q);
  if (task != none)
   return task;
 }
 return none;
}
kernel void begin(global u32 *length, global u32 *tasks, global u32 *open) {
 tasks[0] = 0;
 *length = 1;
 *open = 1;
}
kernel void work(global u32 *mutex, global u32 *length, global u32 *tasks, global u32 *open, global u32 *ran, global u32 *gave_up, u32 nodes) {
 local u32 task;
 local u32 left;
#pragma unroll 1
 for (u32 idle = 0; idle < (1u << 28) / 256; idle++) {
  if ((uint)get_local_id(0) == 0) {
   left = load_relaxed(open);
   task = left == 0 ? nodes : take(mutex, length, tasks, gave_up, (uint)get_num_groups(0), (uint)get_group_id(0), nodes);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  u32 mine = task, others = left;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (others == 0)
   return;
  if (mine >= nodes)
   continue;
  idle = 0;
  u32 n = children(mine, nodes);
  if ((uint)get_local_id(0) == 0) {
   atomic_add(ran + mine, 1u);
   atomic_add(open, n);
   for (u32 i = 0; i < n; i++)
    put(mutex, length, tasks, gave_up, (uint)get_num_groups(0), (uint)get_group_id(0), 4 * mine + 1 + i);
   atomic_sub(open, 1u);
  }
 }
 if ((uint)get_local_id(0) == 0)
  atomic_add(gave_up, 1u);
}
kernel void verify(global u32 *ran, global u32 *errors, u32 nodes) {
 for (u32 i = (uint)get_local_id(0) + (uint)get_group_id(0) * (uint)get_local_size(0); i < nodes; i += (uint)get_local_size(0) * (uint)get_num_groups(0)) {
  u32 expected = 1;
  for (u32 at = i; at > 0; at = (at - 1) / 4)
   if ((at - 1) % 4 >= children((at - 1) / 4, nodes))
    expected = 0;
  if (ran[i] != expected)
   atomic_add(errors, 1u);
 }
}
