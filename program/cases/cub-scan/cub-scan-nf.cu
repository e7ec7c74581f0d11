// cub-scan-nf: cub-scan without its two fences.
#define PARTIAL_FENCE() SITE(1)
#define INCLUSIVE_FENCE() SITE(2)
#include "cub-scan.cu"
