// ls-bh-nf: ls-bh without its three fences.
#define NO_FENCE
#include "ls-bh.cu"
