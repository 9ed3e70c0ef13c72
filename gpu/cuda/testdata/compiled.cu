// Faults that need a compiler: an assertion and a stack that is too deep.

extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t size);

// Asserts that x[0] is not 0.
extern "C" __global__ void asserts(const unsigned *x)
{
	if (x[0] == 0)
		__assertfail("x[0] != 0", "compiled.cu", __LINE__, "asserts", sizeof(char));
}

__device__ __noinline__ unsigned deep(unsigned n, const unsigned *x)
{
	volatile unsigned frame[64];
	for (unsigned i = 0; i < 64; i++)
		frame[i] = x[0] + n + i;
	return n == 0 ? frame[1] : deep(n - 1, x) + frame[n % 64];
}

// Calls itself so often: each call takes more than 256 bytes of stack.
extern "C" __global__ void recurses(unsigned *x, unsigned depth) { x[0] = deep(depth, x); }
