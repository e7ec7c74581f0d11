// block.h has what the THREADS threads of a block compute together, of words of type T, by way of
// the array cache in shared memory; me is a thread's number.
#ifndef T
#define T u32
#endif

// block_sum adds up what the threads have; every thread gets the sum.
FUNCTION T block_sum(SHARED T *cache, u32 me, T mine) {
	cache[me] = mine;
	__syncthreads();
	for (u32 i = THREADS / 2; i > 0; i /= 2) {
		if (me < i)
			cache[me] += cache[me + i];
		__syncthreads();
	}
	T sum = cache[0];
	__syncthreads();
	return sum;
}

// block_scan returns the sum of what the threads before this one have.
FUNCTION T block_scan(SHARED T *cache, u32 me, T mine) {
	cache[me] = mine;
	__syncthreads();
	for (u32 i = 1; i < THREADS; i *= 2) {
		T before = me >= i ? cache[me - i] : 0;
		__syncthreads();
		cache[me] += before;
		__syncthreads();
	}
	T sum = cache[me] - mine;
	__syncthreads();
	return sum;
}
