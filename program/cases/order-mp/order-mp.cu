// order-mp: message passing between pairs of blocks, after G. Evtushenko, CUDA Memory Model (2021): the first thread of one writes n words and a flag,
// that of the other waits for the flag and reads the words; so many messages in a row, each with words and a flag of its own. Only what has a fence, or
// release and acquire, on both sides, or puts words and flags together, is right by the memory model.
#include "../gpu.h"

// A reader gives up after the first message that does not come, and says so.
#define MP(name, WRITE, SEND, WAIT, READ) \
	KERNEL name(GLOBAL u32 *flags, GLOBAL u32 *data, GLOBAL u32 *stale, GLOBAL u32 *gave_up, GLOBAL u32 *received, u32 n, u32 messages) { \
		u32 pair = blockIdx.x / 2, old = 0, message = 0; \
		if (threadIdx.x != 0) \
			return; \
		for (; message < messages; message++) { \
			GLOBAL u32 *flag = flags + pair * messages + message; \
			GLOBAL u32 *words = data + (pair * messages + message) * n; \
			if (blockIdx.x % 2 == 0) { \
				for (u32 i = 0; i < n; i++) \
					WRITE(words + i, i + 1); \
				SEND; \
				continue; \
			} \
			u32 there = 0; \
			_Pragma("unroll 1") for (u32 i = 0; there == 0 && i < SPINS; i++) \
				there = WAIT; \
			if (there == 0) { \
				atomicAdd(gave_up, 1u); \
				break; \
			} \
			READ; \
			for (u32 i = 0; i < n; i++) \
				old += LOAD(words + i) != i + 1; \
		} \
		if (blockIdx.x % 2 == 1) \
			atomicAdd(received, message); \
		if (old > 0) \
			atomicAdd(stale, old); \
	}

#define STORE(p, v) *(p) = (v)
#define LOAD(p) *(p)
#define VOLATILE(p) *(volatile GLOBAL u32 *)(p)

MP(plain, STORE, *flag = 1, *flag, )
MP(volatile_flag, STORE, VOLATILE(flag) = 1, VOLATILE(flag), )
MP(fence_writer, STORE, __threadfence(); VOLATILE(flag) = 1, VOLATILE(flag), )
MP(fence_reader, STORE, VOLATILE(flag) = 1, VOLATILE(flag), __threadfence())
MP(fences, STORE, __threadfence(); VOLATILE(flag) = 1, VOLATILE(flag), __threadfence())
MP(release_acquire, STORE, store_release(flag, 1), load_acquire(flag), )
#undef LOAD
#define LOAD(p) load_cg(p)
MP(ld_cg, STORE, __threadfence(); VOLATILE(flag) = 1, VOLATILE(flag), )

// word has a flag beside each word of data, in one word of 64 bits.
KERNEL word(GLOBAL u64 *data, GLOBAL u32 *stale, GLOBAL u32 *gave_up, GLOBAL u32 *received, u32 n, u32 messages) {
	u32 pair = blockIdx.x / 2, old = 0, message = 0;
	if (threadIdx.x != 0)
		return;
	for (; message < messages; message++) {
		volatile GLOBAL u64 *words = data + (pair * messages + message) * n;
		for (u32 i = 0; i < n; i++) {
			if (blockIdx.x % 2 == 0) {
				words[i] = (u64)(i + 1) << 32 | 1;
				continue;
			}
			u64 w = 0;
#pragma unroll 1
			for (u32 k = 0; (w & 1) == 0 && k < SPINS; k++)
				w = words[i];
			if ((w & 1) == 0) {
				atomicAdd(gave_up, 1u);
				return;
			}
			old += w >> 32 != i + 1;
		}
	}
	if (blockIdx.x % 2 == 1)
		atomicAdd(received, message);
	if (old > 0)
		atomicAdd(stale, old);
}
