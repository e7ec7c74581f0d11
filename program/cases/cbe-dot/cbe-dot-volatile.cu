// cbe-dot-volatile: cbe-dot with volatile accesses to the result.
#define VOLATILE
#include "cbe-dot.cu"
