// cbe-dot-unlock: cbe-dot with only the fence before giving the lock back: the one after taking it is missing.
#define FENCE_UNLOCK
#include "cbe-dot.cu"
