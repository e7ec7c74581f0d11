// cbe-dot-fenced: cbe-dot with the fences that the memory model demands, one after taking the lock, one before giving it back.
#define FENCES
#include "cbe-dot.cu"
