// sdk-red: sum of a vector after the sample threadFenceReduction of the CUDA SDK: each block stores the sum of its part; the block that is the last
// to count itself as done adds up these sums. NO_FENCE leaves out the fence between storing and counting. SOUND puts a second one between counting
// and reading, which the original does not have and the memory model demands.
#include "../gpu.h"
#define THREADS 64
#define T f32
#include "../block.h"
#ifdef NO_FENCE
#define FENCE() SITE(1)
#else
#define FENCE() __threadfence()
#endif
#ifdef SOUND
#define READ_FENCE() __threadfence()
#else
#define READ_FENCE() SITE(2)
#endif

KERNEL reduce(GLOBAL f32 *in, GLOBAL f32 *partial, GLOBAL f32 *result, GLOBAL u32 *retired, u32 n) {
	__shared__ f32 cache[THREADS];
	__shared__ u32 last;
	f32 mine = 0;
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		mine += in[i];
	mine = block_sum(cache, threadIdx.x, mine);
	if (threadIdx.x == 0) {
		partial[blockIdx.x] = mine;
		FENCE();
		last = atomicInc(retired, gridDim.x) == gridDim.x - 1;
		READ_FENCE();
	}
	__syncthreads();
	if (last) {
		mine = 0;
		for (u32 i = threadIdx.x; i < gridDim.x; i += blockDim.x)
			mine += partial[i];
		mine = block_sum(cache, threadIdx.x, mine);
		if (threadIdx.x == 0) {
			*result = mine;
			*retired = 0;
		}
	}
}

// verify compares the result with one that a single block computes. The vector has small integers: the sums are exact.
KERNEL verify(GLOBAL f32 *in, GLOBAL f32 *result, GLOBAL u32 *errors, u32 n) {
	__shared__ f32 cache[THREADS];
	f32 mine = 0;
	for (u32 i = threadIdx.x; i < n; i += blockDim.x)
		mine += in[i];
	mine = block_sum(cache, threadIdx.x, mine);
	if (threadIdx.x == 0 && mine != *result)
		atomicAdd(errors, 1u);
}
