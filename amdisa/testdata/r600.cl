// Kernels for R600 to Cayman, which need no library and no returning atomics.
#define G __global
#define M1 0x07f3a001
#define M2 0x07f3a002
kernel void corr(volatile G int *x, G int *r) { int a = x[0], b = x[0]; r[0] = a ^ M1; r[1] = b ^ M2; }
kernel void corrweak(G int *x, G int *r) { int a = x[0], b = x[0]; r[0] = a ^ M1; r[1] = b ^ M2; }
kernel void mpw(volatile G int *x, volatile G int *y, int v) { x[0] = 1; y[0] = v; }
kernel void mpr(volatile G int *x, volatile G int *y, G int *r) { int a = y[0], b = x[0]; r[0] = a ^ M1; r[8] = b ^ M2; }
kernel void depaddr(volatile G int *x, volatile G int *y, G int *r) { int a = y[0]; r[8] = x[(a & 0x80000000) >> 29] ^ M2; r[0] = a ^ M1; }
kernel void depctrl(volatile G int *x, volatile G int *y, G int *r) { int a = y[0]; if (a == 1) x[0] = 1; else r[4] = x[2]; r[0] = a; }
kernel void spin(volatile G int *x, G int *r) { int n = 0; while (x[0] == 0) n++; r[0] = n; }
kernel void lds(G int *r, volatile local int *l) { l[0] = r[7]; l[3] = 1; r[0] = l[1] ^ M1; r[1] = l[2]; }
kernel void alu(G uint *x, G uint *r, uint n, uint m) { uint a = x[0]; r[0] = (a & n) | m; r[8] = (a ^ n) + m; r[16] = a * n - m; r[24] = (a >> 5) & 63; r[32] = a < n ? a : m; r[40] = ~a; }
kernel void wide(G int4 *x, G int4 *r, int4 c) { r[0] = x[0] ^ c; }
