// ct-octree-push: ct-octree with fences, but for that of push.
#define FENCES
#define PUSH_FENCE()
#include "ct-octree.cu"
