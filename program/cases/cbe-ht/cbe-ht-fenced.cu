// cbe-ht-fenced: cbe-ht with the fences that the memory model demands, one after taking a lock, one before giving it back.
#define FENCES
#include "cbe-ht.cu"
