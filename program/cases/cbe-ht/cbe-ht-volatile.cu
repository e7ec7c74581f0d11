// cbe-ht-volatile: cbe-ht with volatile accesses to the table and its elements.
#define VOLATILE
#include "cbe-ht.cu"
