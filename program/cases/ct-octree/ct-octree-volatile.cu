// ct-octree-volatile: ct-octree with volatile accesses to cells and particles.
#define VOLATILE
#include "ct-octree.cu"
