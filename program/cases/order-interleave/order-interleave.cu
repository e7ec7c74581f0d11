// order-interleave: one thread writes four volatile words, others read them, after G. Evtushenko, CUDA Memory Model (2021): how often does a reader
// see the first and the third, but not the second and the fourth? In an order of all accesses, too, it may: what is measured is how far apart they are.
#include "../gpu.h"
#define POLLS 256 // by a reader, until it sees the fourth word

#define INTERLEAVE(name, FENCE) \
	KERNEL name(volatile GLOBAL u32 *words, GLOBAL u32 *seen, GLOBAL u32 *wrong, u32 second, u32 third, u32 fourth) { \
		if (threadIdx.x != 0) \
			return; \
		if (blockIdx.x == 0) { \
			words[0] = 1; \
			words[second] = 2; \
			FENCE; \
			words[third] = 3; \
			words[fourth] = 4; \
			return; \
		} \
		for (u32 i = 0; i < POLLS; i++) { \
			u32 r1 = words[0], r2 = words[second]; \
			FENCE; \
			u32 r3 = words[third], r4 = words[fourth]; \
			if (r1 == 1 && r2 == 0 && r3 == 3 && r4 == 0) \
				atomicAdd(seen, 1u); \
			if (r1 > 1 || r2 != 0 && r2 != 2 || r3 != 0 && r3 != 3 || r4 != 0 && r4 != 4) \
				atomicAdd(wrong, 1u); \
			if (r4 != 0) \
				return; \
		} \
	}

INTERLEAVE(interleave, )
INTERLEAVE(interleave_fenced, __threadfence())
