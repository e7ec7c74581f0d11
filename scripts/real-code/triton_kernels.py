#!/usr/bin/env python3
"""triton_kernels.py DIR writes the PTX that Triton makes of a dozen kernels, for sm_80 and sm_90, into a folder. The kernels are our own: what people write in
Triton, from an addition to attention, and what synchronises: locks, counters, scans that look back, a barrier of the grid."""
import os
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * stride + at, e / tl.sum(e, 0), mask=at < n)


@triton.jit
def layernorm(x, out, w, b, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    square = tl.zeros([BLOCK], tl.float32)
    for k in range(0, n, BLOCK):
        at = k + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + at, mask=at < n, other=0.0)
        total += v
        square += v * v
    mean = tl.sum(total, 0) / n
    scale = 1 / tl.sqrt(tl.sum(square, 0) / n - mean * mean + 1e-5)
    for k in range(0, n, BLOCK):
        at = k + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + at, mask=at < n, other=0.0)
        tl.store(out + row * n + at, (v - mean) * scale * tl.load(w + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rm, rn, rk = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    pa, pb = a + rm[:, None] * k + rk[None, :], b + rk[:, None] * n + rn[None, :]
    acc = tl.zeros([M, N], tl.float32)
    for i in range(0, k, K):
        acc += tl.dot(tl.load(pa), tl.load(pb))
        pa += K
        pb += K * n
    tl.store(c + rm[:, None] * n + rn[None, :], acc.to(tl.float16))


@triton.jit
def split_k(a, b, c, locks, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rm, rn = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    rk = tl.program_id(2) * K + tl.arange(0, K)
    acc = tl.dot(tl.load(a + rm[:, None] * k + rk[None, :]), tl.load(b + rk[:, None] * n + rn[None, :]))
    lock = locks + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    to = c + rm[:, None] * n + rn[None, :]
    tl.store(to, tl.load(to) + acc)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def attention(q, k, v, out, n, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rm, rd = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    qs = tl.load(q + rm[:, None] * D + rd[None, :])
    top = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, D], tl.float32)
    for i in range(0, n, N):
        rn = i + tl.arange(0, N)
        s = tl.dot(qs, tl.trans(tl.load(k + rn[:, None] * D + rd[None, :]))) * scale
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        old = tl.exp(top - new)
        total = total * old + tl.sum(p, 1)
        acc = acc * old[:, None] + tl.dot(p.to(tl.float16), tl.load(v + rn[:, None] * D + rd[None, :]))
        top = new
    tl.store(out + rm[:, None] * D + rd[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(bins + v, 1, mask=at < n, sem="relaxed")


@triton.jit
def count(x, total, done, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0.0), 0))
    if tl.atomic_add(done, 1, sem="acq_rel") == tl.num_programs(0) - 1:
        parts = tl.arange(0, BLOCK)
        tl.store(total, tl.sum(tl.load(out + parts, mask=parts < tl.num_programs(0), other=0.0, volatile=True), 0))


@triton.jit
def look_back(x, out, sums, flags, n, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    at = block * BLOCK + tl.arange(0, BLOCK)
    v = tl.cumsum(tl.load(x + at, mask=at < n, other=0), 0)
    mine = tl.sum(tl.load(x + at, mask=at < n, other=0), 0)
    before = 0
    if block > 0:
        while tl.atomic_add(flags + block - 1, 0, sem="acquire", scope="gpu") == 0:
            pass
        before = tl.load(sums + block - 1)
    tl.store(sums + block, before + mine)
    tl.atomic_xchg(flags + block, 1, sem="release", scope="gpu")
    tl.store(out + at, v + before, mask=at < n)


@triton.jit
def grid_barrier(x, out, arrived, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
    tl.debug_barrier()
    tl.atomic_add(arrived, 1, sem="release", scope="gpu")
    while tl.atomic_add(arrived, 0, sem="acquire", scope="gpu") < tl.num_programs(0):
        pass
    tl.debug_barrier()
    tl.store(x + at, tl.load(out + n - 1 - at, mask=at < n), mask=at < n)


@triton.jit
def spin_volatile(flag, x, out, BLOCK: tl.constexpr):
    while tl.load(flag, volatile=True) == 0:
        pass
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))


@triton.jit
def system_exchange(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    old = tl.atomic_xchg(x + at, 1, sem="acq_rel", scope="sys")
    tl.store(out + at, tl.atomic_max(x + BLOCK + at, old, sem="relaxed", scope="cta"))


f, h, i = "*fp32", "*fp16", "*i32"
KERNELS = [
    (add, [f, f, f, "i32"], {"BLOCK": 1024}), (softmax, [f, f, "i32", "i32"], {"BLOCK": 4096}),
    (layernorm, [f, f, f, f, "i32"], {"BLOCK": 1024}), (matmul, [h, h, h, "i32", "i32", "i32"], {"M": 128, "N": 128, "K": 32}),
    (split_k, [h, h, f, i, "i32", "i32", "i32"], {"M": 64, "N": 64, "K": 64}),
    (attention, [h, h, h, h, "i32", "fp32"], {"M": 128, "N": 64, "D": 64}), (histogram, [i, i, "i32"], {"BLOCK": 1024}),
    (count, [f, f, i, f, "i32"], {"BLOCK": 1024}), (look_back, [i, i, i, i, "i32"], {"BLOCK": 1024}),
    (grid_barrier, [f, f, i, "i32"], {"BLOCK": 1024}), (spin_volatile, [i, f, f], {"BLOCK": 256}), (system_exchange, [i, i], {"BLOCK": 256}),
]
for kernel, types, constants in KERNELS:
    names = kernel.arg_names
    signature = dict(zip(names, types)) | {name: "constexpr" for name in constants}
    for sm in 80, 90:
        try:
            made = compile(ASTSource(kernel, signature, {(names.index(c),): v for c, v in constants.items()}), target=GPUTarget("cuda", sm, 32))
        except Exception as err:  # a release of Triton that lacks something
            print(f"{kernel.__name__} sm_{sm}: {type(err).__name__}: {str(err)[:300]}", file=sys.stderr)
            continue
        with open(os.path.join(sys.argv[1], f"triton-{kernel.__name__}-sm_{sm}.ptx"), "w") as out:
            out.write(made.asm["ptx"])
