#!/bin/sh
# cub-scan.sh DIR makes a program of the prefix sum of the CUB that Debian has (scripts/real-code/front.sh 12.4): DIR/cub.ptx, and DIR/cub.yaml for
# optcheck app; DIR/cub-wide.* of values that do not fit into a word with their status, which CUB orders by fences. Nothing of CUB is kept here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?folder for the programs}
mkdir -p "$dir"
cat >"$dir/cub.cu" <<'CU'
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/agent/single_pass_scan_operators.cuh>
#ifdef WIDE
struct __align__(16) T { unsigned long long a, b; };
struct Sum { __device__ T operator()(T x, T y) const { return {x.a + y.a, x.b + y.b}; } };
#else
typedef unsigned T;
typedef cub::Sum Sum;
#endif
constexpr int threads = 128, items = 4;
typedef cub::ScanTileState<T> State;
typedef cub::TilePrefixCallbackOp<T, Sum, State> Prefix;
typedef cub::BlockScan<T, threads> Scan;
__device__ State state(void *memory, unsigned tiles) {
	State s;
	s.Init(tiles, memory, ~size_t(0) >> 1);
	return s;
}
extern "C" __global__ void init(void *memory, unsigned tiles) { state(memory, tiles).InitializeStatus(tiles); }
extern "C" __global__ void scan(const T *in, T *out, void *memory, unsigned tiles) {
	__shared__ typename Scan::TempStorage block;
	__shared__ typename Prefix::TempStorage shared;
	State s = state(memory, tiles);
	T item[items];
	int tile = blockIdx.x, at = tile * threads * items;
	cub::LoadDirectBlocked(threadIdx.x, in + at, item);
	if (tile == 0) {
		T sum;
		T zero = {};
		Scan(block).ExclusiveScan(item, item, zero, Sum(), sum);
		if (threadIdx.x == 0)
			s.SetInclusive(0, sum);
	} else {
		Prefix prefix(s, shared, Sum(), tile);
		Scan(block).ExclusiveScan(item, item, Sum(), prefix);
	}
	cub::StoreDirectBlocked(threadIdx.x, out + at, item);
}
extern "C" __global__ void verify(const unsigned long long *in, const unsigned long long *out, unsigned *errors, unsigned n) {
	const T *x = (const T *)in, *y = (const T *)out;
	for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#ifdef WIDE
		bool right = i == 0 ? y[i].a == 0 && y[i].b == 0 : y[i].a == x[i - 1].a + y[i - 1].a && y[i].b == x[i - 1].b + y[i - 1].b;
#else
		bool right = y[i] == (i == 0 ? 0 : x[i - 1] + y[i - 1]);
#endif
		if (!right)
			atomicAdd(errors, 1);
	}
}
CU
program() { # name, words of 64 bits in a vector
	cat >"$dir/$1.yaml" <<YAML
name: $1
about: prefix sums by the CUB of CUDA 12.4, in a kernel with plain arguments
source: $1.ptx
buffers:
  in: {type: u64, count: $2, init: {random: {seed: 6, below: 100}}}
  out: {type: u64, count: $2, init: {fill: 1}}
  memory: {type: u64, count: 8192}
  errors: {type: u32, count: 1}
launches:
  - {kernel: init, grid: 2, block: 128, args: [memory, {u32: 128}]}
  - {kernel: scan, grid: 128, block: 128, args: [in, out, memory, {u32: 128}]}
check:
  - {kernel: verify, grid: 64, block: 128, args: [in, out, errors, {u32: 65536}], errors: errors}
timeout: 5s
YAML
}
"$here/real-code/set.sh" --nvcc 12.4 -arch=compute_70 "$dir/cub.cu" -o "$dir/cub.ptx"
"$here/real-code/set.sh" --nvcc 12.4 -arch=compute_70 -DWIDE "$dir/cub.cu" -o "$dir/cub-wide.ptx"
program cub 32768
program cub-wide 131072
