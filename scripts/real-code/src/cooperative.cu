// Groups of CUDA: grids, blocks, tiles, and a lock and a look-back scan of our own.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void grid(const int *in, int *out, int rounds) {
	cg::grid_group g = cg::this_grid();
	int sum = 0;
	for (int i = 0; i < rounds; i++) {
		sum += in[g.thread_rank() ^ i];
		g.sync();
		out[g.thread_rank()] = sum;
		g.sync();
	}
}

__global__ void tiles(const int *in, int *out) {
	__shared__ int shared[256];
	auto tile = cg::tiled_partition<8>(cg::this_thread_block());
	shared[threadIdx.x] = in[threadIdx.x];
	tile.sync();
	int v = shared[threadIdx.x ^ 1];
	for (int i = 4; i > 0; i /= 2)
		v += tile.shfl_down(v, i);
	cg::sync(cg::this_thread_block());
	shared[threadIdx.x] = v;
	__syncthreads();
	if (__syncthreads_or(v > 7))
		out[threadIdx.x] = shared[threadIdx.x ^ 32];
	auto active = cg::coalesced_threads();
	if (active.thread_rank() == 0)
		atomicAdd(out, active.size());
}

__global__ void lock(int *mutex, int *data) {
	while (atomicCAS(mutex, 0, 1) != 0)
		;
	__threadfence();
	data[0] += data[1];
	__threadfence();
	atomicExch(mutex, 0);
}

__global__ void lookback(volatile int *flags, volatile int *sums, const int *in, int *out) {
	__shared__ int before;
	int v = in[blockIdx.x * blockDim.x + threadIdx.x];
	int block = __syncthreads_count(v);
	if (threadIdx.x == 0) {
		sums[blockIdx.x] = block;
		__threadfence();
		flags[blockIdx.x] = 1;
		int total = 0;
		for (int b = blockIdx.x - 1; b >= 0; b--) {
			while (flags[b] == 0)
				;
			__threadfence();
			total += sums[b];
		}
		before = total;
	}
	__syncthreads();
	out[blockIdx.x * blockDim.x + threadIdx.x] = v + before;
}
