// tpo-tm-volatile: tpo-tm with volatile accesses to the queues.
#define VOLATILE
#include "tpo-tm.cu"
