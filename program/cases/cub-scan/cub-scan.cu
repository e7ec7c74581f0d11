// cub-scan: exclusive prefix sums in one pass after Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back (2016), in the
// form in which CUB 1.4 has it for values that do not fit into a word with their status: the value is stored, then the status, and who waits for
// the status loads the value, all of it past the L1. PARTIAL_FENCE and INCLUSIVE_FENCE are the two fences between value and status.
// SOUND has acquire and release for the status, which the memory model demands of the one who waits, too.
#include "../gpu.h"
#define THREADS 128
#define ITEMS 4
#include "../block.h"
#ifndef PARTIAL_FENCE
#define PARTIAL_FENCE() __threadfence()
#endif
#ifndef INCLUSIVE_FENCE
#define INCLUSIVE_FENCE() __threadfence()
#endif
// WAIT_FENCE, in the loop that waits, is CUB's, too: ld.cg is weak, and without it compilers may load once, before the loop, and wait in vain.
#ifndef WAIT_FENCE
#define WAIT_FENCE() __threadfence_block()
#endif
#ifdef SOUND
#define LOAD_STATUS load_acquire
#define STORE_STATUS store_release
#else
#define LOAD_STATUS load_cg
#define STORE_STATUS store_cg
#endif
#define PARTIAL 1   // the tile's own sum is there
#define INCLUSIVE 2 // the sum of the tile and all before it is there

// look_back returns the sum of all tiles before the first one of a tile, by a warp: each lane waits for one of the tiles before, until one of them
// has the sum of everything before it, too.
FUNCTION u32 look_back(GLOBAL u32 *status, GLOBAL u32 *partial, GLOBAL u32 *inclusive, GLOBAL u32 *gave_up, u32 tile, u32 lane) {
	s32 at = (s32)tile - 1 - (s32)lane;
	u32 sum = 0;
	for (;;) {
		u32 state = INCLUSIVE, value = 0;
		if (at >= 0) {
			state = LOAD_STATUS(status + at);
#pragma unroll 1
			for (u32 i = 0; state == 0 && i < SPINS; i++) {
				WAIT_FENCE();
				state = LOAD_STATUS(status + at);
			}
			if (state == 0) {
				atomicAdd(gave_up, 1u);
				state = INCLUSIVE;
			} else
				value = load_cg((state == INCLUSIVE ? inclusive : partial) + at);
		}
		u32 done = ballot(state == INCLUSIVE);
		u32 first = 31 - __clz(done & -done); // the nearest tile that ends the search
		sum += warp_sum(done == 0 || lane <= first ? value : 0);
		if (done != 0)
			return sum;
		at -= LANES;
	}
}

KERNEL scan(GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *status, GLOBAL u32 *partial, GLOBAL u32 *inclusive, GLOBAL u32 *gave_up, u32 n) {
	__shared__ u32 cache[THREADS];
	__shared__ u32 before;
	u32 tile = blockIdx.x, at = (tile * THREADS + threadIdx.x) * ITEMS;
	u32 item[ITEMS], mine = 0;
	for (u32 i = 0; i < ITEMS; i++) {
		item[i] = at + i < n ? in[at + i] : 0;
		mine += item[i];
	}
	u32 sum = block_sum(cache, threadIdx.x, mine);
	if (threadIdx.x < LANES) {
		u32 prefix = 0;
		if (tile > 0) {
			if (threadIdx.x == 0) {
				store_cg(partial + tile, sum);
				PARTIAL_FENCE();
				STORE_STATUS(status + tile, PARTIAL);
			}
			prefix = look_back(status, partial, inclusive, gave_up, tile, threadIdx.x);
		}
		if (threadIdx.x == 0) {
			store_cg(inclusive + tile, prefix + sum);
			INCLUSIVE_FENCE();
			STORE_STATUS(status + tile, INCLUSIVE);
			before = prefix;
		}
	}
	__syncthreads();
	u32 prefix = before + block_scan(cache, threadIdx.x, mine);
	for (u32 i = 0; i < ITEMS; i++) {
		if (at + i < n)
			out[at + i] = prefix;
		prefix += item[i];
	}
}

// verify counts the places at which the result does not grow by the input.
KERNEL verify(GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *errors, u32 n) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		if (out[i] != (i == 0 ? 0 : out[i - 1] + in[i - 1]))
			atomicAdd(errors, 1u);
}
