// Products by a warpgroup (wgmma) and asynchronous stores: NAME_bug and NAME_fix differ in one operation. sums_* compare products with their sums.
// products.ptx is what nvcc 12.4 makes of them (-ptx -lineinfo -arch=compute_90a -std=c++17 -Xcicc -O0).
#include <cuda_fp16.h>
#define PAIR(name)                                                          \
  extern "C" __global__ void name##_bug(float *out) { name<false>(out); } \
  extern "C" __global__ void name##_fix(float *out) { name<true>(out); }

typedef unsigned long long u64;

__device__ unsigned shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ void proxy() { asm volatile("fence.proxy.async;" ::: "memory"); }

// A descriptor: start, leading and stride offsets in bytes, kind of swizzle.
__device__ u64 tile(const void *p, u64 leading, u64 stride, u64 swizzle) {
  return (u64)(shared(p) & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62;
}

template <int TA = 0, int TB = 0> __device__ void multiply(float (&d)[4], u64 a, u64 b) {
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, %6, %7; }"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "n"(TA), "n"(TB) : "memory");
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], u64 b) {
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, 1, 1, 0; }"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b) : "memory");
}

__device__ float left(int i, int k) { return (i * 7 + k * 3) % 13 - 6; }
__device__ float right(int k, int j) { return (k * 5 + j * 11) % 9 - 4; }

// Where an element lies, in bytes: i along M or N, k along K.
template <bool TURNED, int WIDTH> __device__ int place(int i, int k) {
  if (WIDTH == 0) return TURNED ? i % 8 * 2 + i / 8 * 256 + k % 8 * 16 + k / 8 * 128 : i % 8 * 16 + i / 8 * 256 + k / 8 * 128 + k % 8 * 2;
  int at = TURNED ? i % (WIDTH / 2) * 2 + i / (WIDTH / 2) * 16 * WIDTH + k * WIDTH : i * WIDTH + k * 2;
  return at ^ (at >> 7 & WIDTH / 16 - 1) << 4;
}

// The product of two tiles that all threads have filled. leading and stride are those of both.
template <bool TURNED, int WIDTH> __device__ void sums(float *out, u64 leading, u64 stride) {
  __shared__ __align__(1024) char a[64 * 128], b[64 * 128];
  for (int n = threadIdx.x; n < 64 * 16; n += 128) *(__half *)(a + place<TURNED, WIDTH>(n / 16, n % 16)) = __float2half(left(n / 16, n % 16));
  if (threadIdx.x < 8 * 16) *(__half *)(b + place<TURNED, WIDTH>(threadIdx.x / 16, threadIdx.x % 16)) = __float2half(right(threadIdx.x % 16, threadIdx.x / 16));
  proxy();
  __syncthreads();
  float d[4] = {1, 2, 3, 4};
  u64 kind = WIDTH == 0 ? 0 : WIDTH == 32 ? 3 : WIDTH == 64 ? 2 : 1;
  fence();
  multiply<TURNED, TURNED>(d, tile(a, leading, stride, kind), tile(b, leading, stride, kind));
  commit();
  wait<0>();
  for (int n = 0; n < 4; n++) {
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + n / 2 * 8, col = threadIdx.x % 4 * 2 + n % 2;
    float sum = n + 1;
    for (int k = 0; k < 16; k++) sum += left(row, k) * right(k, col);
    if (sum != d[n]) __trap();
    out[row * 8 + col] = d[n];
  }
}
extern "C" __global__ void sums_plain(float *out) { sums<false, 0>(out, 128, 256); }
extern "C" __global__ void sums_turned(float *out) { sums<true, 0>(out, 128, 256); }
extern "C" __global__ void sums_32(float *out) { sums<false, 32>(out, 16, 256); }
extern "C" __global__ void sums_64(float *out) { sums<false, 64>(out, 16, 512); }
extern "C" __global__ void sums_128(float *out) { sums<false, 128>(out, 16, 1024); }
extern "C" __global__ void sums_turned_32(float *out) { sums<true, 32>(out, 512, 256); }
extern "C" __global__ void sums_turned_64(float *out) { sums<true, 64>(out, 1024, 512); }
extern "C" __global__ void sums_turned_128(float *out) { sums<true, 128>(out, 2048, 1024); }

