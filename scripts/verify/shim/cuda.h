// What kernels of a suite need of CUDA's headers and of GPUVerify's annotations. An assertion traps, a precondition that does
// not hold ends the thread before it has done anything, and what only guides a proof is nothing.
#pragma once
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __host__ __attribute__((host))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define _DEVICE_QUALIFIER static __device__ __inline__
#include "__clang_cuda_builtin_vars.h"
#define NULL 0
typedef unsigned int uint;
typedef unsigned long size_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
#define VECTOR(T, N) \
  struct N##2 { T x, y; }; struct N##3 { T x, y, z; }; struct __attribute__((aligned(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)))) N##4 { T x, y, z, w; }; \
  _DEVICE_QUALIFIER N##2 make_##N##2(T x, T y) { N##2 r = {x, y}; return r; } \
  _DEVICE_QUALIFIER N##3 make_##N##3(T x, T y, T z) { N##3 r = {x, y, z}; return r; } \
  _DEVICE_QUALIFIER N##4 make_##N##4(T x, T y, T z, T w) { N##4 r = {x, y, z, w}; return r; }
VECTOR(int, int) VECTOR(unsigned, uint) VECTOR(float, float) VECTOR(double, double) VECTOR(char, char) VECTOR(unsigned char, uchar)
struct dim3 { unsigned x, y, z; __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
_DEVICE_QUALIFIER void __threadfence() { __nvvm_membar_gl(); }
_DEVICE_QUALIFIER void __threadfence_block() { __nvvm_membar_cta(); }
_DEVICE_QUALIFIER void __threadfence_system() { __nvvm_membar_sys(); }
_DEVICE_QUALIFIER void __syncwarp(unsigned mask = ~0u) { __nvvm_bar_warp_sync(mask); }
_DEVICE_QUALIFIER int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
_DEVICE_QUALIFIER unsigned atomicAdd(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, v); }
_DEVICE_QUALIFIER float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
_DEVICE_QUALIFIER int atomicSub(int *p, int v) { return __nvvm_atom_add_gen_i(p, -v); }
_DEVICE_QUALIFIER unsigned atomicSub(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, -v); }
_DEVICE_QUALIFIER int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
_DEVICE_QUALIFIER unsigned atomicExch(unsigned *p, unsigned v) { return __nvvm_atom_xchg_gen_i((int *)p, v); }
_DEVICE_QUALIFIER int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
_DEVICE_QUALIFIER int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
_DEVICE_QUALIFIER unsigned atomicMin(unsigned *p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
_DEVICE_QUALIFIER unsigned atomicMax(unsigned *p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
_DEVICE_QUALIFIER int atomicAnd(int *p, int v) { return __nvvm_atom_and_gen_i(p, v); }
_DEVICE_QUALIFIER int atomicOr(int *p, int v) { return __nvvm_atom_or_gen_i(p, v); }
_DEVICE_QUALIFIER int atomicXor(int *p, int v) { return __nvvm_atom_xor_gen_i(p, v); }
_DEVICE_QUALIFIER unsigned atomicInc(unsigned *p, unsigned v) { return __nvvm_atom_inc_gen_ui(p, v); }
_DEVICE_QUALIFIER unsigned atomicDec(unsigned *p, unsigned v) { return __nvvm_atom_dec_gen_ui(p, v); }
_DEVICE_QUALIFIER int atomicCAS(int *p, int c, int v) { return __nvvm_atom_cas_gen_i(p, c, v); }
_DEVICE_QUALIFIER unsigned atomicCAS(unsigned *p, unsigned c, unsigned v) { return __nvvm_atom_cas_gen_i((int *)p, c, v); }
template <class T> __device__ T min(T a, T b) { return a < b ? a : b; }
template <class T> __device__ T max(T a, T b) { return a < b ? b : a; }
_DEVICE_QUALIFIER float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
_DEVICE_QUALIFIER float fabsf(float x) { return x < 0 ? -x : x; }
_DEVICE_QUALIFIER int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
_DEVICE_QUALIFIER unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
#define memcpy(d, s, n) __builtin_memcpy(d, s, n)
#define memset(d, v, n) __builtin_memset(d, v, n)
#include "annotations.h"
