// cub-scan-np: cub-scan without the fence between a tile's own sum and its status.
#define PARTIAL_FENCE() SITE(1)
#include "cub-scan.cu"
