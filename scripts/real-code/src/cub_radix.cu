// Radix sort of CUB.
#include <cub/cub.cuh>

void sort(void *temporary, size_t bytes, const unsigned *in, unsigned *out, int n) { cub::DeviceRadixSort::SortKeys(temporary, bytes, in, out, n); }
