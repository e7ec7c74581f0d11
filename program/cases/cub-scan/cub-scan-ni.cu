// cub-scan-ni: cub-scan without the fence between the sum up to a tile and its status.
#define INCLUSIVE_FENCE() SITE(1)
#include "cub-scan.cu"
