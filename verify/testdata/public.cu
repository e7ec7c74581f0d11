// Mistakes that were reported in public and mended there, each as the smallest kernel that has it: NAME_bug and NAME_fix differ in what the report says.
// public.ptx is what nvcc 12.4 makes of them (-ptx -lineinfo -arch=compute_90 -Xcicc -O0). The reports are in docs/results/verify.md.
#define PAIR(name, ...) \
  extern "C" __global__ void name##_bug(__VA_ARGS__) { name<false>(ARGS); } \
  extern "C" __global__ void name##_fix(__VA_ARGS__) { name<true>(ARGS); }
#define ARGS in, out
#define INOUT int *in, int *out

typedef unsigned long long u64;

__device__ unsigned shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(u64 *bar, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(bar)), "r"(n) : "memory"); }
__device__ void arrive(u64 *bar) {
  u64 state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared(bar)) : "memory");
}
__device__ void expect(u64 *bar, int bytes) {
  u64 state;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(shared(bar)), "r"(bytes) : "memory");
}
__device__ void wait(u64 *bar, int parity) {
  int done;
  do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(shared(bar)), "r"(parity) : "memory");
  while (!done);
}
__device__ void load(void *to, const void *from, int bytes, u64 *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(to)), "l"(from), "r"(bytes), "r"(shared(bar)) : "memory");
}
__device__ void store(void *to, const void *from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared(from)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ void stored() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void bar_sync(int id, int n) { asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
__device__ void bar_arrive(int id, int n) { asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }

// A stage that threads have read is filled again by a bulk copy: the reads must be fenced towards the other proxy before the stage is given back.
template <bool fix> __device__ void refill(INOUT) {
  __shared__ alignas(128) int stage[32];
  __shared__ u64 full, empty;
  int t = threadIdx.x, sum = 0;
  if (t == 0) {
    init(&full, 1), init(&empty, 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    proxy();
  }
  __syncthreads();
  for (int k = 0; k < 3; k++) {
    if (t == 0) {
      if (k) wait(&empty, (k - 1) & 1);
      expect(&full, 128);
      load(stage, in + 32 * k, 128, &full);
    }
    __syncwarp();
    wait(&full, k & 1);
    sum += stage[t ^ 1];
    if (fix) proxy();
    arrive(&empty);
  }
  out[t] = sum;
}
PAIR(refill, INOUT)

// A tile is filled for the next task while the bulk copy of the last one still reads it.
template <bool fix> __device__ void reused(INOUT) {
  __shared__ alignas(128) int tile[32];
  int t = threadIdx.x;
  for (int k = 0; k < 3; k++) {
    if (fix && t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    __syncthreads();
    tile[t] = in[t] + k;
    proxy();
    __syncthreads();
    if (t == 0) store(out + 32 * k, tile, 128);
  }
  if (t == 0) stored();
}
PAIR(reused, INOUT)

// A reduction by a warp whose steps are not kept apart.
template <bool fix> __device__ void reduced(INOUT) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t], s[t + 32] = 0;
  __syncwarp();
  for (int d = 16; d; d /= 2) {
    int v = s[t + d];
    if (fix) __syncwarp();
    s[t] += v;
    if (fix) __syncwarp();
  }
  if (t == 0) *out = s[0];
}
PAIR(reduced, INOUT)

// Blocks take their turns by a semaphore: what all threads of a block wrote must be released with it.
template <bool fix> __device__ void serial(INOUT) {
  int t = threadIdx.x;
  if (t == 0)
    while (((volatile int *)in)[0] != blockIdx.x);
  __syncthreads();
  if (fix) __threadfence();
  out[t] += 1;
  if (fix) __threadfence();
  __syncthreads();
  if (t == 0) ((volatile int *)in)[0] = blockIdx.x + 1;
}
PAIR(serial, INOUT)

// One thread counts the block as done before the others have: each has made its writes visible, but nobody waits for it.
template <bool fix> __device__ void retired(INOUT) {
  __shared__ bool last;
  int t = threadIdx.x;
  out[1 + blockIdx.x * blockDim.x + t] = t;
  __threadfence();
  if (fix) __syncthreads();
  if (t == 0) last = atomicAdd(in, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last || t) return;
  __threadfence();
  int sum = 0;
  for (int i = 0; i < gridDim.x * blockDim.x; i++) sum += out[1 + i];
  out[0] = sum;
}
PAIR(retired, INOUT)

// A barrier of all blocks that releases, and acquires nothing behind the wait.
template <bool fix> __device__ void devicewide(INOUT) {
  int t = threadIdx.x;
  out[blockIdx.x * blockDim.x + t] = t;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicAdd(in, 1);
    int seen;
    do asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(in) : "memory");
    while (seen < gridDim.x);
    if (fix) __threadfence();
  }
  __syncthreads();
  in[1 + blockIdx.x * blockDim.x + t] = out[(blockIdx.x + 1) % gridDim.x * blockDim.x + t];
}
PAIR(devicewide, INOUT)

