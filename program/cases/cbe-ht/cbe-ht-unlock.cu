// cbe-ht-unlock: cbe-ht with only the fence before giving a lock back: the one after taking it is missing.
#define FENCE_UNLOCK
#include "cbe-ht.cu"
