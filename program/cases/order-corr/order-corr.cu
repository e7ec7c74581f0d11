// order-corr: one thread of a block writes a word of shared memory, the others read it twice through tables of indices, so that no compiler can know
// that the two reads are of one word, after G. Evtushenko, CUDA Memory Model (2021). The second must not be older than the first.
#include "../gpu.h"
#define THREADS 128

#define CORR(name, QUALIFIER) \
	KERNEL name(GLOBAL u32 *first, GLOBAL u32 *second, GLOBAL u32 *violated, GLOBAL u32 *done, u32 rounds) { \
		__shared__ QUALIFIER u32 cache[THREADS]; \
		u32 me = threadIdx.x, i = first[me], k = second[me], writer = first[0], old = 0; \
		cache[me] = 0; \
		__syncthreads(); \
		for (u32 round = 1; round <= rounds; round++) { \
			if (me == writer) \
				cache[me] = round; \
			else { \
				u32 r1 = cache[i]; \
				u32 r2 = cache[k]; \
				old += r2 < r1; \
			} \
			__syncthreads(); \
		} \
		if (old > 0) \
			atomicAdd(violated, old); \
		if (me == writer) \
			atomicAdd(done, 1u); \
	}

CORR(corr, )
CORR(corr_volatile, volatile)
