// cbe-dot: dot product of two vectors after CUDA by Example (Sanders and Kandrot, appendix A1.2): each block reduces its part in shared memory,
// its first thread adds the sum to the result while it holds a lock. NEAR has the number of elements in front of the result: who has read it may
// have the result's line in its L1.
#include "../gpu.h"
#include "../lock.h"
#define THREADS 64
#define T f32
#include "../block.h"
#ifdef NEAR
#define BEGIN_NEAR() n = (u32)*c++
#else
#define BEGIN_NEAR()
#endif

KERNEL dot_product(GLOBAL u32 *mutex, GLOBAL f32 *a, GLOBAL f32 *b, DATA f32 *c, GLOBAL u32 *gave_up, u32 n) {
	__shared__ f32 cache[THREADS];
	BEGIN_NEAR();
	f32 mine = 0;
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		mine += a[i] * b[i];
	mine = block_sum(cache, threadIdx.x, mine);
	if (threadIdx.x == 0 && lock(mutex, gave_up)) {
		LOCK_FENCE();
		*c += mine;
		UNLOCK_FENCE();
		unlock(mutex);
	}
}

// verify compares the result with one that a single block computes. The vectors have small integers: the sums are exact.
KERNEL verify(GLOBAL f32 *a, GLOBAL f32 *b, GLOBAL f32 *c, GLOBAL u32 *errors, u32 n) {
	__shared__ f32 cache[THREADS];
	BEGIN_NEAR();
	f32 mine = 0;
	for (u32 i = threadIdx.x; i < n; i += blockDim.x)
		mine += a[i] * b[i];
	mine = block_sum(cache, threadIdx.x, mine);
	if (threadIdx.x == 0 && mine != *c)
		atomicAdd(errors, 1u);
}
