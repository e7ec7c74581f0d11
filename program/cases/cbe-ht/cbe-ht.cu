// cbe-ht: concurrent insertion into a hash table after CUDA by Example (Sanders and Kandrot, appendix A1.3): a lock for each bucket, whose elements
// are a list. An element is element number i of a pool; lists are linked by these numbers plus 1, 0 ends one.
#include "../gpu.h"
#include "../lock.h"

KERNEL add_to_table(GLOBAL u32 *mutex, GLOBAL u32 *keys, DATA u32 *entries, DATA u32 *pool_key, DATA u32 *pool_value, DATA u32 *pool_next,
	GLOBAL u32 *gave_up, u32 n, u32 buckets) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
		u32 key = keys[i], bucket = key % buckets;
		// The threads of a warp take turns: one that waits for another one of its warp might wait for ever.
#pragma unroll 1
		for (u32 turn = 0; turn < 32; turn++)
			if (threadIdx.x % 32 == turn && lock(mutex + bucket, gave_up)) {
				LOCK_FENCE();
				pool_key[i] = key;
				pool_value[i] = i;
				pool_next[i] = entries[bucket];
				entries[bucket] = i + 1;
				UNLOCK_FENCE();
				unlock(mutex + bucket);
			}
	}
}

// mark walks the lists, a thread for each, and counts in seen how often it comes by an element. A list with more than n elements has a circle.
KERNEL mark(GLOBAL u32 *entries, GLOBAL u32 *pool_key, GLOBAL u32 *pool_next, GLOBAL u32 *seen, GLOBAL u32 *errors, u32 n, u32 buckets) {
	u32 bucket = threadIdx.x + blockIdx.x * blockDim.x;
	if (bucket >= buckets)
		return;
	u32 at = entries[bucket], steps = 0;
	for (; at != 0 && at <= n && steps < n; steps++) {
		atomicAdd(seen + at - 1, 1u);
		if (pool_key[at - 1] % buckets != bucket)
			atomicAdd(errors, 1u);
		at = pool_next[at - 1];
	}
	if (at != 0)
		atomicAdd(errors, 1u);
}

// verify counts the elements that are not in the table just once, with their key and value.
KERNEL verify(GLOBAL u32 *keys, GLOBAL u32 *pool_key, GLOBAL u32 *pool_value, GLOBAL u32 *seen, GLOBAL u32 *errors, u32 n) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		if (seen[i] != 1 || pool_key[i] != keys[i] || pool_value[i] != i)
			atomicAdd(errors, 1u);
}
