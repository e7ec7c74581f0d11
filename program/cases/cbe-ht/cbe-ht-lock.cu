// cbe-ht-lock: cbe-ht with only the fence after taking a lock: the one before giving it back is missing.
#define FENCE_LOCK
#include "cbe-ht.cu"
