// Small kernels in the style of litmus tests, for the parsers of AMD code.
// Atomics are clang's builtins: no library is linked.
#define G __global
#define M1 0x07f3a001
#define M2 0x07f3a002
kernel void ld(G int *x, G int *r) { r[0] = x[0] ^ M1; }
kernel void corr(volatile G int *x, G int *r) { int a = x[0], b = x[0]; r[0] = a ^ M1; r[1] = b ^ M2; }
#ifndef SMALL
kernel void corrweak(G int *x, G int *r) { int a = x[0], b = x[0]; r[0] = a ^ M1; r[1] = b ^ M2; }
kernel void mpw(volatile G int *x, volatile G int *y, int v) { x[0] = 1; y[0] = v; }
#endif
kernel void mpr(volatile G int *x, volatile G int *y, G int *r) { int a = y[0], b = x[0]; r[0] = a ^ M1; r[8] = b ^ M2; }
kernel void depaddr(volatile G int *x, volatile G int *y, G int *r) { int a = y[0]; r[8] = x[a & 0x80000000] ^ M2; r[0] = a ^ M1; }
#ifndef SMALL
kernel void depdata(volatile G int *x, volatile G int *y) { x[0] = (y[0] & 0x80000000) + 1; }
#endif
kernel void depctrl(volatile G int *x, volatile G int *y, G int *r) { int a = y[0]; if (a == 1) x[0] = 1; else r[4] = x[2]; r[0] = a; }
kernel void spin(volatile G int *x, G int *r) { int n = 0; while (x[0] == 0) n++; r[0] = n; }
kernel void lds(G int *r, volatile local int *l) { l[0] = 1; r[0] = l[1] ^ M1; }
#ifndef SMALL
kernel void wide(G int4 *x, G int4 *r, volatile G ulong *y) { r[0] = x[0] ^ r[1]; y[1] = (y[0] + 5) << 7; }
kernel void sel(G int *x, G int *r, int a, int b) { r[0] = x[0] == a ? x[1] : b; r[8] = (x[3] & a) | b; r[16] = x[9] * a - b; }
kernel void ids(G int *r) { r[__builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x()] = __builtin_amdgcn_readfirstlane(r[0]); }
#endif
#define LD(o, s) kernel void ld_##o##_##s(volatile G atomic_int *x, volatile G int *y, G int *r) { r[0] = __opencl_atomic_load(x, memory_order_##o, memory_scope_##s) ^ M1; r[8] = y[0] ^ M2; }
#define ST(o, s) kernel void st_##o##_##s(volatile G atomic_int *x, volatile G int *y) { y[0] = 1; __opencl_atomic_store(x, 1, memory_order_##o, memory_scope_##s); }
#define RMW(o, s) kernel void rmw_##o##_##s(volatile G atomic_int *x, G int *r) { int e = 5; r[0] = __opencl_atomic_fetch_add(x, 3, memory_order_##o, memory_scope_##s); \
  r[8] = __opencl_atomic_exchange(x, 3, memory_order_##o, memory_scope_##s); \
  r[16] = __opencl_atomic_compare_exchange_strong(x, &e, 7, memory_order_##o, memory_order_relaxed, memory_scope_##s); r[24] = e; }
#define FENCE(n, o, s) kernel void fence_##n(volatile G int *x, volatile G int *y, G int *r) { int a = y[0]; x[3] = 1; __builtin_amdgcn_fence(o, s); r[8] = x[0] ^ M2; r[0] = a ^ M1; }
#define ALL(s, n) LD(relaxed, s) LD(acquire, s) ST(relaxed, s) ST(release, s) RMW(relaxed, s) RMW(acq_rel, s) FENCE(acq_##s, __ATOMIC_ACQUIRE, n) FENCE(rel_##s, __ATOMIC_RELEASE, n) FENCE(sc_##s, __ATOMIC_SEQ_CST, n)
#ifdef SMALL
RMW(acq_rel, device) FENCE(sc_device, __ATOMIC_SEQ_CST, "agent") LD(acquire, device) ST(release, device)
#else
ALL(work_group, "workgroup") ALL(device, "agent") ALL(all_svm_devices, "")
#endif
#ifndef SMALL
kernel void ldsrmw(volatile local atomic_int *x, G int *r) { int e = 5; r[0] = __opencl_atomic_fetch_add(x, 3, memory_order_relaxed, memory_scope_work_group);
  r[1] = __opencl_atomic_compare_exchange_strong(x, &e, 7, memory_order_relaxed, memory_order_relaxed, memory_scope_work_group); r[2] = e; }
kernel void bar(G int *x, G int *r, volatile local int *l) { l[0] = x[0]; __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); r[0] = l[1]; }
#endif
