// tpo-tm-fenced: tpo-tm with the fences of a lock.
#define FENCES
#include "tpo-tm.cu"
