// ls-bh-nb: ls-bh without the fence of build.
#define BUILD_FENCE()
#include "ls-bh.cu"
