// ct-octree-fenced: ct-octree with fences.
#define FENCES
#include "ct-octree.cu"
