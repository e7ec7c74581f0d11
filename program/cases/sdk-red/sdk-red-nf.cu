// sdk-red-nf: sdk-red without its fence.
#define NO_FENCE
#include "sdk-red.cu"
