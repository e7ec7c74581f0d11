// cbe-dot-near-unlock: cbe-dot with only the fence before giving the lock back: the one after taking it is missing; the number of elements stands in front of the result.
#define NEAR
#define FENCE_UNLOCK
#include "cbe-dot.cu"
