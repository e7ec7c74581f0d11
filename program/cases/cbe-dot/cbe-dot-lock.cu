// cbe-dot-lock: cbe-dot with only the fence after taking the lock: the one before giving it back is missing.
#define FENCE_LOCK
#include "cbe-dot.cu"
