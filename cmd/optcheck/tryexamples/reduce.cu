// Adds up a block's numbers: each step waits until the one before is done.
__global__ void reduce(const int *in, int *out) {
    __shared__ int part[256];
    int i = threadIdx.x;
    part[i] = in[blockIdx.x * 256 + i];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (i < half) part[i] += part[i + half];
    }
    if (i == 0) atomicAdd(out, part[0]);
}
