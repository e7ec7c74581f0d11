// ct-octree: partitioning of particles into an octree with work stealing after Cederman and Tsigas, On Dynamic Load Balancing on Graphics Processors
// (2008): each block has a double-ended queue of cells after Arora, Blumofe and Plaxton, pushes and pops at its tail, and steals from others' heads.
// A cell with many particles is divided into eight; one with few is a leaf. The original has no fences. FENCES has the four that Alglave and others
// (2015, Sec. 3.2.1) prescribe, one between pop's two accesses of tail and head, and one for who finds a cell divided: PUSH_FENCE leaves push its own.
#include "../gpu.h"
#define SLOTS 128 // of a queue: at most 7 cells wait on each of 10 levels
#define LEAF 16   // particles that are not divided any more
#define LEVELS 10 // bits of a coordinate
#ifdef FENCES
#define FENCE() __threadfence()
#else
#define FENCE()
#endif
#ifndef PUSH_FENCE
#define PUSH_FENCE() FENCE()
#endif

// A queue's head has an index in the lower half and, so that a compare-and-swap sees that it was elsewhere meanwhile, a number in the upper half.
#define INDEX(head) ((head)&0xffff)
#define NEXT(head) (((head)&0xffff0000u) + 0x10000)

// push puts a cell at the tail of the block's own queue.
FUNCTION u32 push(volatile GLOBAL u32 *tail, DATA u32 *cells, u32 first, u32 count, u32 level) {
	u32 at = *tail;
	if (at >= SLOTS)
		return 0;
	cells[3 * at] = first;
	cells[3 * at + 1] = count;
	cells[3 * at + 2] = level;
	PUSH_FENCE();
	*tail = at + 1;
	return 1;
}

// pop takes the cell at the tail of the block's own queue and returns its number, SLOTS if there is none.
FUNCTION u32 pop(GLOBAL u32 *head, volatile GLOBAL u32 *tail) {
	u32 at = *tail;
	if (at == 0)
		return SLOTS;
	*tail = --at;
	FENCE();
	u32 old = *(volatile GLOBAL u32 *)head;
	if (at > INDEX(old))
		return at;
	*tail = 0;
	FENCE();
	if (at == INDEX(old) && atomicCAS(head, old, NEXT(old)) == old)
		return at;
	atomicExch(head, NEXT(old));
	return SLOTS;
}

// steal takes the cell at the head of another block's queue and copies it.
FUNCTION u32 steal(GLOBAL u32 *head, volatile GLOBAL u32 *tail, DATA u32 *cells, SHARED u32 *cell) {
	u32 old = *(volatile GLOBAL u32 *)head;
	FENCE();
	if (*tail <= INDEX(old))
		return 0;
	FENCE();
	for (u32 i = 0; i < 3; i++)
		cell[i] = cells[3 * INDEX(old) + i];
	FENCE();
	return atomicCAS(head, old, old + 1) == old;
}

// find looks for a cell: in the block's own queue, then in all others.
FUNCTION u32 find(GLOBAL u32 *head, GLOBAL u32 *tail, DATA u32 *cells, SHARED u32 *cell, u32 own, u32 queues) {
	u32 at = pop(head + own, tail + own);
	if (at < SLOTS) {
		for (u32 i = 0; i < 3; i++)
			cell[i] = cells[3 * (own * SLOTS + at) + i];
		return 1;
	}
	for (u32 i = 1; i < queues; i++) {
		u32 other = (own + i) % queues;
		if (steal(head + other, tail + other, cells + 3 * other * SLOTS, cell))
			return 1;
	}
	return 0;
}

// octant is the eighth of a cell that a particle lies in: code has its coordinates' bits in turn, the highest first.
FUNCTION u32 octant(u32 code, u32 level) { return code >> 3 * (LEVELS - 1 - level) & 7; }

// begin puts the cell of all particles into the first queue.
KERNEL begin(GLOBAL u32 *tail, GLOBAL u32 *cells, u32 n) {
	cells[0] = 0;
	cells[1] = n;
	cells[2] = 0;
	*tail = 1;
}

// partition divides cells until all n particles are in leaves. Particles change between two halves of ids with every level.
KERNEL partition(GLOBAL u32 *code, DATA u32 *ids, GLOBAL u32 *head, GLOBAL u32 *tail, DATA u32 *cells, GLOBAL u32 *leaf, GLOBAL u32 *placed,
	GLOBAL u32 *gave_up, u32 n) {
	__shared__ u32 cell[3];
	__shared__ u32 found;
	__shared__ u32 inside[8];
	__shared__ u32 offset[8];
#pragma unroll 1
	for (u32 idle = 0; idle < SPINS / 256; idle++) {
		if (threadIdx.x == 0)
			found = load_relaxed(placed) >= n ? 2 : find(head, tail, cells, cell, blockIdx.x, gridDim.x);
		if (threadIdx.x < 8)
			inside[threadIdx.x] = 0;
		__syncthreads();
		u32 state = found;
		if (state == 2)
			return;
		u32 first = cell[0], count = cell[1], level = cell[2];
		DATA u32 *from = ids + (level % 2) * n, *to = ids + (1 - level % 2) * n;
		if (state == 1 && (count > n || first > n - count || level > LEVELS)) { // a cell that was read before it was written
			if (threadIdx.x == 0)
				atomicAdd(gave_up, 1u);
			state = 0;
		}
		u32 divide = state == 1 && count > LEAF && level < LEVELS;
		for (u32 i = threadIdx.x; state == 1 && i < count; i += blockDim.x) {
			u32 id = from[first + i] % n;
			if (divide)
				atomicAdd(inside + octant(code[id], level), 1u);
			else
				atomicAdd(leaf + id, 1u);
		}
		__syncthreads();
		if (threadIdx.x == 0 && divide) {
			u32 at = first;
			for (u32 i = 0; i < 8; i++) {
				offset[i] = at;
				at += inside[i];
			}
		}
		__syncthreads();
		for (u32 i = threadIdx.x; divide && i < count; i += blockDim.x) {
			u32 id = from[first + i] % n;
			u32 at = atomicAdd(offset + octant(code[id], level), 1u);
			if (at < n)
				to[at] = id;
		}
		__syncthreads();
		if (threadIdx.x == 0 && state == 1) {
			idle = 0;
			if (!divide)
				atomicAdd(placed, count);
			for (u32 i = 0; divide && i < 8; i++)
				if (inside[i] > 0 && !push(tail + blockIdx.x, cells + 3 * blockIdx.x * SLOTS, offset[i] - inside[i], inside[i], level + 1))
					atomicAdd(gave_up, 1u);
		}
		__syncthreads();
	}
	if (threadIdx.x == 0)
		atomicAdd(gave_up, 1u);
}

// verify counts the particles that are not in just one leaf.
KERNEL verify(GLOBAL u32 *leaf, GLOBAL u32 *errors, u32 n) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
		if (leaf[i] != 1)
			atomicAdd(errors, 1u);
}
