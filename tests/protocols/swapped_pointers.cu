// fault: "wait_group 1" => "wait_group 2"
// fault: "bar.sync 0;\\n" => ""
typedef unsigned int u32; typedef unsigned long long u64;
#define S(p) ((u32) __cvta_generic_to_shared((void *)(p)))
#define ASYNC __asm__ __volatile__
extern "C" __global__ void __launch_bounds__(128) k(float *in, float *out, int n)
{
	__shared__ float a[128], b[128], *cur, *nxt;
	register int i, j = threadIdx.x; float *p = a, *q = b, *r;
	ASYNC ("cp.async.ca.shared.global [%0], [%1], 4;\n\tcp.async.commit_group;" : : "r" (S(p + j)), "l" (in + j));
	for (i = 1; i <= n; i++) {
		ASYNC ("cp.async.ca.shared.global [%0], [%1], 4;\n\tcp.async.commit_group;" : : "r" (S(q + j)), "l" (in + i * 128 + j));
		ASYNC ("cp.async.wait_group 1;" : : : "memory");
		ASYNC ("bar.sync 0;" : : : "memory");
		out[(i - 1) * 128 + j] = p[127 - j];
		ASYNC ("bar.sync 0;\n" : : : "memory");
		r = p, p = q, q = r;
	}
}
