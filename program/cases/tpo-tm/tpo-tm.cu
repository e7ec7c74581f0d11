// tpo-tm: dynamic task management after Tzeng, Patney and Owens, Task Management for Irregular-Parallel Workloads on the GPU (HPG 2010): a queue with
// a lock for each block; a block whose queue is full donates tasks to others, one whose queue is empty steals from them.
//
// A task is the number of a node of a tree in which node i may have the children 4i+1 to 4i+4; how many it has is drawn from its number.
#include "../gpu.h"
#undef SITE // not in functions
#define SITE(n)
#include "../lock.h"
#define SLOTS 64

// children is how many children a node has: none at the end of the numbers.
FUNCTION u32 children(u32 node, u32 nodes) {
	u32 n = 1 + (node * 2654435761u >> 20) % 4;
	return 4 * node + 4 < nodes ? n : 0;
}

// put puts a task into the first queue from queue first on that has room for it.
FUNCTION u32 put(GLOBAL u32 *mutex, DATA u32 *length, DATA u32 *tasks, GLOBAL u32 *gave_up, u32 queues, u32 first, u32 task) {
	for (u32 i = 0; i < queues; i++) {
		u32 q = (first + i) % queues, done = 0;
		if (!lock(mutex + q, gave_up))
			return 0;
		LOCK_FENCE();
		if (length[q] < SLOTS) {
			tasks[q * SLOTS + length[q]] = task;
			length[q] = length[q] + 1;
			done = 1;
		}
		UNLOCK_FENCE();
		unlock(mutex + q);
		if (done)
			return 1;
	}
	atomicAdd(gave_up, 1u); // all queues are full
	return 0;
}

// take takes a task out of the first queue from queue first on that has one.
FUNCTION u32 take(GLOBAL u32 *mutex, DATA u32 *length, DATA u32 *tasks, GLOBAL u32 *gave_up, u32 queues, u32 first, u32 none) {
	for (u32 i = 0; i < queues; i++) {
		u32 q = (first + i) % queues, task = none;
		if (!lock(mutex + q, gave_up))
			return none;
		LOCK_FENCE();
		if (length[q] > 0) {
			length[q] = length[q] - 1;
			task = tasks[q * SLOTS + length[q]];
		}
		UNLOCK_FENCE();
		unlock(mutex + q);
		if (task != none)
			return task;
	}
	return none;
}

// begin puts the root of the tree into the first queue.
KERNEL begin(GLOBAL u32 *length, GLOBAL u32 *tasks, GLOBAL u32 *open) {
	tasks[0] = 0;
	*length = 1;
	*open = 1;
}

// work executes tasks until none is open: ran counts how often each was. The first task is the only one of the first queue.
KERNEL work(GLOBAL u32 *mutex, DATA u32 *length, DATA u32 *tasks, GLOBAL u32 *open, GLOBAL u32 *ran, GLOBAL u32 *gave_up, u32 nodes) {
	__shared__ u32 task;
	__shared__ u32 left;
#pragma unroll 1
	for (u32 idle = 0; idle < SPINS / 256; idle++) {
		if (threadIdx.x == 0) {
			left = load_relaxed(open);
			task = left == 0 ? nodes : take(mutex, length, tasks, gave_up, gridDim.x, blockIdx.x, nodes);
		}
		__syncthreads();
		u32 mine = task, others = left;
		__syncthreads();
		if (others == 0)
			return;
		if (mine >= nodes)
			continue;
		idle = 0;
		u32 n = children(mine, nodes);
		if (threadIdx.x == 0) {
			atomicAdd(ran + mine, 1u);
			atomicAdd(open, n);
			for (u32 i = 0; i < n; i++)
				put(mutex, length, tasks, gave_up, gridDim.x, blockIdx.x, 4 * mine + 1 + i);
			atomicSub(open, 1u);
		}
	}
	if (threadIdx.x == 0)
		atomicAdd(gave_up, 1u);
}

// verify counts the nodes that were not executed just once if they are in the tree, and never if they are not.
KERNEL verify(GLOBAL u32 *ran, GLOBAL u32 *errors, u32 nodes) {
	for (u32 i = threadIdx.x + blockIdx.x * blockDim.x; i < nodes; i += blockDim.x * gridDim.x) {
		u32 expected = 1;
		for (u32 at = i; at > 0; at = (at - 1) / 4)
			if ((at - 1) % 4 >= children((at - 1) / 4, nodes))
				expected = 0;
		if (ran[i] != expected)
			atomicAdd(errors, 1u);
	}
}
