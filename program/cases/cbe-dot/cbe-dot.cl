// dotp(a, b, c, mutex, n): *c += sum of a[i] * b[i], 64 work-items a group.
kernel void dotp(global const uint *a, global const uint *b, global volatile uint *c, global volatile uint *mutex, uint n)
{
	local uint cache[64];
	uint me = get_local_id(0), sum = 0;
	for (uint i = get_group_id(0) * get_local_size(0) + me; i < n; i += get_num_groups(0) * get_local_size(0))
		sum += a[i] * b[i];
	cache[me] = sum;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (uint width = get_local_size(0) / 2; width > 0; width /= 2) {
		if (me < width)
			cache[me] += cache[me + width];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (me == 0) {
		while (atomic_cmpxchg(mutex, 0, 1) != 0)
			;
		fence_site(1);
		*c += cache[0];
		fence_site(2);
		atomic_xchg(mutex, 0);
	}
}
