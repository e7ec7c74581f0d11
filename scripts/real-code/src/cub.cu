// Device-wide algorithms of CUB: decoupled look-back, radix passes, tickets.
#include <cub/cub.cuh>

void *temporary;
size_t bytes;

void scan(const int *in, int *out, int n) { cub::DeviceScan::ExclusiveSum(temporary, bytes, in, out, n); }
void select(const int *in, const char *flags, int *out, int *count, int n) { cub::DeviceSelect::Flagged(temporary, bytes, in, flags, out, count, n); }
void runs(const int *in, int *unique, int *lengths, int *count, int n) { cub::DeviceRunLengthEncode::Encode(temporary, bytes, in, unique, lengths, count, n); }
void reduce(const float *in, float *out, int n) { cub::DeviceReduce::Sum(temporary, bytes, in, out, n); }
void histogram(const unsigned char *in, int *out, int n) { cub::DeviceHistogram::HistogramEven(temporary, bytes, in, out, 65, 0, 64, n); }