struct tiles {
  __half a[64 * 16], b[16 * 8];
};
__device__ void fill(tiles &s, float x) {
  for (int n = threadIdx.x; n < 64 * 16; n += 128) s.a[n] = __float2half(x);
  s.b[threadIdx.x] = __float2half(x);
}
__device__ u64 first(const tiles &s) { return tile(s.a, 128, 256, 0); }
__device__ u64 second(const tiles &s) { return tile(s.b, 128, 256, 0); }
__device__ void put(float *out, const float (&d)[4]) {
  for (int n = 0; n < 4; n++) out[threadIdx.x * 4 + n] = d[n];
}

// The matrices that threads have written, without a fence between the proxies.
template <bool FIX> __device__ void operands(float *out) {
  __shared__ __align__(128) tiles s;
  fill(s, 1);
  if (FIX) proxy();
  __syncthreads();
  float d[4] = {};
  fence();
  multiply(d, first(s), second(s));
  commit();
  wait<0>();
  put(out, d);
}
PAIR(operands)

// The fence between the proxies by one thread, which does not know yet what the others have written.
template <bool FIX> __device__ void onefence(float *out) {
  __shared__ __align__(128) tiles s;
  fill(s, 1);
  if (FIX || threadIdx.x == 0) proxy();
  __syncthreads();
  float d[4] = {};
  fence();
  multiply(d, first(s), second(s));
  commit();
  wait<0>();
  put(out, d);
}
PAIR(onefence)

// Matrices that are written again while the product of the last round reads them.
template <bool FIX> __device__ void refilled(float *out) {
  __shared__ __align__(128) tiles s;
  float d[4] = {};
  for (int round = 0; round < 3; round++) {
    fill(s, round);
    proxy();
    __syncthreads();
    fence();
    multiply(d, first(s), second(s));
    commit();
    if (FIX) wait<0>(); else wait<1>();
    __syncthreads();
  }
  wait<0>();
  put(out, d);
}
PAIR(refilled)

// Sums that are taken before the product is waited for.
template <bool FIX> __device__ void early(float *out) {
  __shared__ __align__(128) tiles s;
  fill(s, 1);
  proxy();
  __syncthreads();
  float d[4] = {};
  fence();
  multiply(d, first(s), second(s));
  commit();
  if (FIX) wait<0>();
  out[threadIdx.x] = d[0] + d[1];
  if (!FIX) wait<0>();
}
PAIR(early)

// No wgmma.fence at all.
template <bool FIX> __device__ void unfenced(float *out) {
  __shared__ __align__(128) tiles s;
  fill(s, 1);
  proxy();
  __syncthreads();
  float d[4] = {};
  if (FIX) fence();
  multiply(d, first(s), second(s));
  commit();
  wait<0>();
  put(out, d);
}
PAIR(unfenced)

// A in registers that are computed behind the fence.
template <bool FIX> __device__ void computed(float *out) {
  __shared__ __align__(128) tiles s;
  fill(s, 1);
  proxy();
  __syncthreads();
  float d[4] = {};
  unsigned a[4];
  if (!FIX) fence();
  for (int n = 0; n < 4; n++) a[n] = threadIdx.x * 3 + n;
  if (FIX) fence();
  multiply(d, a, second(s));
  commit();
  wait<0>();
  put(out, d);
}
PAIR(computed)

__device__ unsigned mapa(unsigned p, unsigned rank) {
  unsigned q;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(q) : "r"(p), "r"(rank));
  return q;
}
__device__ unsigned ctarank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ void init(u64 *bar, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(bar)), "r"(n) : "memory"); }
__device__ void meet() {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ void expect(u64 *bar, int bytes) {
  u64 state;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(shared(bar)), "r"(bytes) : "memory");
}
__device__ void await(u64 *bar, int parity) {
  int done;
  do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(shared(bar)), "r"(parity) : "memory");
  while (!done);
}

// Values that another block of the cluster sends are read before their barrier object says that they are there.
template <bool FIX> __device__ void sent(float *out) {
  __shared__ __align__(16) float box[32];
  __shared__ __align__(8) u64 bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    expect(&bar, 128);
  }
  meet();
  unsigned to = ctarank() ^ 1;
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(mapa(shared(box + threadIdx.x), to)), "f"(1.0f * threadIdx.x),
               "r"(mapa(shared(&bar), to)) : "memory");
  if (FIX) await(&bar, 0); else __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = box[31 - threadIdx.x];
  meet();
}
PAIR(sent)

