// order-reduce: sum of a vector after G. Evtushenko, CUDA Memory Model (2021), in five ways: by two kernels; by one whose last block, by a counter,
// adds up the blocks' sums, with a fence before a relaxed addition, with a releasing one, one that also acquires, and the sequentially consistent one of
// cuda::std::atomic, which is for the system. Only the last three ways but the releasing one are right by the memory model for those who read, too.
#include "../gpu.h"
#define THREADS 256
#include "../block.h"

FUNCTION u32 sum_of(GLOBAL u32 *in, u32 from, u32 step, u32 n) {
	u32 sum = 0;
	for (u32 i = from; i < n; i += step)
		sum += in[i];
	return sum;
}

KERNEL reduce_blocks(GLOBAL u32 *in, GLOBAL u32 *sums, u32 n) {
	__shared__ u32 cache[THREADS];
	u32 sum = block_sum(cache, threadIdx.x, sum_of(in, threadIdx.x + blockIdx.x * blockDim.x, blockDim.x * gridDim.x, n));
	if (threadIdx.x == 0)
		sums[blockIdx.x] = sum;
}

KERNEL reduce_sums(GLOBAL u32 *sums, GLOBAL u32 *result, u32 n) {
	__shared__ u32 cache[THREADS];
	u32 sum = block_sum(cache, threadIdx.x, sum_of(sums, threadIdx.x, blockDim.x, n));
	if (threadIdx.x == 0)
		*result = sum;
}

#define REDUCE(name, FENCE, ADD) \
	KERNEL name(GLOBAL u32 *in, GLOBAL u32 *sums, GLOBAL u32 *result, GLOBAL u32 *count, u32 n) { \
		__shared__ u32 cache[THREADS]; \
		__shared__ u32 last; \
		u32 sum = block_sum(cache, threadIdx.x, sum_of(in, threadIdx.x + blockIdx.x * blockDim.x, blockDim.x * gridDim.x, n)); \
		if (threadIdx.x == 0) { \
			sums[blockIdx.x] = sum; \
			FENCE; \
			last = ADD(count, 1u) == gridDim.x - 1; \
		} \
		__syncthreads(); \
		if (!last) \
			return; \
		sum = block_sum(cache, threadIdx.x, sum_of(sums, threadIdx.x, blockDim.x, gridDim.x)); \
		if (threadIdx.x == 0) \
			*result = sum; \
	}

REDUCE(reduce_fence, __threadfence(), atomicAdd)
REDUCE(reduce_release, , add_release)
REDUCE(reduce_acq_rel, , add_acq_rel)
REDUCE(reduce_seq_cst, , add_seq_cst_system)

// verify compares the result with one that a single block computes.
KERNEL verify(GLOBAL u32 *in, GLOBAL u32 *result, GLOBAL u32 *errors, u32 n) {
	__shared__ u32 cache[THREADS];
	u32 sum = block_sum(cache, threadIdx.x, sum_of(in, threadIdx.x, blockDim.x, n));
	if (threadIdx.x == 0 && sum != *result)
		atomicAdd(errors, 1u);
}
