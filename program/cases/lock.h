// lock.h is the spin lock of CUDA by Example (Sanders and Kandrot, appendix A1): a compare-and-swap takes it, an exchange gives it back. The book's
// has no fences. FENCES puts one behind the first and one before the second, which the memory model demands; FENCE_LOCK and FENCE_UNLOCK only one.
#if defined(FENCES) || defined(FENCE_LOCK)
#define LOCK_FENCE() __threadfence()
#else
#define LOCK_FENCE() SITE(1)
#endif
#if defined(FENCES) || defined(FENCE_UNLOCK)
#define UNLOCK_FENCE() __threadfence()
#else
#define UNLOCK_FENCE() SITE(2)
#endif

// lock takes the lock, or gives up after SPINS attempts and counts that: then it returns 0.
FUNCTION u32 lock(GLOBAL u32 *mutex, GLOBAL u32 *gave_up) {
#pragma unroll 1
	for (u32 i = 0; i < SPINS; i++)
		if (atomicCAS(mutex, 0u, 1u) == 0u)
			return 1;
	atomicAdd(gave_up, 1u);
	return 0;
}

FUNCTION void unlock(GLOBAL u32 *mutex) { atomicExch(mutex, 0u); }
