// What the suite needs a compiler for: CUDA's barrier of the grid, and structs
// as parameters.

#include <cooperative_groups.h>

// In each round y[i+1] = x[i] + 1 around the ring of n elements, then x and y
// change places: no round may begin before all blocks have ended the last.
extern "C" __global__ void rotate(unsigned *x, unsigned *y, unsigned n, unsigned rounds)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = first; i < n; i += gridDim.x * blockDim.x)
			y[(i + 1) % n] = x[i] + 1;
		grid.sync();
		unsigned *t = x;
		x = y;
		y = t;
	}
}

// The struct has 32 bytes, 5 of them padding, and is aligned to 8.
struct Line {
	const float *x;
	float a;
	double b;
	short c[3];
	unsigned char up;
};

// y[i] = a * x[i] + b + c[i % 3], or less by 1 if up is 0.
extern "C" __global__ void line(float *y, Line l, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = l.a * l.x[i] + (float)l.b + l.c[i % 3] - (l.up ? 0 : 1);
}

struct Pair { unsigned a, b; };

// y[0] = p.b, y[1] = p.a
extern "C" __global__ void swap(Pair p, unsigned *y)
{
	y[0] = p.b;
	y[1] = p.a;
}
