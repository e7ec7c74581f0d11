// order-broadcast: rounds that all threads do together, after G. Evtushenko, CUDA Memory Model (2021): after each round one thread, which owns the
// sensor data[0], tells all others whether it was the last: by a word of 64 bits with the number of rounds and a flag. They wait for that word:
// every thread by itself; the first of each block for its block; likewise with a nap between two looks; and as cuda::atomic's wait does, with naps that grow
// with the time that was waited. Nobody waits for the others: the owner may be rounds ahead.
#include "../gpu.h"
#define THREADS 128
#define NEVER 0xffffffffu

// Between two looks, of which i were made.
#define NO_NAP(i)
#define NAP(i) nap(250)
#define BACK_OFF(i) \
	if (i >= 64) \
	nap(i < 1024 ? i / 4 : 256)

// LOOK waits until more than round rounds are done, and makes last their number if these were the last ones.
#define LOOK(PAUSE) \
	{ \
		u64 w = load_relaxed64(word); \
		_Pragma("unroll 1") for (u32 i = 0; (u32)w <= round && i < SPINS / 4; i++) { \
			PAUSE(i); \
			w = load_relaxed64(word); \
		} \
		if ((u32)w <= round) { \
			atomicAdd(gave_up, 1u); \
			last = 0; \
		} else if (w >> 32 != 0) \
			last = (u32)w; \
	}

#define WAIT_ALL(PAUSE) LOOK(PAUSE)
#define WAIT_BLOCK(PAUSE) \
	if (threadIdx.x == 0) { \
		LOOK(PAUSE) \
		told = last; \
	} \
	__syncthreads(); \
	last = told; \
	__syncthreads();

#define BROADCAST(name, DECLARE, WAIT, PAUSE) \
	KERNEL name(GLOBAL u32 *data, GLOBAL u64 *word, GLOBAL u32 *gave_up, u32 n, u32 threshold) { \
		DECLARE; \
		u32 last = NEVER; \
		for (u32 round = 0; round < last; round++) { \
			for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) { \
				u32 v = data[i] + 1; \
				data[i] = v; \
				if (i == 0) \
					store_relaxed64(word, (u64)(v > threshold) << 32 | round + 1); \
			} \
			if (last == NEVER) { \
				WAIT(PAUSE) \
			} \
		} \
	}

BROADCAST(volatile_all, , WAIT_ALL, NO_NAP)
BROADCAST(volatile_block, __shared__ u32 told, WAIT_BLOCK, NO_NAP)
BROADCAST(nap_block, __shared__ u32 told, WAIT_BLOCK, NAP)
BROADCAST(wait_block, __shared__ u32 told, WAIT_BLOCK, BACK_OFF)

// verify counts the elements whose rounds are not one more than the threshold.
KERNEL verify(GLOBAL u32 *data, GLOBAL u32 *errors, u32 n, u32 threshold) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		if (data[i] != threshold + 1)
			atomicAdd(errors, 1u);
}
