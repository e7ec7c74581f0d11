// ls-bh: one step of an n-body simulation after Burtscher and Pingali, An Efficient CUDA Implementation of the Tree-Based Barnes Hut n-Body Algorithm
// (2011), which LonestarGPU has: the kernels exchange data between blocks in three ways. bounds: the last block to count itself as done combines the
// others' boxes. build: bodies are inserted into an octree; a child pointer is its own lock. summarise: a cell waits for the masses of its children,
// sort: for its place in the order. Each of the three fences is left out by NO_FENCE; SOUND has further ones, for those who wait.
//
// All quantities are integers, so that sums do not depend on their order: coordinates of 10 bits, the sum of mass times coordinate for a cell.
#include "../gpu.h"
#define THREADS 64
#define EMPTY 0xffffffffu
#define LOCKED 0xfffffffeu
#define UNKNOWN 0xffffffffu
#define STACK 96 // 7 nodes wait on each of 10 levels, and the last level's 8
#ifdef NO_FENCE
#define FENCE()
#else
#define FENCE() __threadfence()
#endif
#ifndef BUILD_FENCE
#define BUILD_FENCE() FENCE()
#endif
#ifdef SOUND
#define READ_FENCE() __threadfence()
#else
#define READ_FENCE()
#endif

// Buffers of nodes: bodies are 0 to n-1; cells are taken from the highest number, the root, downwards. box has the lowest corner and the size.

// place gives the bodies their places, all of them different.
KERNEL place(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *z, GLOBAL u32 *mass, u32 n) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
		u32 code = (i + 1) * 0x9e3779b1u & 0x3fffffff, p[3] = {0, 0, 0};
		for (u32 bit = 0; bit < 30; bit++)
			p[bit % 3] |= (code >> bit & 1) << bit / 3;
		x[i] = p[0];
		y[i] = p[1];
		z[i] = p[2];
		mass[i] = 1 + i % 3;
	}
}

// bounds finds the box around all bodies. part has six words for each block.
KERNEL bounds(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *z, GLOBAL u32 *part, GLOBAL u32 *box, GLOBAL u32 *retired, u32 n) {
	__shared__ u32 low[3];
	__shared__ u32 high[3];
	if (threadIdx.x < 3) {
		low[threadIdx.x] = 1 << 10;
		high[threadIdx.x] = 0;
	}
	__syncthreads();
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
		u32 p[3] = {x[i], y[i], z[i]};
		for (u32 axis = 0; axis < 3; axis++) {
			atomicMin(low + axis, p[axis]);
			atomicMax(high + axis, p[axis]);
		}
	}
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	for (u32 axis = 0; axis < 3; axis++) {
		part[6 * blockIdx.x + axis] = low[axis];
		part[6 * blockIdx.x + 3 + axis] = high[axis];
	}
	FENCE();
	if (atomicInc(retired, gridDim.x) != gridDim.x - 1)
		return;
	READ_FENCE();
	u32 size = 1;
	for (u32 axis = 0; axis < 3; axis++) {
		u32 from = 1 << 10, to = 0;
		for (u32 i = 0; i < gridDim.x; i++) {
			u32 l = part[6 * i + axis], h = part[6 * i + 3 + axis];
			from = l < from ? l : from;
			to = h > to ? h : to;
		}
		while (size <= to - from && size < 1 << 10)
			size *= 2;
		box[axis] = from;
	}
	box[3] = size;
}

// octant is the eighth that a place lies in, of a cell whose half side is bit.
FUNCTION u32 octant(GLOBAL u32 *box, u32 x, u32 y, u32 z, u32 bit) {
	return ((x - box[0] & bit) != 0) | ((y - box[1] & bit) != 0) << 1 | ((z - box[2] & bit) != 0) << 2;
}

