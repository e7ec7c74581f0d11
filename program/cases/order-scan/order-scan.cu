// order-scan: exclusive prefix sums after G. Evtushenko, CUDA Memory Model (2021), in four ways: by three kernels; by one whose blocks wait for the
// one before; by one with decoupled look-back (Merrill and Garland 2016), with value and status in one word of 64 bits; by the same with
// value and status in words of their own and fences between them, on both sides.
#include "../gpu.h"
#define THREADS 128
#define ITEMS 8
#include "../block.h"
#define PARTIAL 1   // the tile's own sum is there
#define INCLUSIVE 2 // the sum of the tile and all before it is there

// load_tile loads a thread's items of a tile and returns their sum.
FUNCTION u32 load_tile(GLOBAL u32 *in, u32 *item, u32 at) {
	u32 sum = 0;
	for (u32 i = 0; i < ITEMS; i++) {
		item[i] = in[at + i];
		sum += item[i];
	}
	return sum;
}

FUNCTION void store_tile(GLOBAL u32 *out, const u32 *item, u32 at, u32 prefix) {
	for (u32 i = 0; i < ITEMS; i++) {
		out[at + i] = prefix;
		prefix += item[i];
	}
}

#define TILE(blocks_prefix) \
	__shared__ u32 cache[THREADS]; \
	__shared__ u32 before; \
	u32 item[ITEMS], tile = blockIdx.x, me = threadIdx.x, at = (tile * THREADS + me) * ITEMS; \
	u32 mine = load_tile(in, item, at), sum = block_sum(cache, me, mine); \
	if (me < LANES) { \
		u32 prefix = blocks_prefix; \
		if (me == 0) \
			before = prefix; \
	} \
	__syncthreads(); \
	store_tile(out, item, at, before + block_scan(cache, me, mine));

// Three kernels: tiles, the sums of tiles, adding these.
KERNEL scan_tiles(GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *sums) {
	TILE(0)
	if (me == 0)
		sums[tile] = sum;
}

KERNEL scan_sums(GLOBAL u32 *sums, u32 tiles) {
	__shared__ u32 cache[THREADS];
	u32 each = (tiles + THREADS - 1) / THREADS, from = threadIdx.x * each, sum = 0;
	for (u32 i = from; i < from + each && i < tiles; i++)
		sum += sums[i];
	u32 prefix = block_scan(cache, threadIdx.x, sum);
	for (u32 i = from; i < from + each && i < tiles; i++) {
		u32 own = sums[i];
		sums[i] = prefix;
		prefix += own;
	}
}

KERNEL add_sums(GLOBAL u32 *out, GLOBAL u32 *sums) {
	u32 at = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
	for (u32 i = 0; i < ITEMS; i++)
		out[at + i] += sums[blockIdx.x];
}

FUNCTION u64 pack(u32 value, u32 state) { return (u64)value << 32 | state; }

// await loads a word until it has a status.
FUNCTION u64 await(GLOBAL u64 *word, GLOBAL u32 *gave_up) {
	u64 w = load_relaxed64(word);
#pragma unroll 1
	for (u32 i = 0; (u32)w == 0 && i < SPINS; i++)
		w = load_relaxed64(word);
	if ((u32)w == 0) {
		atomicAdd(gave_up, 1u);
		return INCLUSIVE;
	}
	return w;
}

// chain waits for the tile before, by one thread.
FUNCTION u32 chain(GLOBAL u64 *words, GLOBAL u32 *gave_up, u32 tile, u32 lane, u32 sum) {
	u32 prefix = 0;
	if (lane == 0) {
		if (tile > 0)
			prefix = (u32)(await(words + tile - 1, gave_up) >> 32);
		store_relaxed64(words + tile, pack(prefix + sum, INCLUSIVE));
	}
	return prefix;
}

KERNEL scan_chained(GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u64 *words, GLOBAL u32 *gave_up) { TILE(chain(words, gave_up, tile, me, sum)) }

// look_back adds up the tiles before, by a warp: from the nearest to the first one that has the sum of everything before it, too.
FUNCTION u32 look_back(GLOBAL u64 *words, GLOBAL u32 *gave_up, u32 tile, u32 lane, u32 sum) {
	u32 prefix = 0, done = 0;
	if (lane == 0)
		store_relaxed64(words + tile, pack(sum, tile == 0 ? INCLUSIVE : PARTIAL));
	if (tile == 0)
		return 0;
	for (s32 at = (s32)tile - 1 - (s32)lane; done == 0; at -= LANES) {
		u64 w = at >= 0 ? await(words + at, gave_up) : INCLUSIVE;
		done = ballot((u32)w == INCLUSIVE);
		u32 first = 31 - __clz(done & -done);
		prefix += warp_sum(done == 0 || lane <= first ? (u32)(w >> 32) : 0);
	}
	if (lane == 0)
		store_relaxed64(words + tile, pack(prefix + sum, INCLUSIVE));
	return prefix;
}

KERNEL scan_look_back(GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u64 *words, GLOBAL u32 *gave_up) { TILE(look_back(words, gave_up, tile, me, sum)) }

// look_back_fenced has the same with values of their own: of the tile in values[2 * tile], of all up to it behind that.
FUNCTION u32 look_back_fenced(volatile GLOBAL u32 *status, GLOBAL u32 *values, GLOBAL u32 *gave_up, u32 tile, u32 lane, u32 sum) {
	u32 prefix = 0, done = 0;
	if (lane == 0 && tile > 0) {
		values[2 * tile] = sum;
		__threadfence();
		status[tile] = PARTIAL;
	}
	for (s32 at = (s32)tile - 1 - (s32)lane; done == 0 && tile > 0; at -= LANES) {
		u32 state = at >= 0 ? status[at] : INCLUSIVE, value = 0;
#pragma unroll 1
		for (u32 i = 0; state == 0 && i < SPINS; i++)
			state = status[at];
		if (state == 0) {
			atomicAdd(gave_up, 1u);
			state = INCLUSIVE;
		}
		__threadfence();
		if (at >= 0)
			value = values[2 * at + state - PARTIAL];
		done = ballot(state == INCLUSIVE);
		u32 first = 31 - __clz(done & -done);
		prefix += warp_sum(done == 0 || lane <= first ? value : 0);
	}
	if (lane == 0) {
		values[2 * tile + 1] = prefix + sum;
		__threadfence();
		status[tile] = INCLUSIVE;
	}
	return prefix;
}

KERNEL scan_fenced(GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *status, GLOBAL u32 *values, GLOBAL u32 *gave_up) {
	TILE(look_back_fenced(status, values, gave_up, tile, me, sum))
}

// verify counts the places at which the result does not grow by the input.
KERNEL verify(GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *errors, u32 n) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		if (out[i] != (i == 0 ? 0 : out[i - 1] + in[i - 1]))
			atomicAdd(errors, 1u);
}
