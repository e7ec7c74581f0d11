// cub-scan-cg: cub-scan without the fence of the block in the loop that waits: ptxas loads the status once, before the loop, as the memory model allows for a weak load, and the loop waits in vain.
#define WAIT_FENCE()
#include "cub-scan.cu"