// build inserts the bodies into the tree. lowest is the number of the cell that was taken last; child has eight pointers for each node.
KERNEL build(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *z, GLOBAL u32 *box, volatile GLOBAL u32 *child, GLOBAL u32 *lowest, GLOBAL u32 *gave_up,
	u32 n, u32 root) {
	u32 polls = 0;
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n;) {
		u32 node = root, bit = box[3] / 2, slot = 8 * node + octant(box, x[i], y[i], z[i], bit), at = child[slot];
		while (at >= n && at <= root && bit > 0) {
			READ_FENCE();
			node = at;
			bit /= 2;
			slot = 8 * node + octant(box, x[i], y[i], z[i], bit);
			at = child[slot];
		}
		if (at == LOCKED || at >= n && at != EMPTY || atomicCAS((GLOBAL u32 *)child + slot, at, LOCKED) != at) {
			if (++polls == SPINS) {
				atomicAdd(gave_up, 1u);
				return;
			}
			continue;
		}
		u32 top = i;
		if (at != EMPTY) { // a body is there: cells until the two are apart
			READ_FENCE();
			u32 into = slot;
			top = EMPTY;
			for (u32 there = at; there != EMPTY;) {
				u32 cell = atomicSub(lowest, 1u) - 1;
				bit /= 2;
				if (cell < n || cell >= root || bit == 0) { // no room, or two bodies at one place: the tree is broken
					atomicAdd(gave_up, 1u);
					return;
				}
				if (top == EMPTY)
					top = cell;
				else
					child[into] = cell;
				child[8 * cell + octant(box, x[at], y[at], z[at], bit)] = at;
				into = 8 * cell + octant(box, x[i], y[i], z[i], bit);
				there = child[into];
			}
			child[into] = i;
			BUILD_FENCE();
		}
		child[slot] = top;
		i += blockDim.x * gridDim.x;
	}
}

// summarise adds up mass, mass times place, and number of the bodies in each cell, children before parents.
KERNEL summarise(volatile GLOBAL u32 *x, volatile GLOBAL u32 *y, volatile GLOBAL u32 *z, volatile GLOBAL u32 *mass, volatile GLOBAL u32 *count,
	GLOBAL u32 *child, GLOBAL u32 *lowest, GLOBAL u32 *gave_up, u32 n, u32 root) {
	for (u32 k = *lowest + threadIdx.x + blockIdx.x * blockDim.x; k <= root; k += blockDim.x * gridDim.x) {
		u32 m = 0, sx = 0, sy = 0, sz = 0, bodies = 0;
		for (u32 i = 0; i < 8; i++) {
			u32 at = child[8 * k + i];
			if (at > root)
				continue;
			u32 of = mass[at];
#pragma unroll 1
			for (u32 poll = 0; of == UNKNOWN && poll < SPINS; poll++)
				of = mass[at];
			if (of == UNKNOWN) {
				atomicAdd(gave_up, 1u);
				return;
			}
			READ_FENCE();
			u32 each = at < n ? of : 1; // of a body there is the place, of a cell the sum
			m += of;
			sx += x[at] * each;
			sy += y[at] * each;
			sz += z[at] * each;
			bodies += at < n ? 1 : count[at];
		}
		x[k] = sx;
		y[k] = sy;
		z[k] = sz;
		count[k] = bodies;
		FENCE();
		mass[k] = m;
	}
}

// sort puts the bodies into the order of the tree, parents before children: start is where the bodies of a cell begin.
KERNEL sort(GLOBAL u32 *child, GLOBAL u32 *count, volatile GLOBAL u32 *start, GLOBAL u32 *sorted, GLOBAL u32 *lowest, GLOBAL u32 *gave_up, u32 n,
	u32 root) {
	u32 bottom = *lowest;
	for (s32 k = (s32)(root - threadIdx.x - blockIdx.x * blockDim.x); k >= (s32)bottom; k -= (s32)(blockDim.x * gridDim.x)) {
		u32 at = k == (s32)root ? 0 : start[k];
#pragma unroll 1
		for (u32 poll = 0; at == UNKNOWN && poll < SPINS; poll++)
			at = start[k];
		if (at == UNKNOWN) {
			atomicAdd(gave_up, 1u);
			return;
		}
		for (u32 i = 0; i < 8; i++) {
			u32 c = child[8 * k + i];
			if (c < n) {
				if (at < n)
					sorted[at] = c;
				at++;
			} else if (c <= root) {
				start[c] = at;
				at += count[c];
			}
		}
	}
}

// far reports whether a cell of a side, with its centre of mass at a distance, counts as a whole.
FUNCTION u32 far(s32 dx, s32 dy, s32 dz, u32 side) { return (u32)(dx * dx + dy * dy + dz * dz) > 4 * side * side; }

// pull adds the force of a mass at a distance.
FUNCTION void pull(s32 *f, s32 dx, s32 dy, s32 dz, u32 mass) {
	s32 square = dx * dx + dy * dy + dz * dz + 1;
	f[0] += 1024 * (s32)mass * dx / square;
	f[1] += 1024 * (s32)mass * dy / square;
	f[2] += 1024 * (s32)mass * dz / square;
}