// A barrier of the block that only some of its warps come to, so that each meets another one than it should.
template <bool fix> __device__ void uneven(INOUT) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  if (fix || t < 32) __syncthreads();
  int v = s[t ^ 32];
  __syncthreads();
  s[t] = v;
  __syncthreads();
  out[t] = s[t ^ 1];
}
PAIR(uneven, INOUT)

// A barrier of the block in a branch that half of the lanes take.
template <bool fix> __device__ void branched(INOUT) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = in[t];
  int v = 0;
  if (fix) __syncthreads();
  if (t % 2 == 0) {
    v = s[t];
    if (!fix) __syncthreads();
    out[t] = v + s[t ^ 1];
  }
}
PAIR(branched, INOUT)

// A warp with nothing to do arrives at a named barrier and goes on to the next round, where it arrives again before the others have come.
template <bool fix> __device__ void idle(INOUT) {
  int t = threadIdx.x;
  __shared__ int s[32];
  for (int k = 0; k < 4; k++)
    if (t >= 32) {
      if (fix) bar_sync(1, 64); else bar_arrive(1, 64);
    } else {
      s[t] = in[t] + k;
      bar_sync(1, 64);
      out[t] = s[t ^ 1];
      __syncwarp();
    }
}
PAIR(idle, INOUT)

// Counters that one thread sets to zero are added to before that.
template <bool fix> __device__ void counters(INOUT) {
  __shared__ int n[4];
  int t = threadIdx.x;
  if (t < 4) n[t] = 0;
  if (fix) __syncthreads();
  atomicAdd(&n[in[t] & 3], 1);
  __syncthreads();
  if (t < 4) out[t] = n[t];
}
PAIR(counters, INOUT)

// A loop with one barrier: who is ahead writes the next round's value while others read this one's.
template <bool fix> __device__ void once(INOUT) {
  __shared__ int s[64];
  int t = threadIdx.x, equal = 0;
  for (int k = 0; k < 3; k++) {
    s[t] = in[t + k];
    __syncthreads();
    for (int i = 0; i < t; i++) equal += s[i] == in[t + k];
    if (fix) __syncthreads();
  }
  out[t] = equal;
}
PAIR(once, INOUT)

// Two partners meet at one barrier object for three stages: who does not wait goes two phases ahead, and the other one waits for a parity that it has passed.
template <bool fix> __device__ void ahead(INOUT) {
  __shared__ u64 met[2];
  int t = threadIdx.x;
  if (t == 0) init(met, 2), init(met + 1, 2);
  __syncthreads();
  if (t == 32)
    for (int k = 0; k < 4; k++) {
      arrive(met + (fix ? k & 1 : 0));
      if (!fix) arrive(met), arrive(met);
      else if (k) wait(met + (k - 1 & 1), (k - 1) / 2 & 1);
    }
  if (t == 0)
    for (int k = 0; k < 4; k++) {
      u64 *bar = met + (fix ? k & 1 : 0);
      arrive(bar);
      wait(bar, fix ? k / 2 & 1 : k & 1);
      out[k] = k;
    }
}
PAIR(ahead, INOUT)
