// tpo-tm-lock: tpo-tm without the fence before giving a lock back.
#define FENCE_LOCK
#include "tpo-tm.cu"
