// cbe-dot-near-fenced: cbe-dot with the fences that the memory model demands; the number of elements stands in front of the result.
#define NEAR
#define FENCES
#include "cbe-dot.cu"