// A number that the other block adds to while this one sets it.
template <bool FIX> __device__ void summed(float *out) {
  __shared__ int sum;
  __shared__ __align__(8) u64 bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    expect(&bar, 128);
    if (FIX) sum = 0;
  }
  meet();
  if (!FIX && threadIdx.x == 0) sum = 0;
  unsigned to = ctarank() ^ 1;
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(mapa(shared(&sum), to)), "r"(threadIdx.x),
               "r"(mapa(shared(&bar), to)) : "memory");
  await(&bar, 0);
  out[blockIdx.x * 32 + threadIdx.x] = sum;
  meet();
}
PAIR(summed)

__device__ void push(float *to, const float *from, int bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(shared(from)), "r"(bytes) : "memory");
}

// Sums of blocks that bulk reductions add up, of numbers that have no fence between the proxies.
template <bool FIX> __device__ void pushed(float *out) {
  __shared__ __align__(16) float part[32];
  part[threadIdx.x] = blockIdx.x + threadIdx.x;
  if (FIX) proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    push(out, part, 128);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
PAIR(pushed)

// A copy to both blocks of a cluster, of which each expects half of the bytes; the next one comes when both have read the last.
template <bool FIX> __device__ void spread(float *out) {
  __shared__ __align__(16) float box[64];
  __shared__ __align__(8) u64 full;
  unsigned rank = ctarank();
  if (threadIdx.x == 0) init(&full, 1);
  meet();
  float sum = 0;
  for (int round = 0; round < 2; round++) {
    if (threadIdx.x == 0) {
      expect(&full, 256);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;" ::"r"(shared(box + 32 * rank)),
                   "l"(out + 64 + 32 * rank), "r"(shared(&full)), "h"((short)3) : "memory");
    }
    await(&full, round);
    sum += box[63 - threadIdx.x] + box[threadIdx.x];
    proxy();
    if (FIX) meet(); else __syncthreads();
  }
  out[blockIdx.x * 32 + threadIdx.x] = sum;
  meet();
}
PAIR(spread)

struct __align__(64) tensor {
  char map[128];
};
__device__ void load(void *to, const tensor &t, int x, u64 *bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared(to)), "l"(&t), "r"(x), "r"(0),
               "r"(shared(bar)) : "memory");
}

// Two boxes of different sizes a round, in a ring of two stages, which is filled again when all threads have read it.
template <bool FIX> __device__ void ring(float *out, const tensor &a, const tensor &b) {
  __shared__ __align__(128) float left[2][64], right[2][32];
  __shared__ __align__(8) u64 full[2], empty[2];
  if (threadIdx.x == 0)
    for (int n = 0; n < 2; n++) {
      init(full + n, 1);
      init(empty + n, 32);
    }
  __syncthreads();
  if (threadIdx.x == 32)
    for (int n = 0; n < 6; n++) {
      if (n > 1) await(empty + n % 2, FIX ? (n / 2 & 1) ^ 1 : n / 2 & 1);
      expect(full + n % 2, 256 + 128);
      load(left[n % 2], a, n, full + n % 2);
      load(right[n % 2], b, n, full + n % 2);
    }
  if (threadIdx.x >= 32) return;
  float sum = 0;
  for (int n = 0; n < 6; n++) {
    await(full + n % 2, n / 2 & 1);
    sum += left[n % 2][63 - threadIdx.x] * right[n % 2][threadIdx.x];
    proxy();
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared(empty + n % 2)) : "memory");
  }
  out[threadIdx.x] = sum;
}
extern "C" __global__ void ring_bug(float *out, const __grid_constant__ tensor a, const __grid_constant__ tensor b) { ring<false>(out, a, b); }
extern "C" __global__ void ring_fix(float *out, const __grid_constant__ tensor a, const __grid_constant__ tensor b) { ring<true>(out, a, b); }

// A box that threads have written, and that a copy puts into a tensor.
template <bool FIX> __device__ void stored(const tensor &t) {
  __shared__ __align__(128) float box[32];
  box[threadIdx.x] = threadIdx.x;
  if (FIX) proxy();
  __syncthreads();
  if (threadIdx.x > 0) return;
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" ::"l"(&t), "r"(blockIdx.x), "r"(shared(box)) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
extern "C" __global__ void stored_bug(const __grid_constant__ tensor t) { stored<false>(t); }
extern "C" __global__ void stored_fix(const __grid_constant__ tensor t) { stored<true>(t); }
