// cub-scan-sound: cub-scan with acquire and release for the status in the place of fences, which the memory model demands.
#define SOUND
#define PARTIAL_FENCE()
#define INCLUSIVE_FENCE()
#include "cub-scan.cu"