// force computes the force on each body, and moved, where it goes.
KERNEL force(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *z, GLOBAL u32 *mass, GLOBAL u32 *child, GLOBAL u32 *box, GLOBAL u32 *sorted, GLOBAL s32 *moved,
	GLOBAL u32 *gave_up, u32 n, u32 root) {
	for (u32 s = threadIdx.x + blockIdx.x * blockDim.x; s < n; s += blockDim.x * gridDim.x) {
		u32 i = sorted[s] % n, stack[STACK], side[STACK], depth = 1;
		s32 f[3] = {0, 0, 0};
		stack[0] = root;
		side[0] = box[3];
		for (u32 steps = 0; depth > 0; steps++) {
			u32 node = stack[--depth], edge = side[depth] / 2;
			if (steps > 8 * n) { // the tree has a circle
				atomicAdd(gave_up, 1u);
				break;
			}
			for (u32 k = 0; k < 8; k++) {
				u32 c = child[8 * node + k];
				if (c > root)
					continue;
				u32 by = c < n ? 1 : mass[c];
				s32 dx = (s32)(x[c] / by - x[i]), dy = (s32)(y[c] / by - y[i]), dz = (s32)(z[c] / by - z[i]);
				if (c < n || far(dx, dy, dz, edge))
					pull(f, dx, dy, dz, mass[c]);
				else if (depth < STACK) {
					side[depth] = edge;
					stack[depth++] = c;
				}
			}
		}
		moved[3 * i] = (s32)x[i] + f[0] / 16;
		moved[3 * i + 1] = (s32)y[i] + f[1] / 16;
		moved[3 * i + 2] = (s32)z[i] + f[2] / 16;
	}
}

// verify computes the same without a tree in memory, each thread for a body: cells are the eighths of the box with two bodies or more.
KERNEL verify(GLOBAL u32 *x, GLOBAL u32 *y, GLOBAL u32 *z, GLOBAL u32 *mass, GLOBAL s32 *moved, GLOBAL u32 *errors, u32 n) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
		u32 low[3] = {1 << 10, 1 << 10, 1 << 10}, high[3] = {0, 0, 0}, size = 1;
		for (u32 b = 0; b < n; b++) {
			u32 p[3] = {x[b], y[b], z[b]};
			for (u32 axis = 0; axis < 3; axis++) {
				low[axis] = p[axis] < low[axis] ? p[axis] : low[axis];
				high[axis] = p[axis] > high[axis] ? p[axis] : high[axis];
			}
		}
		for (u32 axis = 0; axis < 3; axis++)
			while (size <= high[axis] - low[axis])
				size *= 2;
		u32 corner[STACK][3], side[STACK], depth = 1;
		s32 f[3] = {0, 0, 0};
		corner[0][0] = corner[0][1] = corner[0][2] = 0;
		side[0] = size;
		while (depth > 0) {
			u32 edge = side[--depth] / 2, at[3] = {corner[depth][0], corner[depth][1], corner[depth][2]};
			u32 m[8], s[8][3], bodies[8];
			for (u32 k = 0; k < 8; k++)
				m[k] = s[k][0] = s[k][1] = s[k][2] = bodies[k] = 0;
			for (u32 b = 0; b < n; b++) {
				u32 p[3] = {x[b] - low[0], y[b] - low[1], z[b] - low[2]}, k = 0, inside = 1;
				for (u32 axis = 0; axis < 3; axis++) {
					inside &= p[axis] - at[axis] < 2 * edge;
					k |= ((p[axis] & edge) != 0) << axis;
				}
				if (!inside)
					continue;
				bodies[k]++;
				m[k] += mass[b];
				s[k][0] += x[b] * mass[b];
				s[k][1] += y[b] * mass[b];
				s[k][2] += z[b] * mass[b];
			}
			for (u32 k = 0; k < 8; k++) {
				if (bodies[k] == 0)
					continue;
				s32 dx = (s32)(s[k][0] / m[k] - x[i]), dy = (s32)(s[k][1] / m[k] - y[i]), dz = (s32)(s[k][2] / m[k] - z[i]);
				if (bodies[k] == 1 || far(dx, dy, dz, edge))
					pull(f, dx, dy, dz, m[k]);
				else if (depth < STACK) {
					for (u32 axis = 0; axis < 3; axis++)
						corner[depth][axis] = at[axis] + (k >> axis & 1) * edge;
					side[depth++] = edge;
				}
			}
		}
		if (moved[3 * i] != (s32)x[i] + f[0] / 16 || moved[3 * i + 1] != (s32)y[i] + f[1] / 16 || moved[3 * i + 2] != (s32)z[i] + f[2] / 16)
			atomicAdd(errors, 1u);
	}
}
