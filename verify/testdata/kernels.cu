// Kernels that are right, and what becomes of them when one thing is left out. kernels.ptx is what nvcc 12.4 makes of them
// (-ptx -lineinfo -arch=compute_80).
#define SYNC __syncthreads()

extern "C" __global__ void flag_plain(int *flag, int *data, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    *(volatile int *)flag = 1;
  } else {
    while (!*(volatile int *)flag) ;
    out[blockIdx.x] = data[0];
  }
}

extern "C" __global__ void flag_fenced(int *flag, int *data, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    *(volatile int *)flag = 1;
  } else {
    while (!*(volatile int *)flag) ;
    __threadfence();
    out[blockIdx.x] = data[0];
  }
}

extern "C" __global__ void flag_block(int *flag, int *data, int *out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence_block();
    *(volatile int *)flag = 1;
  } else {
    while (!*(volatile int *)flag) ;
    __threadfence();
    out[blockIdx.x] = data[0];
  }
}

extern "C" __global__ void lock_gpu(int *lock, int *count) {
  if (threadIdx.x) return;
  while (atomicCAS(lock, 0, 1)) ;
  __threadfence();
  count[0]++;
  __threadfence();
  atomicExch(lock, 0);
}

extern "C" __global__ void lock_block(int *lock, int *count) {
  if (threadIdx.x) return;
  while (atomicCAS_block(lock, 0, 1)) ;
  __threadfence();
  count[0]++;
  __threadfence();
  atomicExch_block(lock, 0);
}

extern "C" __global__ void lock_kept(int *lock, int *count) {
  if (threadIdx.x) return;
  while (atomicCAS(lock, 0, 1)) ;
  __threadfence();
  count[0]++;
  __threadfence();
}

template <bool sync> __device__ void reduce(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  SYNC;
  for (int d = 32; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    if (sync || d > 16) SYNC;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_synced(const float *in, float *out) { reduce<true>(in, out); }
extern "C" __global__ void reduce_unsynced(const float *in, float *out) { reduce<false>(in, out); }

extern "C" __global__ void barrier_lanes(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t & 1) {
    s[t] = t;
    SYNC;
  } else {
    s[t] = -t;
    SYNC;
  }
  out[blockIdx.x * 64 + t] = s[t ^ 1];
}

// The last block to come adds up what all have stored, and puts the counter back: it has seen all of them.
extern "C" __global__ void last_block(unsigned *count, int *part, int *sum) {
  if (threadIdx.x) return;
  part[blockIdx.x] = blockIdx.x;
  __threadfence();
  if (atomicAdd(count, 1) == gridDim.x - 1) {
    __threadfence();
    for (int i = 0; i < gridDim.x; i++) *sum += part[i];
    *count = 0;
  }
}

extern "C" __global__ void warp_synced(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncwarp();
  out[blockIdx.x * 64 + t] = s[t ^ 1];
}

extern "C" __global__ void warp_unsynced(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  out[blockIdx.x * 64 + t] = s[t ^ 1];
}

extern "C" __global__ void copy_waited(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + blockIdx.x * 64 + t) : "memory");
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
  SYNC;
  out[blockIdx.x * 64 + t] = s[t ^ 1];
}

extern "C" __global__ void copy_early(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + blockIdx.x * 64 + t) : "memory");
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 1;" ::: "memory");
  SYNC;
  out[blockIdx.x * 64 + t] = s[t ^ 1];
}

// Two producers and two consumers, each a warp: a named barrier between them.
extern "C" __global__ void named(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[blockIdx.x * 32 + t - 32] = s[t - 32];
  }
}

extern "C" __global__ void named_wrong(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
    out[blockIdx.x * 32 + t - 32] = s[t - 32];
  }
}

extern "C" __global__ void beyond(int *out) {
  __shared__ int s[64];
  s[threadIdx.x + 1] = 1;
  SYNC;
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}
