// Synchronisation of libcu++: semaphores, latches, barriers, atomics of all scopes.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

__global__ void semaphore(cuda::counting_semaphore<cuda::thread_scope_device> *s, int *data) {
	s->acquire();
	data[0] += data[1];
	s->release();
}

__global__ void latch(cuda::latch<cuda::thread_scope_device> *l, int *data, int *out) {
	data[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
	l->arrive_and_wait();
	out[threadIdx.x] = data[(blockIdx.x * blockDim.x + threadIdx.x) ^ 32];
}

__global__ void barrier(cuda::barrier<cuda::thread_scope_system> *b, int *data, int *out, int rounds) {
	for (int i = 0; i < rounds; i++) {
		data[threadIdx.x] = i;
		b->arrive_and_wait();
		out[threadIdx.x] += data[threadIdx.x ^ 1];
		b->arrive_and_wait();
	}
}

__global__ void queue(cuda::atomic<unsigned, cuda::thread_scope_device> *head, cuda::atomic<unsigned, cuda::thread_scope_device> *tail, int *ring, int *out) {
	if (threadIdx.x == 0) {
		unsigned t = tail->load(cuda::memory_order_relaxed);
		while (t - head->load(cuda::memory_order_acquire) >= 64)
			;
		ring[t % 64] = out[0];
		tail->store(t + 1, cuda::memory_order_release);
	} else {
		unsigned h = head->load(cuda::memory_order_relaxed);
		do {
			while (h == tail->load(cuda::memory_order_acquire))
				;
			out[threadIdx.x] = ring[h % 64];
		} while (!head->compare_exchange_weak(h, h + 1, cuda::memory_order_acq_rel));
	}
}

__global__ void orders(cuda::atomic_ref<int, cuda::thread_scope_block> b, cuda::atomic_ref<int, cuda::thread_scope_device> d, cuda::atomic_ref<int, cuda::thread_scope_system> s, int *data) {
	data[0] = b.fetch_add(1, cuda::memory_order_seq_cst);
	data[1] = d.exchange(2, cuda::memory_order_seq_cst);
	s.store(data[2], cuda::memory_order_seq_cst);
	data[3] = d.load(cuda::memory_order_seq_cst);
	cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
	data[4] = b.fetch_max(data[5], cuda::memory_order_release);
	cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_system);
	data[6] = s.fetch_and(data[7], cuda::memory_order_acquire);
}
